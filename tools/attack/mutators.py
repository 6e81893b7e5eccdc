"""Inputs that nobody means: bytes and JSON, changed at random. The same random numbers give the same input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

# What has broken readers before, here or elsewhere.
ODD = (
    b"", b"\0", b"\t", b"\n", b"\r", b"\r\n", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", "\u2028".encode(),
    "\x85".encode(), "\u202e".encode(), "e\u0301".encode() * 40, "\U0001f468\u200d\U0001f469".encode(), b"-1", b"0", b"1-",
    b"-", b"1.1", "\u00b2".encode(), "\u0661".encode(), b"9" * 20, b"9" * 5000, b"1e999", b"NaN", b"-Infinity", b"null",
    b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"[" * 3000, b"(" * 3000, b'{"a":' * 2000, b"))", b"((", b"#",
    b"# sent_id =", b"_", b"$\\frac$", b"%", b";", b"'''", b"\\", b"x" * 5000, b" " * 500,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, 2**31, 2**63, 2**64, 10**30, -(2**63), float("nan"), float("inf"), 1e308, "", "x", "\0",
    "\ud800", "$\\frac$", "../../etc", "a" * 3000, [], {}, [[]], [None], ["x"], {"x": 1}, [1] * 200, {"": ""},
)  # fmt: skip


def mutate(data: bytes, others: Sequence[bytes], random: Random) -> bytes:
    """Bytes with a few changes; one time in twelve compressed, and perhaps cut off."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        place = random.randrange(len(changed) + 1)
        end = min(len(changed), place + random.choice((0, 1, 1, 4, 30, 300)))
        kind = random.randrange(7)
        if kind == 0 and changed:
            changed[place % len(changed)] ^= 1 << random.randrange(8)
        elif kind == 1:
            del changed[place:end]
        elif kind == 2:
            changed[place:place] = random.choice(ODD)
        elif kind == 3:
            changed[place:end] = random.choice(ODD)
        elif kind == 4:
            changed[place:place] = changed[place:end] * random.choice((1, 2, 50))
        elif kind == 5:
            other = random.choice(others)
            first = random.randrange(len(other) + 1)
            changed[place:end] = other[first : first + random.randrange(200)]
        else:
            changed[place:end] = bytes(random.randrange(256) for _ in range(random.randrange(6)))
    if random.randrange(12):
        return bytes(changed[:200_000])
    packed = gzip.compress(bytes(changed[:200_000]), 1, mtime=0)
    return packed if random.randrange(2) else packed[: random.randrange(len(packed))]


def mutate_json(content: Any, random: Random) -> Any:
    """JSON content with one value replaced, removed, doubled or wrapped."""
    places = list(nodes(content))
    holder, key = random.choice(places)
    if holder is None:
        return deepcopy(random.choice(VALUES))
    kind = random.randrange(5)
    if kind == 0 and isinstance(holder, dict):
        holder[random.choice(("", "x", "format_version", "\ud800"))] = holder.pop(key)
    elif kind == 1:
        del holder[key]
    elif kind == 2 and isinstance(holder, list):
        holder.insert(key, holder[key])
    elif kind == 3:
        holder[key] = [holder[key]] if random.randrange(2) else {"x": holder[key]}
    else:
        holder[key] = deepcopy(random.choice(VALUES))
    return content


def nodes(content: Any, holder: Any = None, key: Any = None) -> Any:
    """Where every value of JSON content stands: what holds it, and under which key."""
    yield holder, key
    if isinstance(content, dict | list):
        for inner in list(content) if isinstance(content, dict) else range(len(content)):
            yield from nodes(content[inner], content, inner)


def mutated(data: bytes, others: Sequence[bytes], random: Random, *, is_json: bool) -> bytes:
    """Some change of a sample; JSON is changed as such half of the time."""
    if is_json and random.randrange(2) and data.count(b"\n{") == 0:
        content = json.loads(data)
        for _ in range(random.choice((1, 1, 2))):
            content = mutate_json(content, random)
        return json.dumps(content).encode("utf-8", "surrogatepass")
    return mutate(data, others, random)
