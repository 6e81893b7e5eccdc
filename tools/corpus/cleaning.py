"""Paragraphs as people would type them: straight quotes, plain dashes, no leftovers of markup or print."""

from __future__ import annotations

import re
import unicodedata

# What the treebanks and test suites are written with. "--" is what EWT has for a dash.
TYPOGRAPHY = str.maketrans(
    {
        "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "″": '"',
        "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'", "`": "'", "′": "'",
        "−": "-", "‐": "-", "‑": "-", "…": "...", "\u00a0": " ", "\u2009": " ", "\u202f": " ",
        "\u00ad": None, "\u200b": None, "\ufeff": None, "ﬁ": "fi", "ﬂ": "fl",
    }
)  # fmt: skip
LONG_DASH = re.compile(r"\s*(?:[—―]|-{2,})[—―-]*\s*")  # em dashes, and hyphens that stand for one
SPACED_EN_DASH = re.compile(r"\s+–+\s+")
ELLIPSIS = re.compile(r"\.(?:\s?\.){2,}")  # ". . ." and "....", too
SPACES = re.compile(r"\s+")

OPENING, CLOSING = "“", "”"
DOUBLE_QUOTE = re.compile(r'"')

# Of Gutenberg: [Illustration: ...], [Footnote ...], [Transcriber's note ...], [1], [*], [A]; _italics_, =bold=, ~spaced~.
NOTE = re.compile(r"\s*\[(?:illustration|footnote|transcriber|sidenote|greek|\*|\d|[A-Z]\])[^\]]*\]?", re.IGNORECASE)
NOTE_ITSELF = re.compile(r"\[(?:footnote\b|transcriber|\*?\d+\])", re.IGNORECASE)  # begins a paragraph
EMPHASIS = re.compile(r"(?<![\w])[_=~+]+(?=\S)|(?<=\S)[_=~+]+(?![\w])")

# Of OpenStax: ([[link]](#figure)), [website][1], citations, what is left of pictures, and the numbers of lists.
FIGURE_WORD = "Figurelink"  # for a reference that a sentence cannot do without
FIGURE = re.compile(r"\[\[link\]\]\(#[^()]*\)")
FIGURE_BEFORE_TEXT = re.compile(rf"^(?:{FIGURE.pattern}\s*)+(?=[A-Z])")
PICTURE = re.compile(r"^\S*\.(?:jpg|png)>?\s*\"?")
CAPTION_END = re.compile(r"\"\)\s*$")
FIGURE_IN_BRACKETS = re.compile(r"\s*\((?:[^()]*\s)?\[\[link\]\]\(#[^()]*\)[^()]*\)")
WEB_LINK = re.compile(r"\[([^\[\]]+)\]\[\d+\]")
CITATION = re.compile(
    r"\s*\((?:see |see also |e\.g\., |cited in )?[A-Z][^()]*?,? (?:1[6-9]|20)\d\d[a-z]?(?:[;:,][^()]*)?\)"
)
LIST_MARK = re.compile(r"^\s*(?:[-*•·]+|\d{1,2}[.)]|\(?[a-z]\)|[A-Da-d]\.)\s+")
# "Kihlstrom, J. F. (2013). ..." and "Marx, Karl. 1973 [1844]. ..."
BIBLIOGRAPHY = re.compile(
    r"^[A-Z][^!?]{0,300}?(?:\((?:1[6-9]|20)\d\d[a-z]?(?:,[^)]*)?\)\.|\. (?:1[6-9]|20)\d\d[a-z]?(?: \[\d{4}\])?\. )|"
    r"Retrieved from|University Press"
)


def straighten(text: str) -> str:
    """The text with straight quotes, "--" for dashes and "..." for ellipses, and single spaces.

    >>> straighten("“Oh—no . . .” she’d")
    '"Oh -- no ..." she\\'d'
    """
    text = unicodedata.normalize("NFC", text).translate(TYPOGRAPHY)
    text = SPACED_EN_DASH.sub(" -- ", text)
    text = LONG_DASH.sub(" -- ", text).replace("–", "-")
    text = ELLIPSIS.sub("...", text)
    return SPACES.sub(" ", text).strip()


def direct_quotes(text: str) -> str:
    """Straight double quotes as opening and closing ones, by what stands beside each; where that is open, they alternate.

    >>> direct_quotes('"No," he said, "I won\\'t."')
    "“No,” he said, “I won't.”"
    """
    found, is_open, last = list[str](), False, 0
    for match in DOUBLE_QUOTE.finditer(text):
        place = match.start()
        space_before = place == 0 or text[place - 1] in " (["
        space_after = place + 1 == len(text) or text[place + 1] in " ,.;:!?)]"
        opens = space_before if space_before != space_after else not is_open
        found += [text[last:place], OPENING if opens else CLOSING]
        is_open, last = opens, place + 1
    return "".join(found) + text[last:]


def clean_novel(paragraph: str) -> str | None:
    """A paragraph of a Gutenberg book, or None if it is a note of a publisher or transcriber."""
    if NOTE_ITSELF.match(paragraph):
        return None
    return straighten(EMPHASIS.sub("", NOTE.sub("", paragraph)))


def clean_textbook(paragraph: str) -> str | None:
    """A paragraph of an OpenStax book, or None if it is an entry of a bibliography.

    References to figures go where they have brackets of their own; elsewhere they become `FIGURE_WORD`, and their sentence is
    left out later.
    """
    if BIBLIOGRAPHY.search(paragraph):
        return None
    if paragraph.count(")") > paragraph.count("("):
        paragraph = CAPTION_END.sub("", PICTURE.sub("", paragraph))
    paragraph = WEB_LINK.sub(r"\1", FIGURE_IN_BRACKETS.sub("", paragraph))
    paragraph = FIGURE.sub(FIGURE_WORD, FIGURE_BEFORE_TEXT.sub("", paragraph))
    return straighten(LIST_MARK.sub("", CITATION.sub("", paragraph)))
