"""`dtg train` as a user meets it: a real model on a small corpus, suspended, resumed, loaded; and mistakes."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from dtg.cli.training import changed, read_config
from dtg.errors import ConfigError
from dtg.io.locks import locked_folder
from tests.cli.running import dtg

CONFIG = """
[model]
family = "dtg"
vocabulary = {vocabulary}
layers = 1
width = 16
attention_heads = 2
head_width = 8
feedforward = 32

[training]
batch_sentences = 8
epochs = 2
peak_rate = 1e-2
warmup_share = 0.1
log_every = 1
checkpoint_every = 3
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences of invented words; every word depends on the one before."""
    from dtg.text import prepare_corpus

    folder, numbers = tmp_path_factory.mktemp("corpus"), random.Random(0)
    words = ["".join(numbers.choices("abcdefghij", k=numbers.randint(2, 6))) for _ in range(200)]
    for split, count in (("train", 40), ("dev", 6), ("test", 5)):
        sentences = [numbers.choices(words, k=numbers.randint(2, 9)) for _ in range(count)]
        lines = [
            "".join(
                f"{i + 1}\t{word}\t_\t_\t_\t_\t{i}\t{'dep' if i else 'root'}\t_\t_\n" for i, word in enumerate(sentence)
            )
            for sentence in sentences
        ]
        (folder / f"{split}.conllu").write_text("\n".join(lines) + "\n")
    files = {split: [folder / f"{split}.conllu"] for split in ("train", "dev", "test")}
    prepare_corpus(files, folder / "prepared", vocabulary=300)
    return folder / "prepared"


@pytest.fixture
def config(corpus: Path, tmp_path: Path) -> Path:
    from dtg.text import Corpus

    path = tmp_path / "small.toml"
    path.write_text(CONFIG.format(vocabulary=Corpus.open(corpus).tokenizer.size))
    return path


def test_train_suspend_resume_and_load(corpus: Path, config: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ("train", config, "--set", "training.epochs=2", "--data", corpus, "--out", out, "--threads", "1")
    first = dtg(*command, "--max-minutes", "0")
    assert "suspended after step 1 of 10. To resume it:" in first.stdout
    assert f"{config} --set training.epochs=2 --data {corpus} --out {out} --resume" in first.stdout
    assert "Pass --resume to continue it" in dtg(*command, code=1).stderr
    second = dtg(*command, "--resume", "--score-test")
    assert "finished after step 10" in second.stdout
    assert "test: " in second.stdout and "per piece (words and tree together, <END> counted)" in second.stdout
    assert "starting at step 1" in second.stderr and "(best so far)" in second.stderr
    records = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [r["step"] for r in records if r["kind"] == "train"] == list(range(1, 11))

    from dtg.model import DecoderModel

    model = DecoderModel.load(out / "best")
    assert model.score_ids([[5], [6]], [2, 0]) < 0

    count = sum(parameter.numel() for parameter in model.parameters())
    best = min((record for record in records if record["kind"] == "dev"), key=lambda record: record["loss"])
    shown = dtg("info", out / "best").stdout
    for expected in (
        f"{count:,} parameters, ",
        'family = "dtg"',
        "trained for 10 of 10 steps, on ",
        f"the corpus with hash {records[0]['corpus']}",
        f"best on dev at step {best['step']}: {best['loss']:.4f} nats per prediction; perplexity ",
        "test: ",
    ):
        assert expected in shown
    as_json = json.loads(dtg("info", out, "--json").stdout)  # the run stands for its best model
    assert as_json["parameters"] == count and as_json["settings"]["layers"] == 1
    assert as_json["run"]["best_on_dev"]["loss"] == best["loss"] and as_json["run"]["steps"] == 10
    assert as_json["run"]["words"] == as_json["run"]["words_planned"] == records[0]["words"]


def test_mistakes_are_answered(corpus: Path, config: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(config.read_text().replace("log_every = 1", "log_evry = 1"))
    out = ("--data", corpus, "--out", tmp_path / "run")
    assert (
        "[training] has no setting log_evry. Known: seed, batch_sentences" in dtg("train", wrong, *out, code=1).stderr
    )
    assert "'mlflow'" in dtg("train", "tiny", *out, "--log-with", "mlflow", code=1).stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nlayers = ", "is not a TOML file"),
        ("[model]\n", "has no table [training]; [model] and [training] are needed"),
        ("[model]\n[training]\n[optimizer]\n", "unknown table or key 'optimizer'. Known: [model], [training]"),
        (None, "cannot read the configuration"),
    ],
)
def test_configuration_files_that_cannot_be_read(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "config.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert message in str(caught.value)


def test_settings_can_be_changed_on_the_command_line() -> None:
    tables: dict[str, dict[str, object]] = {"model": {"family": "dtg", "layers": 6}, "training": {"peak_rate": 1e-3}}
    changes = [
        "model.family=txl-tokens",
        'model.arc_representation="arc"',
        "model.layers = 4",
        "training.peak_rate=5e-4",
    ]
    found = changed(tables, changes)
    assert found["model"] == {"family": "txl-tokens", "layers": 4, "arc_representation": "arc"}
    assert found["training"] == {"peak_rate": 5e-4}
    assert tables["model"] == {"family": "dtg", "layers": 6}
    for wrong in ("layers=4", "model.layers", "modle.layers=4", "model.=4"):
        with pytest.raises(ConfigError, match=r"is not a setting\. Write model\.KEY=VALUE"):
            changed(tables, [wrong])


def test_of_two_settings_that_exclude_each_other_the_command_line_has_the_last_word() -> None:
    tables: dict[str, dict[str, object]] = {"model": {}, "training": {"epochs": 1, "warmup_share": 0.1}}
    assert changed(tables, ["training.words=1_000"])["training"] == {"words": 1000, "warmup_share": 0.1}
    assert changed(tables, ["training.warmup_steps=5"])["training"] == {"epochs": 1, "warmup_steps": 5}
    both = changed(tables, ["training.words=10", "training.epochs=2"])["training"]  # refused later, by TrainingConfig
    assert both == {"words": 10, "epochs": 2, "warmup_share": 0.1}


def test_a_damaged_corpus_is_not_trained_on(corpus: Path, config: Path, tmp_path: Path) -> None:
    """One bit, of the same length: only the hashes tell. Nothing is written."""
    copy = shutil.copytree(corpus, tmp_path / "copy")
    pieces = copy / "train" / "pieces.npy"
    content = bytearray(pieces.read_bytes())
    content[-8] ^= 1
    pieces.write_bytes(content)
    command = ("train", config, "--data", copy, "--out", tmp_path / "run", "--threads", "1")
    told = dtg(*command, code=1).stderr
    assert f"{pieces} was altered: it does not have the hash that the manifest gives." in told
    assert not (tmp_path / "run").exists()
    assert "finished after step 10" in dtg(*command, "--no-verify").stdout


def test_two_do_not_train_in_one_folder(corpus: Path, config: Path, tmp_path: Path) -> None:
    command = ("train", config, "--data", corpus, "--out", tmp_path / "run", "--threads", "1")
    with locked_folder(tmp_path / "run"):
        for options in ((), ("--resume",)):
            told = dtg(*command, *options, code=1).stderr
            assert f"cannot write {tmp_path / 'run'}: another process is writing it (process {os.getpid()} on" in told
        assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").touch()  # as a killed process leaves it
    dtg(*command, "--max-minutes", "0")
    assert not (tmp_path / "run" / ".lock").exists()


@pytest.mark.parametrize("setting", ["model.width=1000000000", "model.layers=100000000", "model.family=[]"])
def test_absurd_models_are_answered_at_once(corpus: Path, config: Path, tmp_path: Path, setting: str) -> None:
    told = dtg("train", config, "--set", setting, "--data", corpus, "--out", tmp_path / "run", code=1).stderr
    assert "which need" in told or "is expected" in told or "there cannot be" in told
    assert not (tmp_path / "run").exists()


def test_embeddings_from_the_corpus(corpus: Path, config: Path, tmp_path: Path) -> None:
    first = {}
    for kind in ("random", "corpus"):
        out = tmp_path / kind
        where = ("--data", corpus, "--out", out, "--threads", "1", "--max-minutes", "0")
        dtg("train", config, "--set", f"training.embeddings={kind}", *where)
        first[kind] = next(
            record["loss"]
            for line in (out / "log.jsonl").read_text().splitlines()
            if (record := json.loads(line))["kind"] == "train"
        )
    assert first["corpus"] < first["random"] - 0.02  # frequent subwords are known to be frequent


def losses(out: Path) -> list[float]:
    """Of the training steps of a run, in nats per prediction."""
    records = map(json.loads, (out / "log.jsonl").read_text().splitlines())
    return [record["loss"] for record in records if record["kind"] == "train"]


def test_training_starts_from_a_trained_model(corpus: Path, config: Path, tmp_path: Path) -> None:
    base = ("--data", corpus, "--threads", "1")
    dtg("train", config, *base, "--out", tmp_path / "first")
    best = tmp_path / "first" / "best"
    other = tmp_path / "other.toml"  # another [model], which is not used
    other.write_text(
        config.read_text().replace("layers = 1", "layers = 3").replace("peak_rate = 1e-2", "peak_rate = 1e-3")
    )
    command = ("train", other, "--from", best, "--set", "model.dropout=0.1", *base, "--out", tmp_path / "second")
    suspended = dtg(*command, "--max-minutes", "0").stdout
    assert f"--set model.dropout=0.1 --from {best} --data" in suspended  # what resumes it
    dtg(*command, "--resume")
    assert losses(tmp_path / "second")[0] < losses(tmp_path / "first")[0] - 0.3  # not from scratch
    run = json.loads((tmp_path / "second" / "log.jsonl").read_text().splitlines()[0])
    assert (run["model"]["layers"], run["model"]["dropout"]) == (1, 0.1) and len(run["model"]["start"]) == 64
    dtg("info", tmp_path / "second" / "best")  # a model like any other

    changed_start = dtg(*(tmp_path / "second" / "best" if one is best else one for one in command), "--resume", code=1)
    assert "model.start was" in changed_start.stderr
    refused = dtg(*command[:-1], tmp_path / "third", "--set", "model.layers=2", code=1).stderr
    assert "layers cannot be set: a model that starts from" in refused and "What may differ is dropout" in refused
    foreign = dtg("train", other, "--from", "dtg-mini", *base, "--out", tmp_path / "third", code=1).stderr
    assert "has other subwords than" in foreign and "tokenizer.model" in foreign
    assert not (tmp_path / "third").exists()
