"""tools/sweep.py: every run is a valid configuration, and the table says what logs say."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest

from dtg.cli.training import changed, read_config
from dtg.model import ModelConfig
from dtg.training import TrainingConfig
from tools import sweep


@pytest.mark.parametrize("name", sweep.RUNS)
def test_runs_are_what_their_commands_say(name: str, tmp_path: Path) -> None:
    command = sweep.command(name, tmp_path / "corpus", tmp_path, 1000, 8)
    settings = [command[place + 1] for place, one in enumerate(command) if one == "--set"]
    config = changed(read_config(Path(command[4])), settings)
    model, training = sweep.tables(sweep.RUNS[name], 1000)
    assert ModelConfig.from_dict(config["model"]) == ModelConfig.from_dict(model)
    assert TrainingConfig.from_dict({**config["training"], "dev_every": 1000}) == TrainingConfig.from_dict(training)
    assert "--resume" not in command
    (tmp_path / name).mkdir()
    assert sweep.command(name, tmp_path / "corpus", tmp_path, 1000, None)[-1] == "--resume"


def write_log(folder: Path, perplexity: float, step: int = 10) -> None:
    folder.mkdir(parents=True)
    dev = {"kind": "dev", "step": step, "words": 253_500, "word_perplexity": perplexity}
    lines = [{"kind": "run", "steps": 10}, {"kind": "train", "step": step}, dev]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path / "base", math.exp(8.0))
    write_log(tmp_path / "muon", math.exp(7.75))
    write_log(tmp_path / "swiglu", math.exp(7.0), step=5)  # not finished
    write_log(tmp_path / "modern", math.exp(7.0))
    write_log(tmp_path / "modern-2e-3", math.exp(7.125))
    (tmp_path / sweep.TIMES).write_text(json.dumps({"base": {"seconds": 0.4}, "muon": {"seconds": 0.5}}))
    sweep.main(["table", "--out", str(tmp_path)])
    assert capsys.readouterr().out.splitlines() == [
        "| run | differs in | dev, nats per word | difference | time of a step |",
        "|---|---|---|---|---|",
        "| base |  | 8.000 |  | 1.00 |",
        "| modern | norm = pre, norm_kind = rms, activation = relu_squared, query_key_norm = true, zero_outputs = true, "
        "optimizer = muon, decay = trapezoid | 7.000 | -1.000 (base) |  |",
        "| muon | optimizer = muon | 7.750 | -0.250 (base) | 1.25 |",
        "| modern-2e-3 | peak_rate = 0.002 | 7.125 | +0.125 (modern) |  |",
        "",
        "After 253,500 words. Differences and times are from what a run is compared with: base, or modern.",
    ]


def test_the_table_has_circuits_where_they_were_evaluated(tmp_path: Path) -> None:
    for name in ("base", "hybrid-2-2"):
        write_log(tmp_path / name, 100.0)
    results = tmp_path / "sg" / "hybrid-2-2"
    results.mkdir(parents=True)
    circuits = {"Agreement": {"accuracy": 50.0}, "Garden-path": {"accuracy": 62.5}, "Long-distance": {"accuracy": 75.0}}
    averages = [
        {"suites": suites, "mean": mean, "accuracy": accuracy}
        for suites, mean, accuracy in (
            ("34 suites", "suite mean", 10.0),
            ("33 suites", "micro", 20.0),
            ("33 suites", "suite mean", 60.0),
        )
    ]
    scores = {"first": {"circuits": circuits, "averages": averages}}
    (results / "results.json").write_text(json.dumps({"scores": scores}))
    head, _, base, hybrid, *_ = sweep.table(tmp_path).splitlines()
    assert head.endswith("| time of a step | Agreement | Garden-path | Long-distance | SyntaxGym |")
    assert base.endswith("|  |  |  |  |  |") and hybrid.endswith("| 50.0 | 62.5 | 75.0 | 60.0 |")


def test_seeds_stand_side_by_side(tmp_path: Path) -> None:
    for name, nats in (("modern", 7.0), ("modern-seed1", 7.25), ("modern-2e-3", 7.5), ("modern-2e-3-seed2", 8.0)):
        write_log(tmp_path / name, math.exp(nats))
    _, _, modern, faster, *_ = sweep.table(tmp_path).splitlines()
    assert "| 7.125 (7.000, 7.250) |  |" in modern
    assert "| 7.750 (7.500, 8.000) | +0.625 (modern) |" in faster
    command = sweep.command("hybrid-2-2-seed1", tmp_path, tmp_path, 1000, None)
    assert "training.seed=1" in command and "model.family=dtg-hybrid" in command
    assert sweep.settings_of("modern-2e-3") == sweep.RUNS["modern-2e-3"]  # not a seed


def test_what_is_finished_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_log(tmp_path / "base", 100.0)
    commands: list[list[str]] = []

    class Done:
        returncode = 0

    def take_down(command: list[str], check: bool) -> Done:
        commands.append(command)
        return Done()

    monkeypatch.setattr("tools.sweep.subprocess.run", take_down)
    sweep.main(["train", "--data", "c", "--out", str(tmp_path), "--lock", str(tmp_path / "lock"), "base", "muon"])
    assert len(commands) == 1 and "training.optimizer=muon" in commands[0]
    sweep.main(["evaluate", "--sg", "suites", "--out", str(tmp_path), "base", "muon"])
    _, evaluation = commands  # muon has no model
    assert evaluation[3:7] == ["evaluate", "sg", "suites", "--model"] and str(tmp_path / "sg" / "base") in evaluation


def test_runs_of_other_machines_are_kept_and_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, kept = tmp_path / "runs", tmp_path / "kept"
    write_log(runs / "base", 100.0)
    write_log(runs / "muon", 90.0, step=5)  # not finished
    results = runs / "sg" / "base"
    results.mkdir(parents=True)
    circuits = {name: {"accuracy": 50.0} for name in sweep.CIRCUITS}
    averages = [{"suites": "33 suites", "mean": "suite mean", "accuracy": 60.0}]
    (results / "results.json").write_text(
        json.dumps({"scores": {"first": {"circuits": circuits, "averages": averages}}})
    )
    (results / "verdicts.csv").write_text("suite,item\n")
    (results / "words.csv").write_text("large")
    sweep.main(["keep", "--out", str(runs), "--known", str(kept)])
    assert {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()} == {
        "base/log.jsonl",
        "sg/base/results.json",
        "sg/base/verdicts.csv",
    }
    assert sweep.table(kept) == sweep.table(runs)
    commands: list[list[str]] = []

    def take_down(command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr("tools.sweep.subprocess.run", take_down)
    elsewhere = str(tmp_path / "elsewhere")
    sweep.main(["train", "--data", "c", "--out", elsewhere, "--known", str(kept), "base", "muon"])
    assert len(commands) == 1 and "training.optimizer=muon" in commands[0]


def test_mistakes_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in ((["train", "best"], "there is no run best; there are base,"), (["time"], "needs --out")):
        with pytest.raises(SystemExit):
            sweep.main(arguments)
        assert message in capsys.readouterr().err


def test_in_equal_time_slower_models_read_fewer_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.sweep.train", lambda names, data, out, budget, *others: found.update(budget))
    found: dict[str, int] = {}
    arguments = ["train", "--data", "c", "--out", str(tmp_path), "--equal-time", "modern", "size-384x8"]
    with pytest.raises(SystemExit, match="not known of modern, size-384x8"):
        sweep.main(arguments)
    times = {"modern": {"seconds": 2.0}, "size-384x8": {"seconds": 5.0}}
    (tmp_path / sweep.TIMES).write_text(json.dumps(times))
    sweep.main(arguments)
    assert found == {"modern": sweep.WORDS, "size-384x8": int(sweep.WORDS / 2.5)}
