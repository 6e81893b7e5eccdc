"""What a training step costs: `python -m benchmarks.training`.

A step is forward, backward and update on a batch of newswire-like sentences (22 words on average, 1.3 subwords a word). Its
time is put beside this machine's own rate of multiplying matrices, measured in the same run.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.rows import LABELS, a_batch, as_family_reads, best_of
from dtg import families
from dtg.model import DecoderModel, ModelConfig
from dtg.model.packed_keys import PackedKeys
from dtg.transitions.batch import SentenceBatch
from dtg.trees.kinds import BINARY, CONSTITUENCY

SMALL: dict[str, Any] = {"width": 256, "feedforward": 1024, "layers": 6, "attention_heads": 4, "head_width": 64}
MEDIUM: dict[str, Any] = {"width": 512, "feedforward": 2048, "layers": 16, "attention_heads": 8, "head_width": 64}
RELEASED = {
    "small": 1.96,
    "medium": 6.5,
}  # seconds a step of the released code on this kind of machine (the numbers)


def matrix_rate(repeats: int = 50) -> float:
    """Floating-point operations per second of a plain product, 2,400 x 256 x 1,024."""
    left, right = torch.randn(2400, 256), torch.randn(256, 1024)
    return 2 * 2400 * 256 * 1024 / best_of(repeats, lambda: left @ right)


def useful_operations(model: DecoderModel, batch: SentenceBatch) -> float:
    """Multiplications and additions that a step cannot do without: three times those of the forward pass."""
    config = model.config
    predictions = model(batch)
    rows, actions = len(predictions.packed), len(predictions.actions.id)
    inner = config.attention_heads * config.head_width
    per_row = config.layers * (4 * config.width * inner + 2 * config.width * config.feedforward)
    attended = int(predictions.packed.views[0].keys.sum()) * config.layers * 3 * inner  # content, position, mixing
    words = int((predictions.actions.piece >= 0).sum())
    heads = actions * config.width * config.width + words * config.width * config.vocabulary
    return 3 * 2.0 * (rows * per_row + attended + heads)


def step_of(model: DecoderModel, batch: SentenceBatch) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameter_groups(1e-4), weight_decay=0.0, fused=True)

    def step() -> None:
        loss = model.loss(batch)
        (loss.total / loss.predicted).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def measure(name: str, family: str, settings: dict[str, Any], vocabulary: int, sentences: int, repeats: int) -> None:
    entry = families.FAMILIES[family].system
    labels: dict[str, Any] = {"labels": LABELS} if entry.kind is CONSTITUENCY else {}
    model = DecoderModel.create(ModelConfig(family=family, vocabulary=vocabulary, **labels, **settings))
    trees, pieces = a_batch(sentences, 22.0)
    batch = model.encode(
        as_family_reads(model.family, trees), [[[p % vocabulary for p in word] for word in words] for words in pieces]
    )
    step = step_of(model, batch)
    step()
    seconds, rate = best_of(repeats, step), matrix_rate()
    predictions = model(batch)
    rows, actions = len(predictions.packed), len(predictions.actions.id)
    share = useful_operations(model, batch) / seconds / rate
    released = f"{RELEASED[name] / seconds:>9.1f}x" if family == "dtg" else f"{'':>10}"
    shown = f"{family}, {settings['attachment']}" if "attachment" in settings else family
    print(
        f"{name:<8}{shown:<20}{seconds:>7.3f} s{released}{sentences / seconds:>8.1f} s/s{actions / seconds:>9,.0f} actions/s"
        f"{rows / seconds:>9,.0f} rows/s{100 * share:>7.0f} %{100 * predictions.padding:>9.1f} %{rate / 1e9:>8.0f}"
    )


def where_time_goes(repeats: int) -> None:
    """The parts of a small step, each by itself."""
    model = DecoderModel.create(ModelConfig(**SMALL))
    trees, pieces = a_batch(32, 22.0)
    batch = model.encode(trees, pieces)
    family = model.family
    actions = family.system.derive(batch)
    packed = families.pack(family, actions, model.root)
    keys = PackedKeys.of(packed, model.groups)
    read = model.symbols.read_rows(packed)
    rows = torch.randn(len(packed), 256)
    layer = model.decoder.layers[0]
    encoded = torch.randn(len(keys.positions), 256)
    layer_keys = keys.of_layer(0, last=False)
    with torch.no_grad():
        parts = {
            "trees to rows": best_of(repeats, lambda: families.pack(family, family.system.derive(batch), model.root)),
            "blocks of keys": best_of(repeats, lambda: PackedKeys.of(packed, model.groups)),
            "decoder, forward": best_of(repeats, lambda: model.decoder(*read, keys)),
            "  of which attention": 6
            * best_of(repeats, lambda: layer.attention(rows, layer_keys, model.decoder.biases, encoded)),  # type: ignore[operator]
            "  of which feed-forward": 6 * best_of(repeats, lambda: layer.feedforward(rows)),  # type: ignore[operator]
            "all, forward": best_of(repeats, lambda: model.loss(batch)),
        }
    parts["step"] = best_of(repeats, step_of(model, batch))
    print("\nwhere a small dtg step goes (milliseconds)")
    for name, seconds in parts.items():
        print(f"  {name:<26}{1000 * seconds:>8.1f}")


def growth(repeats: int) -> None:
    print("\ngrowth with length (small dtg, 16 sentences): milliseconds per word, level if cost is linear")
    model = DecoderModel.create(ModelConfig(**SMALL))
    for length in (10, 20, 40, 60):
        trees, pieces = a_batch(16, float(length))
        batch = model.encode(trees, pieces)
        seconds = best_of(repeats, step_of(model, batch))
        print(f"  mean {batch.words / 16:5.1f} words  {seconds:6.3f} s  {1000 * seconds / batch.words:6.3f} ms/word")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    start = time.perf_counter()
    print(f"{options.threads} threads, torch {torch.__version__}")
    columns = ("model", "family", "step", "faster", "sentences", "actions", "rows", "of matmul", "padding", "GFLOP/s")
    print("{:<8}{:<20}{:>9}{:>10}{:>12}{:>19}{:>16}{:>9}{:>11}{:>8}".format(*columns))
    for family, entry in families.FAMILIES.items():
        # The attachment head as published has an MLP row for each pair of a word and one before it; the other forms have none.
        forms = ("network", "additive", "plain") if entry.system.kind is BINARY else (None,)
        for form in forms:
            settings = SMALL if form is None else {**SMALL, "attachment": form}
            measure("small", family, settings, 8192, 32, options.repeats)
        if family == "dtg":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    measure("medium", "dtg", MEDIUM, 16_384, 16, max(2, options.repeats // 2))
    where_time_goes(options.repeats)
    growth(options.repeats)
    print(f"\npeak memory after the first small model {peak:.1f} GB (released code: 1.8 GB)")
    print("released code, quoted: 1.96 s for the small step, 6.5 s for the medium one")
    print(f"({time.perf_counter() - start:.0f} s in all)")


if __name__ == "__main__":
    main()
