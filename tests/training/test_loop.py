"""The loop in one process: it learns, it repeats itself to the bit, it stops when asked, it refuses what does not fit."""

from __future__ import annotations

import errno
import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file, save_file

from dtg.errors import (
    CheckpointError,
    ConfigError,
    DtgError,
    InputError,
    LockedError,
    MissingExtraError,
    ResumeError,
    TrainingError,
)
from dtg.training import Reporter, RuntimeOptions
from dtg.training import checkpoint as checkpoint_module
from dtg.training import recorder as recorder_module
from dtg.training.learner import Learner
from dtg.training.loop import by_first
from dtg.training.report import DevScore, StepReport
from dtg.training.runtime import Runtime
from dtg.training.sampler import Sampler
from dtg.training.schedule import Schedule
from tests.training.standin import (
    ToyCorpus,
    ToyModel,
    assert_same,
    last_weights,
    log_without_times,
    toy_config,
    toy_train,
)

STEPS = 33  # 42 sentences, 4 at a time, 3 epochs


class Listener(Reporter):
    def __init__(self) -> None:
        self.steps: list[StepReport] = []
        self.dev: list[DevScore] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def stepped(self, progress: StepReport) -> None:
        self.steps.append(progress)

    def scored(self, score: DevScore) -> None:
        self.dev.append(score)

    def note(self, message: str) -> None:
        self.notes.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def suspend(out: Path, **more: Any) -> None:
    """Train for one step."""
    assert toy_train(out, max_minutes=0, **more).finished is None


def test_a_run_from_beginning_to_end(tmp_path: Path) -> None:
    listener = Listener()
    outcome = toy_train(tmp_path / "run", reporter=listener, score_test=True)
    assert (outcome.step, outcome.steps, outcome.finished) == (STEPS, STEPS, "complete")
    assert len(listener.steps) == STEPS and [score.step for score in listener.dev] == [5, 10, 15, 20, 25, 30, 33]
    assert listener.dev[-1].tally.loss < listener.dev[0].tally.loss
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "best",
        "checkpoints",
        "curves.png",
        "log.jsonl",
    ]
    assert sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir()) == [
        "step-00000032",
        "step-00000033",
    ]
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    first, *records = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert first["format_version"] == 1 and first["kind"] == "run" and first["steps"] == STEPS
    assert [r["step"] for r in records if r["kind"] == "train"] == [*range(2, STEPS, 2), STEPS]
    assert records[-1]["kind"] == "test" and records[-1]["loss"] == outcome.test.loss  # type: ignore[union-attr]
    assert records[-2]["words"] == first["words"] == 3 * int(ToyCorpus().splits["train"].word_counts.sum())
    assert records[0]["time"]["words_per_second"] > 0 and 0 <= records[0]["padded_share"] < 0.5
    assert math.isclose(math.log(records[0]["word_perplexity"]), records[0]["loss"] * records[0]["predicted"] / 32)


def test_two_identical_runs_are_equal_to_the_bit(tmp_path: Path, whole: Path) -> None:
    toy_train(tmp_path / "same")
    assert_same(whole, tmp_path / "same")
    toy_train(tmp_path / "other", seed=4)
    name = "embedding.weight"
    assert not torch.equal(last_weights(whole)[name], last_weights(tmp_path / "other")[name])


def test_suspended_at_every_step_and_resumed_is_the_same_run(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "draw_run", lambda records, path: None)  # 33 times would take long
    suspend(tmp_path / "parts")
    for _ in range(STEPS - 2):
        suspend(tmp_path / "parts", resume=True)
    listener = Listener()
    outcome = toy_train(tmp_path / "parts", resume=True, reporter=listener)
    assert outcome.finished == "complete" and len(listener.steps) == 1
    assert_same(whole, tmp_path / "parts")
    again = toy_train(tmp_path / "parts", resume=True, reporter=listener, score_test=True)
    assert again.finished == "complete" and again.test is not None
    assert "the run was finished at step 33" in listener.notes[-1]


def test_the_loss_is_the_sum_over_all_batches_by_their_predictions(tmp_path: Path) -> None:
    """The slow twin: one update with plain torch from the whole batch at once."""
    corpus, config = ToyCorpus(), toy_config(accumulate=3, gradient_norm=0.5)
    split = corpus.splits["train"]
    sampler = Sampler(split.piece_counts, split.word_counts, config, 3)
    schedule = Schedule.of(config, sampler.plan.steps)
    step = next(sampler.steps_from(2))
    model, twin = ToyModel(dropout=0.0), ToyModel(dropout=0.0)
    tally, norm, _ = Learner(model, config, schedule, Runtime(RuntimeOptions(device="cpu"))).update(step, split, False)
    found = [twin.loss(split.batch(batch, "cpu")) for batch in step.batches]
    mean = sum(one.total for one in found) / sum(one.predicted for one in found)
    assert isinstance(mean, torch.Tensor)
    loss = float(mean.detach())
    mean.backward()
    expected = torch.nn.utils.clip_grad_norm_(twin.parameters(), 0.5)
    rate = schedule.rate(2)
    groups = [{"params": twin.embedding.parameters(), "lr": 2 * rate}, {"params": twin.layers.parameters(), "lr": rate}]
    torch.optim.AdamW(groups, weight_decay=0.0).step()
    assert tally.loss == pytest.approx(loss) and norm == pytest.approx(float(expected))
    for (name, mine), theirs in zip(model.named_parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, msg=name)


