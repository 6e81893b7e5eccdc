"""`dtg generate`: sentences that a model makes up, with their trees."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg.cli.groups import SearchGroup, Without, takes_groups
from dtg.cli.options import DeviceOption, DrawOption, ModelOption, OverwriteOption, SeedOption
from dtg.cli.trees import ON_TERMINAL, check_draw, draw_files
from dtg.errors import InputError
from dtg.io.atomic import check_is_not_input, replacing
from dtg.io.messages import pluralize
from dtg.io.processes import launched

if TYPE_CHECKING:
    from dtg.search.generation import GeneratedSentence


@takes_groups
def generate(
    *,
    model: ModelOption = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many sentences.")] = 1,
    prompt: Annotated[str, typer.Option(help="How they begin.", metavar="TEXT")] = "",
    temperature: Annotated[
        float, typer.Option(min=0.0, help="1 draws from the model as it is, less is safer, 0 takes the most probable.")
    ] = 1.0,
    top_k: Annotated[
        int | None, typer.Option(min=1, help="Draw words among the K most probable subwords only.", metavar="K")
    ] = None,
    top_p: Annotated[
        float, typer.Option(help="Draw words among the most probable subwords that together have this probability.")
    ] = 1.0,
    max_words: Annotated[
        int, typer.Option(min=1, help="Let sentences have no more words; their trees then close.")
    ] = 60,
    seed: SeedOption = 0,
    draw: DrawOption = None,
    out: Annotated[Path | None, typer.Option(help="Write to a file instead.", metavar="FILE")] = None,
    overwrite: OverwriteOption = False,
    search: Annotated[SearchGroup, Without("word_beam")],
    device: DeviceOption = "auto",
) -> None:
    """Sentences that a model makes up, each with its tree: as CoNLL-U, or a line of brackets where trees are phrases.

    Models without trees give plain text.

    dtg generate --model run/best --count 5 --temperature 0.8

    dtg generate --model run/best --prompt "The dog" --draw

    --beam is for the prompt, whose parse is drawn too.
    """
    if not launched().is_main:
        return  # one stream of random numbers is not shared: the first process draws all
    check_draw(draw or [], out)
    if len(draw or []) > (ON_TERMINAL in (draw or [])) and count > 1:
        raise InputError("--draw FILE is for one sentence; --draw alone draws all of them on the terminal.")
    if out is not None and out.exists() and not overwrite:
        raise InputError(f"{out} exists. Pass --overwrite to replace it, or write to another file.")
    from dtg.cli.loading import load_model, model_folder

    if out is not None:
        check_is_not_input([out], [model_folder(model)])
    from dtg.cli.progress import ProgressBar

    loaded = load_model(model_folder(model), device)
    sentences = loaded.generate_stream(
        count,
        prompt=prompt or None,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        max_words=max_words,
        seed=seed,
        beam=search.beam,
        accuracy=search.accuracy,
    )
    cut = 0
    if out is None:
        for sentence in sentences:
            cut += not sentence.complete
            typer.echo(written(sentence, draw=bool(draw)), nl=False)
            if sentence.tree is not None:
                draw_files(sentence.tree, draw or [])
        tell_cut(cut, max_words)
        return
    with (
        ProgressBar(count) as progress,
        replacing(out) as temporary,
        temporary.open("w", encoding="utf-8") as file,
    ):
        for number, sentence in enumerate(sentences, start=1):
            cut += not sentence.complete
            file.write(written(sentence, draw=False))
            progress.bar.update(progress.task, completed=number, description=f"sentence {number:,} of {count:,}")
    tell_cut(cut, max_words)


def tell_cut(cut: int, max_words: int) -> None:
    """Say how many sentences did not end by themselves."""
    if cut:
        typer.echo(f"dtg: {pluralize(cut, 'sentence')} reached the limit of {max_words} words.", err=True)


def written(sentence: GeneratedSentence, *, draw: bool) -> str:
    """A sentence as text, with what is known of it."""
    from dtg.trees import DependencyTree
    from dtg.trees.kinds import format_tree

    if sentence.tree is None:
        return " ".join(sentence.words) + "\n"
    if draw:
        return f"{sentence.tree.draw()}\n\n"
    comments = [f"# text = {' '.join(sentence.words)}", f"# log_probability = {sentence.log_probability:.6f}"]
    if not sentence.complete:
        comments.append("# the limit of words was reached")
    if not isinstance(sentence.tree, DependencyTree):  # brackets have no place for comments
        return format_tree(sentence.tree)
    return "\n".join(chain(comments, [format_tree(sentence.tree)]))
