"""The language of a treebank: as given, by the names of UD files, or English if its rules find the treebank's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import typer

from dtg.errors import InputError
from dtg.text.words import ENGLISH, NO_RULES, agreement, check_language
from dtg.trees import read_conllu

UD_NAME = re.compile(r"([a-z]{2,3})_\w+-ud-")
TEXT = re.compile(r"#\s*text\s*=\s*(.*\S)\s*")
SENTENCES = 200  # looked at
ENOUGH = 0.95  # of the words that rules have to find; English rules find 98.6 % of EWT's


def language_of(given: str | None, treebanks: Sequence[Path]) -> str:
    """Whose rules split raw text as a treebank's words are; what is not said by the user is said here."""
    if given is not None:
        check_language(given)
        return given
    names = {found[1] for path in treebanks if (found := UD_NAME.match(path.name))}
    language = names.pop() if len(names) == 1 else ENGLISH
    try:
        share = share_found(treebanks, language) if treebanks else None
    except InputError as error:  # there are no rules for the language
        typer.echo(f"dtg: {error} Raw text will be refused; words can be given.", err=True)
        return NO_RULES
    if share is None or share >= ENOUGH:
        return language
    typer.echo(
        f"dtg: the rules for {language!r} find only {100 * share:.0f} % of the words of {treebanks[0]} as they are split "
        "there, so raw text will be refused. If they are good enough, or another language's are, pass --language CODE.",
        err=True,
    )
    return NO_RULES


def share_found(treebanks: Sequence[Path], language: str) -> float | None:
    """The share of words that rules find in the texts of the first sentences; None, if the treebank has no texts."""
    found = total = 0
    trees = (
        tree for path in treebanks if path.is_file() for tree in read_conllu(path, roots="first", skip_invalid=True)
    )
    for tree in islice(trees, SENTENCES):
        comments = tree.source.comments if tree.source else ()
        text = next((match[1] for comment in comments if (match := TEXT.fullmatch(comment))), None)
        if text is not None:
            found, total = found + agreement(text, tree.words, language), total + len(tree)
    return found / total if total else None