def test_models_are_kept_for_learning_curves(tmp_path: Path, whole: Path) -> None:
    """The same ones whether or not the run was interrupted; the run itself is as without them."""
    run, broken = tmp_path / "run", tmp_path / "broken"
    toy_train(run, save_every=11)
    suspend(broken, save_every=11)
    leftover = broken / "models" / ".step-00000011.7.partial"
    leftover.mkdir(parents=True)
    toy_train(broken, save_every=11, resume=True)
    assert not leftover.exists()
    assert_same(run, broken)
    weights = last_weights(whole)
    assert all(torch.equal(weights[name], tensor) for name, tensor in last_weights(run).items())
    models = [folder / "model.safetensors" for folder in sorted((run / "models").iterdir())]
    assert [path.parent.name for path in models] == ["step-00000011", "step-00000022", "step-00000033"]
    contents = [path.read_bytes() for path in models]
    assert contents == [(broken / path.relative_to(run)).read_bytes() for path in models]
    assert len(set(contents)) == 3 and all(
        torch.equal(weights[name], one) for name, one in load_file(models[-1]).items()
    )


def test_early_stopping_keeps_the_best(tmp_path: Path) -> None:
    listener = Listener()
    outcome = toy_train(
        tmp_path / "run", reporter=listener, patience=3, dev_every=1, peak_rate=0.5, start_rate=0.5, epochs=30
    )
    assert outcome.finished == "early" and outcome.step < outcome.steps
    assert [score.improved for score in listener.dev[-4:]] == [True, False, False, False]
    assert outcome.best_step == listener.dev[-4].step
    assert outcome.best_loss == min(score.tally.loss for score in listener.dev)
    best = load_file(tmp_path / "run" / "best" / "model.safetensors")
    assert not torch.equal(best["embedding.weight"], last_weights(tmp_path / "run")["embedding.weight"])


