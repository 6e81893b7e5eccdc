"""What people get: the wheel, in an environment that has its dependencies and no extras, used from another folder."""

from __future__ import annotations

import importlib.metadata as metadata
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
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
    with zipfile.ZipFile(found) as files:
        assert not [name for name in files.namelist() if "-mini" in name or "-gum" in name]  # not for commercial use
        assert [name for name in files.namelist() if name.endswith("pretrained/LICENSE.md")]
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


# Several commands in one process, since each would import torch anew; what each prints goes to two files.
SEVERAL = """
import contextlib, json, sys
from pathlib import Path
from dtg.cli import main

for number, arguments in enumerate(json.loads(sys.argv[1])):
    sys.argv = ["dtg", *arguments]
    with open(f"{number}.out", "w") as out, open(f"{number}.err", "w") as errors:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code
    Path(f"{number}.code").write_text(str(code or 0))
"""


def test_the_first_commands_of_the_readme(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "stimuli.csv").write_text("item,sentence\n1,Dogs bark.\n")
    commands = [
        ["parse", "The dog barks."],
        ["info"],
        ["inspect", "There is a difference", "--heads", "2 0 4 2"],
        ["demo"],
        ["train", "--list"],
        ["surprisal", "Dogs bark.", "--draw", "dogs.svg"],
        ["surprisal", "stimuli.csv", "--column", "sentence", "--out", "words.csv"],
    ]
    for extra in ("matplotlib", "pandas", "pyarrow", "accelerate", "transformers"):
        run(bare / "python", "-c", f"import {extra}", cwd=tmp_path, code=1)
    where = run(bare / "python", "-c", "import dtg; print(dtg.__file__)", cwd=tmp_path).stdout
    assert str(bare.parent) in where
    assert "Dogs" in run(bare / "python", "-m", "dtg", "surprisal", "Dogs bark.", cwd=tmp_path).stdout
    run(bare / "python", "-c", SEVERAL, json.dumps(commands), cwd=tmp_path)
    texts = [[(tmp_path / f"{n}.{kind}").read_text() for kind in ("code", "out", "err")] for n in range(len(commands))]
    codes, printed, told = zip(*texts, strict=True)
    assert codes == ("0", "0", "0", "0", "0", "1", "0"), told
    expected = ("\tDET\t", "dtg-small", "difference", "3. The verb agrees with “manager”", "mini-quarter")
    assert all(part in text for part, text in zip(expected, printed, strict=False))
    assert (tmp_path / "demo" / "surprisals.csv").is_file() and "drawing pictures needs matplotlib" in told[3]
    assert "needs matplotlib" in told[5] and "pip install matplotlib" in told[5]
    assert (tmp_path / "words.csv").read_text().count("\n") == 4
