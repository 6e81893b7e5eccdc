"""The configurations that come with the package, found by name: `dtg train mini`."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The names of all of them."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str | Path) -> Path:
    """The file of a configuration.

    Args:
        name: a path, or the name of a configuration that comes with the package. A file of that name wins.
    """
    path = Path(name)
    if not path.exists() and str(name).removesuffix(".toml") in names():
        return FOLDER / f"{str(name).removesuffix('.toml')}.toml"
    return path


def title(name: str) -> str:
    """What a configuration is for: the first line of its file."""
    first = (FOLDER / f"{name}.toml").read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip()