def test_a_damaged_checkpoint_costs_only_the_steps_after_the_one_before(tmp_path: Path, whole: Path) -> None:
    shutil.copytree(whole, tmp_path / "hurt")
    last = tmp_path / "hurt" / "checkpoints" / "step-00000033" / "optimizer.safetensors"
    last.write_bytes(last.read_bytes()[:-5])
    listener = Listener()
    toy_train(tmp_path / "hurt", resume=True, reporter=listener)
    assert [progress.step for progress in listener.steps] == [33]
    assert len(listener.warnings) == 1 and "optimizer.safetensors was altered or cut short" in listener.warnings[0]
    assert_same(whole, tmp_path / "hurt")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"peak_rate": 0.02}, "training.peak_rate was 0.01, is now 0.02"),
        ({"corpus": ToyCorpus(name="other")}, "corpus was corpus, is now other"),
        ({"corpus": ToyCorpus(vocabulary="other")}, "vocabulary was pieces, is now other"),
        ({"accumulate": 2}, "batches_per_step was 1, is now 2"),
        ({"options": RuntimeOptions("no", False, "cpu"), "dev_every": 6}, "training.dev_every was 5, is now 6"),
    ],
)
def test_another_configuration_corpus_or_vocabulary_is_not_resumed(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    suspend(tmp_path / "run")
    before = (tmp_path / "run" / "log.jsonl").read_bytes()
    with pytest.raises(ResumeError) as caught:
        toy_train(tmp_path / "run", resume=True, **more)
    assert message in str(caught.value) and "train into another folder" in str(caught.value)
    assert (tmp_path / "run" / "log.jsonl").read_bytes() == before


def test_a_run_is_not_written_over(tmp_path: Path) -> None:
    suspend(tmp_path / "run")
    with pytest.raises(TrainingError, match="already has 1 checkpoint of a run"):
        toy_train(tmp_path / "run")
    (tmp_path / "file").touch()
    with pytest.raises(TrainingError, match="is a file; a run needs a folder"):
        toy_train(tmp_path / "file")


def test_resuming_what_never_began_begins_it(tmp_path: Path) -> None:
    listener = Listener()
    assert toy_train(tmp_path / "run", resume=True, reporter=listener).finished == "complete"
    assert "no checkpoint yet; starting from the beginning" in listener.notes[0]


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(tmp_path: Path, whole: Path) -> None:
    with pytest.raises(TrainingError, match="the loss at step 7 is nan; the weights were not changed by it"):
        toy_train(tmp_path / "run", model=ToyModel(poison_after=6))
    outcome = toy_train(tmp_path / "run", resume=True)
    assert outcome.finished == "complete"
    assert_same(whole, tmp_path / "run")


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = [0]

    def full(tensors: Any, path: Path) -> None:
        written[0] += 1
        if written[0] == 5:  # in the middle of the second checkpoint
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        save_file(tensors, path)

    monkeypatch.setattr(checkpoint_module, "save_file", full)
    with pytest.raises(TrainingError) as caught:
        toy_train(tmp_path / "run")
    assert "cannot write a checkpoint in" in str(caught.value) and "No space left on device" in str(caught.value)
    assert "step-00000004 is kept" in str(caught.value) and "--resume" in str(caught.value)
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-00000004"]
    toy_train(tmp_path / "run", resume=True)
    assert_same(whole, tmp_path / "run")


def test_weights_of_another_shape_are_refused(tmp_path: Path) -> None:
    suspend(tmp_path / "run")
    model = ToyModel()
    model.layers.append(torch.nn.Linear(16, 16))
    with pytest.raises(CheckpointError, match=r"of another model: they differ in layers\.2\.bias"):
        toy_train(tmp_path / "run", model=model, resume=True)


def test_a_lost_log_is_told_and_does_not_stop_anyone(tmp_path: Path) -> None:
    suspend(tmp_path / "run")
    (tmp_path / "run" / "log.jsonl").unlink()
    listener = Listener()
    assert toy_train(tmp_path / "run", resume=True, reporter=listener).finished == "complete"
    assert "log.jsonl is shorter than when the checkpoint was written" in listener.warnings[0]
    assert log_without_times(tmp_path / "run")[0]["kind"] == "run"


def test_without_a_reporter_warnings_are_python_warnings(tmp_path: Path) -> None:
    suspend(tmp_path / "run")
    (tmp_path / "run" / "log.jsonl").unlink()
    with pytest.warns(UserWarning, match="log.jsonl is shorter"):
        toy_train(tmp_path / "run", resume=True)


def test_splits_that_are_missing(tmp_path: Path) -> None:
    corpus = ToyCorpus()
    corpus.splits = {name: split for name, split in corpus.splits.items() if name == "train"}
    with pytest.raises(InputError, match="the corpus has no dev sentences; prepare it again with files for dev"):
        toy_train(tmp_path / "run", corpus=corpus)
    corpus.splits = {**corpus.splits, "dev": ToyCorpus().splits["dev"]}
    with pytest.raises(InputError, match="no test sentences"):
        toy_train(tmp_path / "run", corpus=corpus, score_test=True)
    assert not (tmp_path / "run").exists()


def test_a_group_that_forgets_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToyModel, "parameter_groups", lambda self, rate: [{"params": list(self.layers.parameters())}])
    with pytest.raises(TrainingError, match="each of its trainable parameters exactly once"):
        toy_train(tmp_path / "run")


def test_machines_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="FSDP shards a model over processes, but there is only one"):
        toy_train(tmp_path / "run", options=RuntimeOptions(fsdp=True, device="cpu"))
    with pytest.raises(InputError, match="FSDP goes with precision no or bf16"):
        RuntimeOptions("fp16", fsdp=True)
    with pytest.raises(ConfigError, match="has no setting"):
        toy_config(nothing=1)
    monkeypatch.setitem(__import__("sys").modules, "accelerate", None)
    with pytest.raises(MissingExtraError, match=r"training needs accelerate.*pip install '\.\[train\]'"):
        toy_train(tmp_path / "run")


def test_half_precision_on_a_cpu_is_not_left_out_in_silence() -> None:
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state()  # it holds the precision of the runs above
    try:
        with pytest.raises(InputError, match="precision fp16 needs a GPU"):
            Runtime(RuntimeOptions("fp16", device="cpu"))
    finally:
        AcceleratorState._reset_state()


def test_what_the_first_process_cannot_do_ends_all() -> None:
    """The first ends with its error, the others with a word of it; where it can, all go on."""
    refused, done = LockedError("taken"), list[int]()

    def refuse() -> None:
        raise refused

    for is_main, expected in ((True, "taken"), (False, "the first process of the run cannot begin; it says why")):
        runtime = SimpleNamespace(is_main=is_main, sum=lambda _flags: [1.0])
        with pytest.raises(DtgError, match=expected):
            by_first(cast(Any, runtime), refuse)
    by_first(cast(Any, SimpleNamespace(is_main=True, sum=lambda flags: flags)), lambda: done.append(1))
    by_first(cast(Any, SimpleNamespace(is_main=False, sum=lambda flags: flags)), lambda: done.append(2))
    assert done == [1]
