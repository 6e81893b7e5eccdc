"""`dtg train-parser` and `dtg parse` as a user meets them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtg import load, load_parser
from dtg.cli.commands.train_parser import hold_out
from dtg.cli.output.destination import Destination
from dtg.cli.sentences import is_treebank
from dtg.cli.trees import ParserTrees, TreeSelection, parser_sidecar, write_parsed
from dtg.errors import InputError
from dtg.parser import BiaffineParser, ParserConfig
from dtg.parser.config import Kind, default_tables
from dtg.tables.files import Existing
from dtg.tables.items import Item, Lines
from dtg.tables.unparsed import UnparsedSentence, read_lines
from dtg.training import TrainingConfig
from dtg.trees import DependencyTree, read_conllu, write_conllu
from dtg.trees.enumeration import enumerate_projective
from tests.cli.running import dtg
from tests.parser.parsers import SIZES, TABLE, small_parser, some_trees

TEXT = "The dog barks.\n\nIt's 5 o'clock\nOne\n"
CONLLU = """# sent_id = first
# prob = 0.5
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\tX=y\t_\t_\t_\t_
2\tle\tle\tDET\t_\t_\t1\tdet\t1:det\tSpaceAfter=No
2.1\tvu\t_\t_\t_\t_\t_\t_\t_\t_
3\tchien\t_\tNOUN\t_\t_\t9\tnsubj\t_\t_

"""


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parser") / "saved"
    small_parser().save(folder)
    return folder


def comments(tree: DependencyTree) -> dict[str, str]:
    assert tree.source is not None
    return dict(line.removeprefix("# ").split(" = ", 1) for line in tree.source.comments)


def test_a_text_becomes_a_treebank(parser: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    out = tmp_path / "trees.conllu"
    done = dtg("parse", tmp_path / "text.txt", "--parser", parser, "--out", out)
    assert "trees.conllu has 3 trees of 3 sentences" in done.stderr and "1 empty line" in done.stderr
    trees = list(read_conllu(out))
    assert [tree.words for tree in trees] == [("The", "dog", "barks", "."), ("It", "'s", "5", "o'clock"), ("One",)]
    assert [comments(tree)["sent_id"] for tree in trees] == ["1", "3", "4"]
    assert comments(trees[0])["text"] == "The dog barks."
    loaded = BiaffineParser.load(parser)
    for tree, parsed in zip(trees, loaded.parse_all(tree.words for tree in trees), strict=True):
        assert tree == parsed.tree
        assert float(comments(tree)["prob"]) == pytest.approx(parsed.probability, rel=1e-4)
    assert trees[0].source is not None and trees[0].source.columns[2][9].endswith("|SpaceAfter=No")
    assert "exists. Pass --resume" in dtg("parse", "a b", "--parser", parser, "--out", out, code=1).stderr


def test_conllu_keeps_what_it_has(parser: Path, tmp_path: Path) -> None:
    (tmp_path / "given.conllu").write_text(CONLLU)
    done = dtg("parse", tmp_path / "given.conllu", "--parser", parser, "--nbest", "2")
    (tmp_path / "printed.conllu").write_text(done.stdout)
    first, second = read_conllu(tmp_path / "printed.conllu")
    assert first.words == second.words == ("de", "le", "chien") and first.heads != second.heads
    assert [comments(tree)["tree"] for tree in (first, second)] == ["1", "2"]
    assert comments(first)["sent_id"] == "first" and done.stdout.count("# prob =") == 2
    lines = done.stdout.splitlines()
    assert lines[4] == "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_" and lines[7].startswith("2.1\tvu")
    assert lines[6].startswith("2\tle\tle\tDET\t_\t_\t") and lines[6].endswith("|SpaceAfter=No")
    assert "\t_\tConfidence=" in lines[6]


def test_an_interrupted_run_goes_on_to_the_same_bytes(
    parser: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Broken off in the third group, with half a tree at the end of the file."""
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{' '.join(tree.words)}\n" for tree in some_trees(80)))
    loaded, wanted = BiaffineParser.load(parser), TreeSelection(None, 40, True, seed=1)
    whole, parts = tmp_path / "whole.conllu", tmp_path / "parts.conllu"

    def run(out: Path, existing: Existing, wanted: TreeSelection = wanted, break_after: int | None = None) -> None:
        def items() -> Iterator[Item[UnparsedSentence]]:
            for count, item in enumerate(read_lines(Lines.of_file(text), tokenized=True)):
                if count == break_after:
                    raise KeyboardInterrupt
                yield item

        sidecar = parser_sidecar("text", parser, wanted.settings, "cpu")
        write_parsed(items(), None, ParserTrees(loaded, wanted), Destination(out, "jsonl", existing), sidecar)

    run(whole, "error")
    with pytest.raises(KeyboardInterrupt):
        run(parts, "error", break_after=2 * wanted.group + 5)
    assert "is not finished. The same command with --resume resumes it." in capsys.readouterr().err
    assert 0 < parts.stat().st_size < whole.stat().st_size
    with parts.open("a") as file:
        file.write("1\thalf a li")
    run(parts, "resume")
    assert parts.read_bytes() == whole.read_bytes()
    with pytest.raises(InputError, match="sample is 7, and was 40"):
        run(parts, "resume", TreeSelection(None, 7, True, seed=1))
    of_each = dict[str, list[tuple[int, ...]]]()
    for tree in read_conllu(parts):
        of_each.setdefault(comments(tree)["sent_id"], []).append(tree.heads)
    assert len(of_each) == 80
    assert all(len(set(heads)) == len(heads) <= 40 for heads in of_each.values())


