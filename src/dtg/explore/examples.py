"""Sentences that are one click away on the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class ExampleSentence:
    """A sentence, or a minimal pair; `at` is the number of the word to look at first."""

    group: str
    sentence: str
    about: str
    second: str | None = None
    at: int | None = None

    def as_dict(self) -> dict[str, str | int | None]:
        """For JSON."""
        return asdict(self)


EXAMPLES = (
    ExampleSentence(
        "Garden path: main verb or reduced relative (MV/RR)",
        "The boy invited to the party laughed .",
        "At “laughed” the reading in which “invited” is the main verb breaks down.",
        at=7,
    ),
    ExampleSentence(
        "Garden path: main verb or reduced relative, the textbook example (horse)",
        "The horse raced past the barn fell .",
        "“raced” looks like the main verb, until “fell”; a small model may not recover from that.",
        at=7,
    ),
    ExampleSentence(
        "Garden path: object or subject (NP/S)",
        "The man knew the answer was wrong .",
        "“the answer” looks like the object of “knew”, until “was”.",
        second="The man knew that the answer was wrong .",
        at=6,
    ),
    ExampleSentence(
        "Garden path: object or subject (NP/Z)",
        "While the man hunted the deer ran into the woods .",
        "“the deer” looks like what is hunted, until “ran”.",
        second="While the man hunted , the deer ran into the woods .",
        at=7,
    ),
    ExampleSentence(
        "Agreement attraction",
        "The keys to the old cabinet are on the table .",
        "The verb agrees with “keys”, not with the nearer “cabinet”.",
        second="The keys to the old cabinet is on the table .",
        at=7,
    ),
    ExampleSentence(
        "The paper's sentence",
        "The manager to the side of the architects likes to gamble .",
        "“likes” agrees with “manager”, not with the nearer “architects”.",
        second="The manager to the side of the architects like to gamble .",
        at=9,
    ),
)
