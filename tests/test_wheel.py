"""What people get: the wheel, in an environment that has its dependencies and no extras, used from another folder."""

from __future__ import annotations

import importlib.metadata as metadata
import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False, env={**outside, "COLUMNS": "80"}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as pip builds it: from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    assert {"CITATION.cff", "LICENSE", "README.md", "CHANGELOG.md"} <= {path.name for path in unpacked.iterdir()}
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    (found,) = folder.glob("*.whl")
    return found


def needed(requirements: list[str]) -> set[str]:
    """The names of all packages that these requirements bring with them, extras left out."""
    found, waiting = set[str](), [Requirement(text) for text in requirements]
    while waiting:
        one = waiting.pop()
        if one.name.lower() in found or (one.marker is not None and not one.marker.evaluate({"extra": ""})):
            continue
        try:
            further = metadata.requires(one.name) or []
        except metadata.PackageNotFoundError:  # for other systems
            continue
        found.add(one.name.lower())
        waiting += map(Requirement, further)
    return found


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the wheel and what it requires, linked from this one to save time."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", site, wheel, cwd=folder)
    requirements = next(iter(metadata.distributions(name="dtg", path=[str(site)]))).requires or []
    for name in needed([text for text in requirements if "extra ==" not in text]):
        distribution = metadata.distribution(name)
        for top in {Path(str(file)).parts[0] for file in distribution.files or []} - {"..", "__pycache__", "bin"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return folder / "env" / "bin"


def test_the_first_commands_of_the_readme(bare: Path, tmp_path: Path) -> None:
    def dtg(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return run(bare / "python", "-m", "dtg", *arguments, cwd=tmp_path, code=code)

    for extra in ("matplotlib", "pandas", "pyarrow", "accelerate", "transformers"):
        run(bare / "python", "-c", f"import {extra}", cwd=tmp_path, code=1)
    where = run(bare / "python", "-c", "import dtg; print(dtg.__file__)", cwd=tmp_path).stdout
    assert str(bare.parent) in where
    assert "Dogs" in dtg("surprisal", "Dogs bark.").stdout
    assert "\tDET\t" in dtg("parse", "The dog barks.").stdout
    assert "dtg-mini" in dtg("info").stdout
    assert "difference" in dtg("inspect", "There is a difference", "--heads", "2 0 4 2").stdout
    shown = dtg("demo")
    assert "3. The verb agrees with “manager”" in shown.stdout and (tmp_path / "demo" / "surprisals.csv").is_file()
    assert "drawing pictures needs matplotlib" in shown.stderr
    assert "mini-quarter" in dtg("train", "--list").stdout
    missing = dtg("surprisal", "Dogs bark.", "--draw", "dogs.svg", code=1).stderr
    assert "needs matplotlib" in missing and "pip install matplotlib" in missing
    (tmp_path / "stimuli.csv").write_text("item,sentence\n1,Dogs bark.\n")
    dtg("surprisal", "stimuli.csv", "--column", "sentence", "--out", "words.csv")
    assert (tmp_path / "words.csv").read_text().count("\n") == 4
