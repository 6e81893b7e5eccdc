"""Write the reference numbers, from the code as it is: python -m tests.reference.make

Do this only where numbers are meant to change, and say why in the commit; tests/test_reference.py compares with them.
"""

from __future__ import annotations

import json
import sys

from tests.reference import calls, cases
from tests.reference.calls import HERE, Json

PARTS = {  # what is computed, and how many digits are kept
    "random": (cases.random_cases, 12),
    "bundled": (cases.bundled_cases, 7),
    "saved": (cases.saved_cases, 12),
}
WORDS = "the dog chased a big cat that saw mice run quickly and ran away from zebra un believ ably ing s".split()


def main() -> None:
    if not (HERE / "tokenizer.model").exists():
        calls.train_tokenizer(WORDS * 3, 320)
        say("wrote tokenizer.model")
    for folder in cases.save_all():
        say(f"wrote saved/{folder.name}")
    for name, (make, digits) in PARTS.items():
        computed = {case: {what: value() for what, value in of.items()} for case, of in make().items()}
        text = in_lines(
            {case: {what: rounded(value, digits) for what, value in of.items()} for case, of in computed.items()}
        )
        (HERE / f"{name}.json").write_text(text, encoding="utf-8")
        count = sum(map(len, computed.values()))
        say(f"wrote {name}.json: {len(computed)} cases, {count} quantities, {len(text.encode()):,} bytes")


def rounded(value: Json, digits: int) -> Json:
    """The same with this many significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    return [rounded(one, digits) for one in value] if isinstance(value, list) else value


def in_lines(computed: dict[str, dict[str, Json]]) -> str:
    """JSON with a line for each quantity, so that a difference is seen as one."""
    blocks = []
    for case, quantities in computed.items():
        lines = [f"  {json.dumps(name)}: {compact(value)}" for name, value in quantities.items()]
        blocks.append(f" {json.dumps(case)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
