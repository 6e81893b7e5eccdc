"""Picture files of every kind dtg draws: a figure to paint on goes out, a whole SVG, PNG or PDF file is written.

matplotlib is an optional dependency (the `draw` extra), imported only when something is drawn. The same picture makes the
same file: no dates, no random names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dtg.errors import InputError, MissingExtraError
from dtg.files import FORMAT_VERSION, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")


def check_picture_path(path: Path) -> None:
    """Raise unless a picture can be written under this name."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"cannot draw {path}: the name must end in one of {', '.join(SUFFIXES)}.")
    if not path.parent.is_dir():
        raise InputError(f"cannot draw {path}: the folder {path.parent} does not exist.")


@contextmanager
def picture(path: str | Path, what: str) -> Iterator[Figure]:
    """Give an empty figure, and write it to `path` once it is painted; the suffix says in which format."""
    path = Path(path)
    check_picture_path(path)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "draw", f"drawing a {what}") from None
    note = f"dtg {what}, format_version {FORMAT_VERSION}"
    metadata = {
        ".svg": {"Date": None, "Description": note},
        ".png": {"Description": note},
        ".pdf": {"CreationDate": None, "Subject": note},
    }[path.suffix.lower()]
    with rc_context({"svg.hashsalt": "dtg", "font.family": "DejaVu Sans"}):
        figure = Figure(layout="constrained")
        yield figure
        with replacing(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=150, metadata=metadata)