def test_mistakes(parser: Path, tmp_path: Path) -> None:
    assert "nowhere is not a parser" in dtg("parse", "a b", "--parser", "nowhere", code=1).stderr
    bad = tmp_path / "bad.conllu"
    bad.write_text("1\ta\t_\n")
    assert "line 1: the line has 3 columns" in dtg("parse", bad, "--parser", parser, code=1).stderr


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--nbest lists the best trees and --sample-trees draws"):
        TreeSelection(3, 3, False, 0)
    with pytest.raises(InputError, match="say how many with --sample-trees K"):
        TreeSelection(None, None, True, 0)
    with pytest.raises(InputError, match="give one of them"):
        Destination.of_trees(tmp_path / "a", resume=True, overwrite=True)
    with pytest.raises(InputError, match="name it with --out FILE"):
        Destination.of_trees(None, resume=True, overwrite=False)
    with pytest.raises(InputError, match=r"Leave \.gz off"):
        Destination.of_trees(tmp_path / "a.conllu.gz", resume=False, overwrite=False)
    assert is_treebank("a.conllu.gz") and not is_treebank("I like a.conllu") and not is_treebank("a.txt")


@pytest.mark.parametrize(
    ("name", "encoder", "kind"),
    [
        ("parser", None, "dependency"),
        ("parser-pretrained", "some/encoder", "dependency"),
        ("constituency", None, "constituency"),
        ("constituency-pretrained", "some/encoder", "constituency"),
    ],
)
def test_the_configurations_that_come_with_dtg_are_the_defaults(name: str, encoder: str | None, kind: Kind) -> None:
    path = Path(__file__).parents[2] / "src" / "dtg" / "configs" / f"{name}.toml"
    tables, defaults = tomllib.loads(path.read_text()), default_tables(encoder, kind)
    assert ParserConfig.from_dict(tables["model"]) == ParserConfig.from_dict(defaults["model"])
    assert TrainingConfig.from_dict(tables["training"]) == TrainingConfig.from_dict(defaults["training"])


