"""Which items of a task are evaluated: all, the first ones, or some at random, the same for every model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from dtg.errors import InputError
from dtg.io.hashing import json_hash
from dtg.trees import TreebankReport

Item = TypeVar("Item")


def content_hash(content: Any) -> str:
    """The sha256 of something that JSON can hold."""
    return json_hash(content, ensure_ascii=False)


def check_amount(limit: int | None, sample: int | None, share: float | None = None) -> None:
    """Raise unless this says how many items are wanted."""
    if sum(value is not None for value in (limit, sample, share)) > 1:
        raise InputError("either the first items or some at random can be asked for, not both; give one of them.")
    for value in (limit, sample):
        if value is not None and value < 1:
            raise InputError(f"{value} items were asked for; ask for at least 1.")
    if share is not None and not 0 < share <= 1:
        raise InputError(f"a share of {share} of each paradigm was asked for; it must be above 0 and at most 1.")


def choose(
    items: Iterable[Item],
    ticket: Callable[[Item], str],
    *,
    limit: int | None = None,
    sample: int | None = None,
    what: str = "sentences",
) -> list[Item]:
    """All of them, the first `limit`, or `sample` at random, in their order.

    An item's place in the lottery follows from its `ticket` alone. So a smaller sample is part of a larger one.
    """
    check_amount(limit, sample)
    if sample is None:
        return list(islice(items, limit))
    every = list(items)
    if sample > len(every):
        raise InputError(f"a sample of {sample:,} {what} is asked for, but there are {len(every):,}.")
    return draw(every, ticket, sample)


def draw(items: Sequence[Item], ticket: Callable[[Item], str], count: int) -> list[Item]:
    """`count` of them by lot, in their order."""

    def place(number: int) -> bytes:
        # A hash rather than a generator: the same on every machine, and no item's fate hangs on the others.
        return hashlib.sha256(ticket(items[number]).encode()).digest()

    return [items[number] for number in sorted(sorted(range(len(items)), key=place)[:count])]


def amount(limit: int | None, sample: int | None, seed: int, share: float | None = None) -> str:
    """How many items of each group were taken, for people; nothing if all were."""
    if limit is not None:
        return f" (the first {limit:,} of each)"
    if sample is not None:
        return f" ({sample:,} of each, drawn with seed {seed})"
    return "" if share is None else f" (a share of {share:g} of each, drawn with seed {seed})"


def details(options: Mapping[str, Any], proposal: str | None) -> list[str]:
    """What decides the numbers, as far as people want to know it: a line each."""
    told = []
    if "limit" in options:
        told.append(f"sentences: the first {options['limit']:,} of the file.")
    if "sample" in options:
        told.append(f"sentences: a sample of {options['sample']:,}, seed {options['seed']}.")
    if "trees" in options:
        told.append(f"trees: up to {options['trees']:,} a sentence from {proposal}, seed {options['seed']}.")
    if "beam" in options:
        told.append(f"search: {search_title(options)}.")
    if not options["constrained"]:
        told.append("illegal actions were not masked before normalising.")
    return told


def search_title(options: Mapping[str, Any]) -> str:
    """How a search was limited, from what was recorded of it (`BeamOptions.settings`)."""
    if "smallest_share" not in options:
        return f"beam {options['beam']:,}, word beam {options['word_beam']:,}"
    if "accuracy" in options:
        return f"accuracy {options['accuracy']}, beam up to {options['beam']:,}"
    return f"share {options['smallest_share']:g}, beam up to {options['beam']:,}"


def reading_remarks(report: TreebankReport) -> list[str]:
    """What was changed or left out while a treebank was read."""
    return [*(f"{line}." for line in report.lines()[1:]), *map(str, report.skipped)]
