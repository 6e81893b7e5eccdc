"""Draws learning curves from training logs: those of one run, and those of several to compare. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError
from dtg.io.pictures import INK, NAME_SIZE, STYLES, Style, check_models, picture, plain, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Records = Sequence[Mapping[str, Any]]  # lines of a log
TRAIN, DEV, RATE = "#0072B2", "#D55E00", "#999999"  # colours, after Okabe and Ito
WIDTH, HEIGHT = 7.0, 4.0  # inches: the text width of a page
PERPLEXITY = "word_perplexity"


def draw_run(records: Records, path: Path) -> None:
    """Draw the loss of one run per prediction against words read; the learning rate in grey, on its own axis."""
    train, dev = of_kind(records, "train"), of_kind(records, "dev")
    with picture(path, "training curves") as figure:
        figure.set_size_inches(WIDTH, HEIGHT)
        axes = figure.add_subplot()
        draw_curve(axes, train, "loss", TRAIN, linewidth=1, label="train")
        draw_curve(axes, dev, "loss", DEV, marker="o", markersize=3, label="dev")
        axes.set_xlabel("words read")
        axes.set_ylabel("nats per prediction")
        plain(axes, "both")
        rates = axes.twinx()
        draw_curve(rates, train, "rate", RATE, linewidth=1, linestyle=":")
        rates.set_ylabel("learning rate (dotted)", color=RATE)
        rates.spines["top"].set_visible(False)
        axes.legend(frameon=False, loc="upper center")


def learning_curves(path: str | Path, runs: Mapping[str, Records]) -> None:
    """Draw the perplexities of several runs against words read, from their logs (`dtg.training.log.read_log`).

    Thin lines are the training data; thick ones with markers are the development set.
    """
    check_models(runs)
    with picture(path, "picture of learning curves") as figure:
        figure.set_size_inches(WIDTH, HEIGHT)
        axes = figure.add_subplot()
        ends = []
        for (name, records), style in zip(runs.items(), STYLES, strict=False):
            train, dev = of_kind(records, "train"), of_kind(records, "dev")
            if not train and not dev:
                raise InputError(f"the log of {name} has no losses yet; leave the run out, or wait until it has some.")
            draw_curve(axes, train, PERPLEXITY, style.color, linewidth=0.7, alpha=0.5)
            looks = {"linewidth": 1.6, "linestyle": style.line, "marker": style.marker, "markersize": 4.5}
            draw_curve(axes, dev, PERPLEXITY, style.color, **looks)
            ends.append((name, (dev or train)[-1], style))
        axes.plot([], [], color=INK, linewidth=0.7, label="training")
        axes.plot([], [], color=INK, linewidth=1.6, marker="o", markersize=4.5, label="development set")
        figure.legend(frameon=False, fontsize=NAME_SIZE, loc="outside upper center", ncols=2)
        axes.set_yscale("log")
        axes.set_xlim(left=0)
        axes.set_xlabel("words read", fontsize=NAME_SIZE)
        axes.set_ylabel("perplexity per word, tree included", fontsize=NAME_SIZE)
        write_plain_numbers(axes)
        plain(axes, "both")
        name_curves(axes, ends)


def of_kind(records: Records, kind: str) -> Records:
    """The records of one kind: "train" or "dev"."""
    return [record for record in records if record["kind"] == kind]


def draw_curve(axes: Axes, records: Records, key: str, color: str, **looks: Any) -> None:
    """Draw one number of each record against the words read."""
    words, values = ([record[name] for record in records] for name in ("words", key))
    axes.plot(words, values, color=color, markeredgecolor=INK, markeredgewidth=0.4, **looks)


def name_curves(axes: Axes, ends: Sequence[tuple[str, Mapping[str, Any], Style]]) -> None:
    """Write each name right of the axes, at the height of its curve's end or, where names would overlap, near it."""
    names = [wrapped(name, 28) for name, _, _ in ends]
    line = 1.5 * NAME_SIZE / 72 / (HEIGHT - 1.0)  # of text, as a share of the height that the axes have at least
    heights = [height_of(axes, record[PERPLEXITY]) for _, record, _ in ends]
    places = spread(heights, [line * (name.count("\n") + 1) for name in names])
    for (_, record, style), name, place in zip(ends, names, places, strict=True):
        leader = {
            "arrowstyle": "-",
            "color": style.color,
            "linewidth": 0.7,
            "shrinkA": 1,
            "shrinkB": 3,
            "relpos": (0, 0.5),
        }
        axes.annotate(
            name,
            (record["words"], record[PERPLEXITY]),
            (1.05, place),
            textcoords="axes fraction",
            va="center",
            fontsize=NAME_SIZE,
            arrowprops=leader,
        )


def spread(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Positions near `heights` for things of the given sizes, so that none overlap."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    pushed_up, pushed_down = list(heights), list(heights)
    for below, above in pairwise(order):
        pushed_up[above] = max(heights[above], pushed_up[below] + (sizes[below] + sizes[above]) / 2)
    for above, below in pairwise(reversed(order)):
        pushed_down[below] = min(heights[below], pushed_down[above] - (sizes[below] + sizes[above]) / 2)
    # Things are far enough apart in both, so they are in between.
    return [(up + down) / 2 for up, down in zip(pushed_up, pushed_down, strict=True)]


def height_of(axes: Axes, value: float) -> float:
    """Where a value is on the y axis, from 0 at its lower end to 1."""
    _, pixel = axes.transData.transform((0, value))
    return float(axes.transAxes.inverted().transform((0, pixel))[1])


def write_plain_numbers(axes: Axes) -> None:
    """10,000 instead of 10⁴, and 200k for words."""
    from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_locator(NullLocator())
