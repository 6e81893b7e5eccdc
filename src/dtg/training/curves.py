"""RUN/curves.png: the losses of a run and its learning rate, drawn from the log. Needs matplotlib (the `draw` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dtg.pictures import picture

TRAIN, DEV, RATE = "#0072B2", "#D55E00", "#999999"  # after Okabe and Ito


def draw_curves(records: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw loss per prediction against words read; the rate in grey, on its own axis."""
    train = [record for record in records if record["kind"] == "train"]
    dev = [record for record in records if record["kind"] == "dev"]
    with picture(path, "training curves") as figure:
        figure.set_size_inches(7, 4)
        axes = figure.add_subplot()
        axes.plot([r["words"] for r in train], [r["loss"] for r in train], color=TRAIN, linewidth=1, label="train")
        axes.plot([r["words"] for r in dev], [r["loss"] for r in dev], color=DEV, marker="o", markersize=3, label="dev")
        axes.set_xlabel("words read")
        axes.set_ylabel("nats per prediction")
        axes.grid(color="#DDDDDD", linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        rates = axes.twinx()
        rates.plot([r["words"] for r in train], [r["rate"] for r in train], color=RATE, linewidth=1, linestyle=":")
        rates.set_ylabel("learning rate (dotted)", color=RATE)
        rates.spines["top"].set_visible(False)
        axes.legend(frameon=False, loc="upper center")
