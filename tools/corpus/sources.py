"""The texts that the corpus is made of, with their licences: each gives sentences that have been split into words."""

from __future__ import annotations

import csv
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dtg.text import split_words
from tools.corpus.cleaning import clean_novel, clean_textbook, straighten
from tools.corpus.sentences import split_paragraph
from tools.free_treebank import NOT_FREE, SENT_ID, read_blocks

DEAD_BEFORE = 1956  # authors dead for 70 years when this was written
CITATION_MARK = re.compile(r" ?\[ (?:\d[\d ,-]*|citation needed|note \d+) \]")  # of Wikipedia, between words
RESPLIT = re.compile(r"\w[-–—/]\w|\A(?:cannot|gonna|wanna|gotta)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document. `paragraph` counts from 0 through a source; of a source without any it is the sentence."""

    document: str
    paragraph: int
    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of text."""

    name: str
    licence: str
    path: str  # within the data folder
    is_prose: bool  # whether sentences must begin and end as such
    read: Callable[[Path], Iterator[Sentence]]


def split(document: str, paragraph: int, text: str) -> Iterator[Sentence]:
    """The sentences of a paragraph."""
    for sentence in split_paragraph(text):
        words = tuple(word.text for word in split_words(sentence))
        if words:
            yield Sentence(document, paragraph, sentence, words)


def read_amalgum(path: Path) -> Iterator[Sentence]:
    """The free genres. Words are those of the file, but hyphens are split off, as EWT and `split_words` do it."""
    place = 0
    for genre, block in read_blocks(path):
        if genre == NOT_FREE:
            continue
        lines = block.splitlines()
        sent_id = next(line for line in lines if line.startswith(SENT_ID))
        document = sent_id.removeprefix("# sent_id = ").rsplit("-", 1)[0]
        forms = [fields[1] for line in lines if (fields := line.split("\t"))[0].isdigit()]
        text = CITATION_MARK.sub("", " ".join(word for form in forms for word in respell(form))).strip()
        if text:
            yield Sentence(document, place, text, tuple(text.split(" ")))
            place += 1


def respell(form: str) -> list[str]:
    """The words of one word of AMALGUM, in plain typography."""
    text = straighten(form)
    if RESPLIT.search(text):
        return [word.text for word in split_words(text)]
    return text.split()  # most often one word; "10 000" are two


def read_openstax(path: Path) -> Iterator[Sentence]:
    """Paragraphs of textbooks, a line each; empty lines between books."""
    book = 1
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for place, line in enumerate(lines):
            if not line.strip():
                book += 1
            elif text := clean_textbook(line):
                yield from split(f"openstax_{book}", place, text)


def read_gutenberg(path: Path) -> Iterator[Sentence]:
    """Paragraphs of novels whose authors died early enough, by the table beside the file."""
    table = path.with_name(path.name.removesuffix(".txt.xz") + ".books.tsv")
    with table.open(encoding="utf-8", newline="") as file:
        books = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    books.sort(key=lambda book: int(book["first_line"]))
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        place, number = 0, 1  # of the paragraph, of the next line from 1
        for book in books:
            first, count = int(book["first_line"]), int(book["paragraphs"])
            for _ in islice(lines, first - number):
                pass
            is_free = book["died"].isdigit() and int(book["died"]) < DEAD_BEFORE
            for line in islice(lines, count):
                text = clean_novel(line.strip()) if is_free else None
                if text:
                    yield from split(f"gutenberg_{book['idno']}", place, text)
                place += is_free
            number = first + count


SOURCES = (
    Source(
        "amalgum",
        "CC BY, CC BY-SA or public domain, by genre (academic, bio, fiction, interview, news, voyage); wikiHow left out",
        "amalgum/amalgum-train.conllu.gz",
        False,
        read_amalgum,
    ),
    Source("openstax", "CC BY 3.0", "text/openstax-textbooks.txt.xz", True, read_openstax),
    Source(
        "gutenberg",
        f"public domain (authors dead before {DEAD_BEFORE})",
        "text/gutenberg-fiction.txt.xz",
        True,
        read_gutenberg,
    ),
)
