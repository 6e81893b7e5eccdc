"""What SECURITY.md promises, as far as the source code shows it; the rest is tested where it is done."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import dtg
from dtg.errors import CheckpointError
from tests.parser.parsers import small_parser

SOURCE = Path(dtg.__file__).parent
ROOT = Path(__file__).parents[1]
RUN_CODE = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "runpy", "code"}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def name_of(function: ast.expr) -> str:
    """torch.load for the call torch.load(...)."""
    return ast.unparse(function) if isinstance(function, ast.Name | ast.Attribute) else ""


def test_nothing_that_is_read_is_run() -> None:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = name_of(node.func)
                assert called not in RUN_CODE and called not in ("torch.load", "os.system"), f"{path}: {called}"
                options = {keyword.arg: keyword.value for keyword in node.keywords}
                if called.endswith((".from_pretrained", "AutoModel.from_config")):
                    assert ast.unparse(options["trust_remote_code"]) == "False", path
                if called in ("np.load", "numpy.load"):
                    assert ast.unparse(options["allow_pickle"]) == "False", path
                assert "shell" not in options, path
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
                assert not MODULES & {name.partition(".")[0] for name in names}, f"{path}: {names}"


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (str(tmp_path / "sprung"),)

    small_parser().save(tmp_path / "parser")
    (tmp_path / "parser" / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    for verify in (True, False):
        with pytest.raises(CheckpointError, match="cannot load"):
            dtg.load_parser(tmp_path / "parser", verify=verify)
    assert not (tmp_path / "sprung").exists()


def test_what_listens_is_on_loopback() -> None:
    from dtg.explore.access import Access  # who may ask

    assert Access().hosts == ("127.0.0.1", "localhost", "[::1]")


def test_the_promises_are_written_down() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for promise in ("No code runs on load", "Writes go where they were told to", "on loopback", "## Reporting"):
        assert promise in text
