"""Attack dtg: inputs that nobody means, kills, full disks, two writers; prints what was tried and what was found.

    make attack MINUTES=30
    python -m tools.attack --minutes 2 --seed 1
    python -m tools.attack --seed 1 --reader CoNLL-U --only 4711     # one input again, with its traceback

Inputs follow from the seed, the reader's name and a number, so that every fault can be made again.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import monotonic

from tools.attack.commands import (
    SMALL_MODEL,
    SMALL_PARSER,
    TRIALS,
    Command,
    Reference,
    assail,
    commands,
    make_inputs,
    warm_up,
)
from tools.attack.mutators import mutated
from tools.attack.readers import READERS, Reader, Tally, attack, check_samples

ROUND = 50  # inputs for each share of a reader, before the next reader's turn
READING = 0.5  # share of the time


def read_all(seed: int, folder: Path, minutes: float, most: int, found: list[Tally]) -> None:
    """Attack all readers in turn, until the time is over or there were as many inputs as asked for."""
    tallies = {reader.name: Tally(reader.name) for reader in READERS}
    found += tallies.values()
    until, total, round_ = monotonic() + 60 * minutes, 0, 0
    while monotonic() < until and total < most:
        for reader in READERS:
            size = ROUND * reader.share
            attack(reader, seed, folder, tallies[reader.name], range(round_ * size, (round_ + 1) * size), until)
        total, round_ = sum(one.tried for one in tallies.values()), round_ + 1


MODELS = {  # the language model, the parser, and how many sentences they are given
    "a very small model": (SMALL_MODEL, SMALL_PARSER, 300),
    "the bundled models": ("dtg-small", "parser-small", 24),
}


def run_all(seed: int, folder: Path, minutes: float, models: Sequence[str], trials: int, found: list[Tally]) -> None:
    """Kill commands, fill disks and write twice, with each of some models."""
    warm_up()
    shares = {"kills": 0.6, "full disks": 0.2, "two writers": 0.2}
    for name in models:
        model, parser, sentences = MODELS[name]
        inputs = folder / f"inputs-{model.replace('/', '-')}"
        make_inputs(inputs, sentences)
        of: list[Command] = commands(inputs, model, parser)
        known: dict[str, Reference] = {}
        for trial in TRIALS:
            tally = Tally(f"{trial}, {name}")
            until = monotonic() + 60 * minutes * shares[trial] / len(models)
            found.append(tally)
            assail(trial, of, inputs, seed, tally, trials, until, known)


def table(tallies: list[Tally], seed: int) -> str:
    """What was tried and found, as Markdown."""
    lines = ["| what | tried | refused | faults | seconds |", "|---|---:|---:|---:|---:|"]
    for one in tallies:
        refused = f"{one.refused:,}" if one.refused else ""
        lines.append(f"| {one.name} | {one.tried:,} | {refused} | {len(one.faults)} | {one.seconds:.0f} |")
    total = [sum(values) for values in zip(*((t.tried, t.refused, len(t.faults)) for t in tallies), strict=True)]
    seconds = sum(one.seconds for one in tallies)
    lines.append(f"| **all**, seed {seed} | {total[0]:,} | {total[1]:,} | {total[2]} | {seconds:.0f} |")
    return "\n".join(lines)


def again(reader: Reader, seed: int, number: int, folder: Path) -> None:
    """One input, read without any protection; it is left in the folder."""
    place = folder / "again"
    place.mkdir() if reader.folder is None else shutil.copytree(reader.folder, place)
    random = Random(f"{seed} {reader.name} {number}")
    path = place / reader.file
    path.write_bytes(mutated(random.choice(reader.samples), reader.samples, random, is_json=reader.is_json))
    print(path)
    reader.read(path, random)


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; 1 if there were faults."""
    options = argparse.ArgumentParser(prog="python -m tools.attack", description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=30, help="for all of it")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--inputs", type=int, default=10**9, help="the most inputs for readers")
    options.add_argument("--trials", type=int, default=10**9, help="the most kills, full disks and pairs of writers")
    options.add_argument("--no-commands", action="store_true", help="readers only")
    options.add_argument("--no-readers", action="store_true", help="commands only")
    options.add_argument("--no-bundled", action="store_true", help="a very small model only")
    options.add_argument("--no-small", action="store_true", help="the bundled models only")
    options.add_argument("--reader", help="with --only: which")
    options.add_argument("--only", type=int, help="the number of one input, to be read again")
    given = options.parse_args(arguments)
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="dtg-attack-", dir=memory if memory.is_dir() else None))
    if given.only is not None:
        again(next(reader for reader in READERS if reader.name == given.reader), given.seed, given.only, folder)
        return 0
    tallies = list[Tally]()
    try:
        for problem in check_samples(folder / "samples"):
            sys.exit(f"a sample is not as it should be: {problem}")
        both = not given.no_commands and not given.no_readers
        if not given.no_readers:
            some = given.minutes * (READING if both else 1)
            read_all(given.seed, folder / "readers", some, given.inputs, tallies)
        if not given.no_commands:
            rest = given.minutes * ((1 - READING) if both else 1)
            left_out = (given.no_small, given.no_bundled)
            models = [name for name, is_out in zip(MODELS, left_out, strict=True) if not is_out]
            run_all(given.seed, folder / "commands", rest, models, given.trials, tallies)
    except KeyboardInterrupt:
        print("interrupted; what was tried until then:", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(tallies, given.seed))
    faults = [fault for one in tallies for fault in one.faults]
    for fault in faults[:50]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the table is printed then, too
    sys.exit(main())
