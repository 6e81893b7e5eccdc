"""`dtg explore`: a page in the browser on which one watches a model read, or the same page saved as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg import pretrained
from dtg.cli.options import AccuracyOption, DeviceOption, WordBeamOption

if TYPE_CHECKING:
    from dtg.model.model import DecoderModel


def explore(
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Sentences to begin with, or to save.")
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            help="A trained model: its folder, such as RUN/best, or a name; repeatable. "
            f"[default: {pretrained.MODEL} and, to compare with, {pretrained.WORDS_MODEL}]",
            metavar="DIR|NAME",
        ),
    ] = None,
    accuracy: AccuracyOption = None,
    beam: Annotated[
        int | None,
        typer.Option(
            min=1, max=500, help="A beam of fixed width instead: partial trees followed before each word, such as 50."
        ),
    ] = None,
    word_beam: WordBeamOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Write one HTML file that needs no server, and stop.", metavar="FILE")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[
        str | None,
        typer.Option(help="Let other machines in, by this address of this one; they need the token that is printed."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    device: DeviceOption = "auto",
) -> None:
    """Watch a model read a sentence: surprisal, the beam of partial trees, attention, the words it expects.

    dtg explore

    dtg explore "The horse raced past the barn fell." --save page.html
    """
    from dtg.errors import InputError
    from dtg.search.options import BeamOptions

    if save is not None and not sentences:
        raise InputError("there is nothing to save: give at least one sentence before --save FILE.")
    if save is not None and not save.parent.is_dir():
        raise InputError(f"cannot write {save}: the folder {save.parent} does not exist.")
    if save is None:
        from dtg.explore.serving import check_installed

        check_installed()
    from dtg.cli.loading import load_models

    default = [pretrained.MODEL] if save is not None else [pretrained.MODEL, pretrained.WORDS_MODEL]
    models = {one.name: one.model.decoder_model for one in load_models(model or list(map(Path, default)), device)}
    if save is not None:
        from dtg.explore.saved import make_page

        page = make_page(
            models, [(name, text) for text in sentences or () for name in models], accuracy, beam, word_beam
        )
        page.save(save)
        typer.echo(f"dtg: wrote {save} ({len(page.html.encode()) / 1000:,.0f} kB).", err=True)
        return
    BeamOptions.of(accuracy=accuracy, beam=beam, word_beam=word_beam)  # raises if they contradict each other
    given = {
        "accuracy": accuracy,
        "beam": beam,
        "kept": word_beam,
        **dict(zip(("s", "s2"), sentences or (), strict=False)),
    }
    settings = {name: str(value) for name, value in given.items() if value is not None}
    serve_page(models, settings, port=port, host=host, browser=browser)


def serve_page(
    models: dict[str, DecoderModel],
    settings: dict[str, str],
    *,
    port: int,
    host: str | None,
    browser: bool,
) -> None:
    """Serve until interrupted, and say where; `settings` are part of the address."""
    import webbrowser

    from dtg.explore.serving import listen, serve

    place = listen(host, port)
    address = place.address(**settings)

    def tell() -> None:
        typer.echo(f"dtg: the explorer is at {address}\n     Ctrl-C stops it.", err=True)
        if browser:
            webbrowser.open(address)

    serve(models, place, tell)
