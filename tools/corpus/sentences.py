"""Paragraphs into sentences, and which sentences are kept.

Sentences are found with more care than the sentencizer of `dtg prepare --paragraphs` takes: a quotation mark goes with the
sentence that it opens or closes, and what someone says stays with "she asked". Words are then found as everywhere in dtg.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.corpus.cleaning import CLOSING, FIGURE_WORD, OPENING, direct_quotes

LONGEST = 100  # words

BOUNDARY = re.compile(rf"(\.\.\.|[.!?]+)([{CLOSING}')\]]*) (?=[{OPENING}'(\[]*[A-Z0-9])")
LAST_WORD = re.compile(r"[\w.'&-]+\Z")
ABBREVIATIONS = frozenset(
    "Mr Mrs Ms Messrs Mme Mlle M MM Dr Prof Rev Hon St Ste Sr Jr Esq Capt Col Gen Lt Lieut Sgt Serg Maj Adm Gov Sen Rep "
    "Pres Cpl Mt Ft Ave Blvd Bros Co Corp Inc Ltd No Nos Vol Fig Figs Eq Sec Ch pp p cf vs v e.g i.e viz al ca ed eds Jan "
    "Feb Mar Apr Aug Sept Sep Oct Nov Dec U.S U.K U.N Ph.D B.C A.D approx".split()
)
SAYING = (
    "said says asked cried replied answered exclaimed inquired enquired demanded shouted whispered murmured muttered called "
    "repeated returned added continued began thought wondered remarked observed interrupted gasped growled laughed sighed "
    "screamed snapped ejaculated persisted protested suggested went"
)
SPEAKER = re.compile(rf"(?:I|[A-Z][\w'-]*(?: [A-Z][\w'-]*){{0,2}}) (?:\w+ly )?(?:{'|'.join(SAYING.split())})\b")

# Words that hardly any English sentence of some length is without.
COMMON = frozenset(
    "the of and to a in that is was he for it with as his on be at by i this had not are but from or have an they which you "
    "were her she there been we their has will would so if no what up one my me him who do does did can could said out about "
    "all when them some into its than then now your over more other how our just only very these any where why us must "
    "should may might during through between each most many such also while after before because".split()
)
MARKUP = re.compile(
    r"\[\[|\]\(|https?:|www\.|\.(?:com|org|jpg|png|html?)\b|[_|<>=\\^~@{}#×÷±√∑∆Δ∂≤≥≈™®©]|[A-Za-z]\*|\d/-"
)
FORMULA = re.compile(r"\d\s?[+·]\s?\d|\b[a-zA-Z]\s?[+]\s?[a-zA-Z]\b")
# A formula or a blank was here, and is gone: "is made by the .", "the force , which".
GAP = re.compile(
    r"(?:^| )(?:the|a|an|of|by|is|are|as|to|in|and|or|with|from|for|that|at) [.,;:?!)](?!\.)|(?<=\w) [.,;:](?: |$)|\( ?\)"
)
# The same in texts where spaces tell nothing, because there is one before every word.
GAP_BETWEEN_WORDS = re.compile(r"(?:^| )(?:(?:the|an?) [.,;:)]|(?:and|or|if) [.;:)]|, ,|\( \))(?: |$)", re.IGNORECASE)
SLUR = re.compile(r"\bnigg(?:er|ah|ra)", re.IGNORECASE)
ENDS = (*".!?\"')]:", "--")
LETTERS = re.compile(r"[^\W\d_]")
OTHER_SCRIPT = re.compile(r"[^\x00-\u024f\u2010-\u2027\u20a0-\u20bf]")


def split_paragraph(paragraph: str) -> Iterator[str]:
    """The sentences of a paragraph that `cleaning.straighten` gave.

    >>> list(split_paragraph('"Why?" she asked. "Mr. A. Smith left." He sat down.'))
    ['"Why?" she asked.', '"Mr. A. Smith left."', 'He sat down.']
    """
    text = direct_quotes(paragraph)
    start = 0
    for match in BOUNDARY.finditer(text):
        mark, closers = match.groups()
        after = text[match.end() :]
        if mark == "." and is_abbreviation(text[start : match.start()]) and not closers:
            continue
        if mark == "..." and not closers and re.match(r"I\b", after):
            continue
        if CLOSING in closers and mark != "." and SPEAKER.match(after):
            continue
        yield straight(text[start : match.end()])
        start = match.end()
    if rest := straight(text[start:]):
        yield rest


def straight(text: str) -> str:
    return text.replace(OPENING, '"').replace(CLOSING, '"').strip()


def is_abbreviation(before: str) -> bool:
    """Whether a text ends with a word that is written with a full stop, or with an initial."""
    found = LAST_WORD.search(before)
    if found is None:
        return False
    word = found.group()
    return word in ABBREVIATIONS or (len(word) == 1 and word.isupper() and word != "I")


def why_not(text: str, words: Sequence[str], *, is_prose: bool) -> str | None:
    """Why a sentence is left out; None if it is kept.

    Args:
        text: as it is written.
        words: its words.
        is_prose: whether it must begin and end as sentences do; web texts have headings and lists, which stay.

    Returns:
        A reason, which sentences are counted by.
    """
    if FIGURE_WORD in text:
        return "refers to a figure"
    if MARKUP.search(text) or FORMULA.search(text):
        return "markup or formula"
    if is_prose and not (text.lstrip("\"'([-. ")[:1].isupper() or text[:1].isdigit()):
        return "fragment"
    if is_prose and (not text.endswith(ENDS) or GAP.search(text)):
        return "fragment"
    if not is_prose and GAP_BETWEEN_WORDS.search(text):
        return "fragment"
    if len(words) > LONGEST:
        return f"longer than {LONGEST} words"
    if any(OTHER_SCRIPT.search(word) for word in words):
        return "other script"
    if not is_english(words):
        return "not English prose"
    if SLUR.search(text):
        return "slur"
    return None


def is_english(words: Sequence[str]) -> bool:
    """Whether there are no more numbers than words, not all is in capitals, and a longer sentence has common English words."""
    lexical = [word for word in words if LETTERS.search(word)]
    if not lexical or sum(word[:1].isdigit() for word in words) > len(lexical) or len(lexical) * 4 < len(words):
        return False
    if len(lexical) >= 4 and all(word.isupper() for word in lexical):
        return False
    common = sum(word.lower() in COMMON for word in lexical)
    if len(lexical) >= 20:
        return common * 10 >= len(lexical)
    return len(lexical) < 8 or common > 0
