"""What a training step costs: `python -m benchmarks.training`.

A step is forward, backward and update on a batch of newswire-like sentences (22 words on average, 1.3 subwords per word),
prepared beforehand as in training. Its time is put beside this machine's own rate of multiplying matrices, measured in turns
with it. CPU seconds are those of all threads together: other programs disturb them less than seconds of the clock.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch

from benchmarks.rows import LABELS, a_batch, as_family_reads
from dtg import families
from dtg.environment import keep_freed_memory
from dtg.model import DecoderModel, ModelConfig
from dtg.transitions.batch import SentenceBatch
from dtg.trees.kinds import BINARY, CONSTITUENCY

SMALL: dict[str, Any] = {"width": 256, "feedforward": 1024, "layers": 6, "attention_heads": 4, "head_width": 64}
MEDIUM: dict[str, Any] = {"width": 512, "feedforward": 2048, "layers": 16, "attention_heads": 8, "head_width": 64}
# Seconds a step of the released code on two threads: measured beside dtg on a quiet machine of 200 GFLOP/s (design.md);
# those of the medium model are the issue's, from another machine.
RELEASED = {"small": 2.5, "medium": 6.5}
RELEASED_RATE = {"small": 200e9, "medium": 320e9}  # the matrix rate of the machine each was measured on
VOCABULARIES = {"small": 8192, "medium": 16_384}
AT_ONCE = 8  # batches that training prepares together


class Timed(NamedTuple):
    """The least of several runs: noise only adds."""

    wall: float
    cpu: float


def timed(repeats: int, *work: Callable[[], object]) -> list[Timed]:
    """Several things in turns, so that all meet the same noise."""
    times: list[list[tuple[float, float]]] = [[] for _ in work]
    for _ in range(repeats):
        for act, found in zip(work, times, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            act()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            found.append((time.perf_counter() - wall, time.process_time() - cpu))
    return [Timed(min(wall for wall, _ in found), min(cpu for _, cpu in found)) for found in times]


def product(kind: torch.dtype = torch.float32, device: str = "cpu") -> tuple[Callable[[], object], float]:
    """A plain product of 2,400 x 256 x 1,024, and its floating-point operations."""
    left, right = torch.randn(2400, 256, device=device).to(kind), torch.randn(256, 1024, device=device).to(kind)
    return (lambda: left @ right), 2.0 * 2400 * 256 * 1024


def matrix_rate(repeats: int = 50, kind: torch.dtype = torch.float32) -> float:
    """Floating-point operations per second of a plain product."""
    work, operations = product(kind)
    return operations / timed(repeats, work)[0].wall


def useful_operations(model: DecoderModel, batch: SentenceBatch) -> float:
    """Multiplications and additions that a step cannot do without: three times those of the forward pass.

    Rows that predict nothing are needed in the last layer for their keys and values only.
    """
    config = model.config
    with torch.no_grad():
        predictions = model(batch)
    packed = predictions.packed
    rows, actions = len(packed), len(predictions.actions.id)
    predicting = int((packed.target >= 0).sum())
    inner = config.attention_heads * config.head_width
    per_row = 4 * config.width * inner + 2 * config.width * config.feedforward
    of_rows = (
        (config.layers - 1) * rows * per_row + predicting * per_row + (rows - predicting) * 2 * config.width * inner
    )
    attended = int(packed.views[0].keys.sum()) * config.layers * 3 * inner  # content, position, mixing
    words = int((predictions.actions.piece >= 0).sum())
    heads = actions * config.width * config.width + words * config.width * config.vocabulary
    return 3 * 2.0 * (of_rows + attended + heads)


def step_of(model: DecoderModel, batch: SentenceBatch, precision: str = "no") -> Callable[[], None]:
    """A step on a batch that is prepared already."""
    optimizer = torch.optim.AdamW(model.parameter_groups(1e-4), weight_decay=0.0, fused=True)
    (prepared,) = model.prepare(batch)

    def casting() -> AbstractContextManager[Any]:
        return torch.autocast(model.device.type, torch.bfloat16) if precision == "bf16" else nullcontext()

    def step() -> None:
        with casting():
            loss = model.loss(prepared)
        (loss.total / loss.predicted).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def model_and_batch(
    family: str, settings: dict[str, Any], vocabulary: int, sentences: int, device: str
) -> tuple[DecoderModel, SentenceBatch]:
    entry = families.FAMILIES[family].system
    labels: dict[str, Any] = {"labels": LABELS} if entry.kind is CONSTITUENCY else {}
    model = DecoderModel.create(ModelConfig(family=family, vocabulary=vocabulary, **labels, **settings)).to(device)
    model.starts_word = torch.arange(vocabulary, device=device) % 4 > 0  # three of four begin a word, as in dtg-mini
    trees, pieces = a_batch(sentences, 22.0)
    numbers = [[[p - p % 4 + (k == 0) for k, p in enumerate(word)] for word in words] for words in pieces]
    return model, model.encode(as_family_reads(model.family, trees), numbers)


def measure(
    name: str,
    family: str,
    settings: dict[str, Any],
    sentences: int,
    repeats: int,
    precision: str = "no",
    device: str = "cpu",
) -> None:
    model, batch = model_and_batch(family, settings, VOCABULARIES[name], sentences, device)
    step = step_of(model, batch, precision)
    plain, operations = product(torch.bfloat16 if precision == "bf16" else torch.float32, device)
    step()
    found, by_product = timed(repeats, step, lambda: [plain() for _ in range(8)])
    rate = 8 * operations / by_product.cpu if device == "cpu" else 8 * operations / by_product.wall
    useful = useful_operations(model, batch)
    spent = found.cpu if device == "cpu" else found.wall
    # The released code's step, had it run on a machine that multiplies as fast as this one: rates of two threads.
    ratio = RELEASED[name] * RELEASED_RATE[name] / (2 * rate) / (found.cpu / 2) if family == "dtg" else None
    shown = f"{family}, {settings['attachment']}" if "attachment" in settings else family
    shown += ", bf16" if precision == "bf16" else ""
    against = f"{ratio:>9.1f}x" if ratio is not None and precision == "no" else f"{'':>10}"
    with torch.no_grad():
        rows = len(model(batch).packed)
    print(
        f"{name:<8}{shown:<20}{found.wall:>8.3f} s{found.cpu:>8.3f} s{against}{batch.words / found.cpu:>9,.0f}"
        f"{rows / found.cpu:>9,.0f}{useful / 1e9:>9.1f}{100 * useful / spent / rate:>7.0f} %{rate / 1e9:>9.0f}",
        flush=True,
    )


def where_time_goes(repeats: int, device: str) -> None:
    """The parts of a small step, each by itself, then its operations."""
    model, batch = model_and_batch("dtg", SMALL, 8192, 32, device)
    family = model.family
    (prepared,) = model.prepare(batch)
    many, numbers = a_batch(32 * AT_ONCE, 22.0)
    together = model.encode(many, numbers)
    read = model.symbols.read_rows(prepared.packed)
    rows = torch.randn(len(prepared.packed), 256, device=device)
    layer = model.decoder.layers[0]
    assert prepared.keys is not None
    keys, layer_keys = prepared.keys, prepared.keys.of_layer(0, last=False)
    encoded = torch.randn(len(keys.positions), 256, device=device)
    step = step_of(model, batch)

    def without_gradients(work: Callable[[], object]) -> Callable[[], object]:
        def act() -> object:
            with torch.no_grad():
                return work()

        return act

    parts: dict[str, Callable[[], object]] = {
        "trees to rows, one batch": lambda: families.pack(family, family.system.derive(batch), model.root),
        f"... and keys, {AT_ONCE} at once": lambda: model.prepare(together, [32] * AT_ONCE),
        "decoder, forward": without_gradients(lambda: model.decoder(*read, keys)),
        "  attention of a layer": without_gradients(
            lambda: layer.attention(rows, layer_keys, model.decoder.biases, encoded)  # type: ignore[operator]
        ),
        "  feed-forward of a layer": without_gradients(lambda: layer.feedforward(rows)),  # type: ignore[operator]
        "all, forward": without_gradients(lambda: model.loss(prepared)),
        "step": step,
    }
    print("\nwhere a small dtg step goes (CPU milliseconds)")
    for name, found in zip(parts, timed(repeats, *parts.values()), strict=True):
        print(f"  {name:<28}{1000 * found.cpu:>8.1f}")
    with torch.profiler.profile() as profiler:
        for _ in range(3):
            step()
    events = [event for event in profiler.key_averages() if event.self_cpu_time_total]
    total = sum(event.self_cpu_time_total for event in events)
    products = sum(event.self_cpu_time_total for event in events if event.key.endswith(("mm", "mm_")))
    print(f"\nits operations: {100 * products / total:.0f} % of the time in matrix products; of the rest")
    others = [event for event in events if not event.key.endswith(("mm", "mm_"))]
    for event in sorted(others, key=lambda event: -event.self_cpu_time_total)[:10]:
        print(f"  {event.key[:40]:<42}{100 * event.self_cpu_time_total / total:>6.1f} %")


def growth(repeats: int) -> None:
    print("\ngrowth with length (small dtg, 16 sentences): CPU milliseconds per word, level if cost is linear")
    model = DecoderModel.create(ModelConfig(**SMALL))
    for length in (10, 20, 40, 60):
        trees, pieces = a_batch(16, float(length))
        batch = model.encode(trees, pieces)
        (found,) = timed(repeats, step_of(model, batch))
        print(
            f"  mean {batch.words / 16:5.1f} words  {found.cpu:6.3f} s  {1000 * found.cpu / batch.words:6.3f} ms/word",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--families", nargs="*", default=list(families.FAMILIES), metavar="NAME")
    parser.add_argument("--where", action="store_true", help="only where the time goes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_freed_memory()  # as dtg train does
    start = time.perf_counter()
    print(f"{options.threads} threads, torch {torch.__version__}")
    if options.where:
        where_time_goes(options.repeats, options.device)
        return
    columns = ("model", "family", "clock", "CPU", "released", "words/s", "rows/s", "GFLOP", "of matmul", "GFLOP/s")
    print("{:<8}{:<20}{:>10}{:>10}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}".format(*columns))
    peak = 0.0
    for family in options.families:
        # The attachment head as published puts a network between a row and its depth; the other forms have none.
        forms = ("network", "additive", "plain") if families.FAMILIES[family].system.kind is BINARY else (None,)
        for form in forms:
            settings = SMALL if form is None else {**SMALL, "attachment": form}
            measure("small", family, settings, 32, options.repeats, device=options.device)
        if family == "dtg":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            measure("small", family, SMALL, 32, options.repeats, "bf16", options.device)
    measure("medium", "dtg", MEDIUM, 16, max(2, options.repeats // 2), device=options.device)
    where_time_goes(options.repeats, options.device)
    growth(options.repeats)
    print(f"\npeak memory after the first small model {peak:.1f} GB (released code: 1.8 GB)")
    print(
        "released: how many times faster than the released code's step (2.5 s small, 6.5 s medium, on two threads of machines\n"
        "of 200 and 320 GFLOP/s), had it run on a machine that multiplies matrices as fast as this one. Words, rows and\n"
        "operations are per CPU second of one core; GFLOP/s is a core's rate in the same precision, in the same run."
    )
    print(f"({time.perf_counter() - start:.0f} s in all)")


if __name__ == "__main__":
    main()