def test_a_parser_is_trained_suspended_and_resumed(tmp_path: Path) -> None:
    crossing = DependencyTree(("a", "b", "c", "d"), (3, 4, 0, 3), ("x", "x", "root", "x"))
    write_conllu([*some_trees(45), crossing], tmp_path / "train.conllu")
    config = tmp_path / "small.toml"
    tables = {"model": SIZES, "training": {**TABLE, "epochs": 3}}
    config.write_text(
        "\n".join(
            f"[{name}]\n" + "\n".join(f"{key} = {value}" for key, value in table.items())
            for name, table in tables.items()
        )
    )
    options = ["train-parser", tmp_path / "train.conllu", "--out", tmp_path / "run", "--config", config, "--threads", 1]
    options += ["--set", "training.epochs=1"]
    done = dtg(*map(str, options), "--max-minutes", "0")
    assert "suspended after step 1 of 11. The same command with --resume resumes it." in done.stdout
    assert "of 46 sentences, 2 are kept for dev" in done.stderr and "lifted 1 arc in 1 sentence" in done.stderr
    done = dtg(*map(str, options), "--resume")
    assert "finished after step 11" in done.stdout and "nats per word" in done.stdout
    assert BiaffineParser.load(tmp_path / "run" / "best").parse(("a", "b")).tree.heads in enumerate_projective(2)
    assert "the parser has no setting height" in dtg(*map(str, options), "--set", "model.height=1", code=1).stderr
    config.write_text(config.read_text().replace("layers", "depth"))
    assert "the parser has no setting depth" in dtg(*map(str, options), code=1).stderr


def test_too_few_sentences_to_hold_some_out() -> None:
    with pytest.raises(InputError, match="Pass --dev FILE"):
        hold_out(some_trees(19))


def test_tags_and_confidences(tmp_path: Path) -> None:
    """The bundled parser: UPOS where there is none, and the marginal probability of each arc."""
    done = dtg("parse", "The dog barks.")
    (tmp_path / "out.conllu").write_text(done.stdout)
    (tree,) = read_conllu(tmp_path / "out.conllu")
    assert tree.source is not None
    assert [fields[3] for fields in tree.source.columns][:2] == ["DET", "NOUN"]
    shares = [float(fields[9].split("|")[0].removeprefix("Confidence=")) for fields in tree.source.columns]
    parsed = load_parser().parse("The dog barks.", annotate=True)
    assert parsed.tree == tree and parsed.arc_probabilities == pytest.approx(shares, abs=1e-4)
    assert all(parsed.probability - 1e-4 <= share <= 1 for share in shares)
    text = (tmp_path / "out.conllu").read_text().replace("NOUN", "PROPN")
    (tmp_path / "given.conllu").write_text(text)
    again = dtg("parse", tmp_path / "given.conllu").stdout
    assert "PROPN" in again and again.count("Confidence=") == 4


def test_trees_are_drawn(tmp_path: Path) -> None:
    shown = dtg("parse", "The dog barks.", "--draw").stdout
    assert "► 1 The    det" in shown and "p = 0." in shown and "# prob" not in shown
    picture = tmp_path / "tree.svg"
    done = dtg("parse", "The dog barks.", "--draw", picture)
    assert f"drew {picture}" in done.stderr and picture.read_text().startswith("<?xml")
    assert "leave out --out" in dtg("parse", "a", "--draw", "--out", tmp_path / "x.conllu", code=1).stderr
    assert "is for one tree" in dtg("parse", "The dog.", "--nbest", "2", "--draw", picture, code=1).stderr


def test_the_best_trees_of_a_language_model(tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    dtg("parse", "The dog barks.", "--by", "model", "--beam", "20", "--nbest", "2", "--out", out)
    first, second = read_conllu(out)
    assert first.heads != second.heads and comments(second)["tree"] == "2"
    assert float(comments(first)["log_joint"]) > float(comments(second)["log_joint"])
    best = load("dtg-small").parse("The dog barks.", beam=20)
    assert isinstance(best.tree, DependencyTree) and best.tree.heads == first.heads
    assert float(comments(first)["log_joint"]) == pytest.approx(best.log_probability, abs=1e-4)
    assert "--parser is for --by parser" in dtg("parse", "a", "--by", "model", "--parser", "x", code=1).stderr
    assert "without trees" in dtg("parse", "a", "--by", "model", "--model", "txl-mini", code=1).stderr


def test_what_was_called_sample_still_answers(parser: Path) -> None:
    now = dtg("parse", "a b c", "--parser", parser, "--sample-trees", "2", "--seed", "3")
    before = dtg("parse", "a b c", "--parser", parser, "--sample", "2", "--seed", "3")
    assert now.stdout == before.stdout and "--sample is called --sample-trees now; it still works." in before.stderr
