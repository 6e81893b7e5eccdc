"""A saved model or parser that was altered is not loaded in silence, and what config.json says is checked before it is used."""

from __future__ import annotations

import json
import math
import random
import resource
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import dtg
from dtg import pretrained
from dtg.errors import CheckpointError, ConfigError, DtgError, NotFiniteError
from dtg.families import FAMILIES
from dtg.io import weights
from dtg.io.hashing import file_hash
from dtg.io.messages import DtgWarning
from dtg.io.weights import check_fits_memory, shapes_of
from dtg.language_model import LanguageModel
from dtg.model import DecoderModel, ModelConfig
from dtg.model.model import make_family
from dtg.model.symbols import Symbols
from dtg.parser import BiaffineParser, ParserConfig
from dtg.text import Tokenizer
from tests.model.test_released import IDS, released_weights
from tests.parser.parsers import small_corpus, small_parser
from tests.reference.cases import SAVED

ODD: tuple[Any, ...] = (None, True, -1, 0, 1.5, 10**6, 10**12, 2**63, 10**30, "x", "", [], {}, [1], math.inf)
SIZES: dict[str, Any] = {"layers": 2, "width": 8, "attention_heads": 4, "head_width": 4, "feedforward": 10}


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train("the dog chased a big cat that saw mice run quickly".split() * 3, 290)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = ModelConfig(vocabulary=tokenizer().size, **SIZES)
    DecoderModel.create(config, tokenizer()).save(tmp_path / "model")
    return tmp_path / "model"


def resigned(folder: Path) -> None:
    """As if the files had been saved like this: their hashes are those of the manifest again."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = {name: file_hash(folder / name) for name in manifest["files"]}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def change(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Edit config.json, hashes and all."""
    content = json.loads((folder / "config.json").read_text())
    edit(content)
    (folder / "config.json").write_text(json.dumps(content))
    resigned(folder)


def test_one_bit_anywhere_is_found(folder: Path) -> None:
    numbers = random.Random(0)
    for name in ("model.safetensors", "tokenizer.model", "config.json"):
        content = (folder / name).read_bytes()
        places = [0, len(content) - 1, *(numbers.randrange(len(content)) for _ in range(10))]
        for place in places:
            altered = bytearray(content)
            altered[place] ^= 1 << numbers.randrange(8)
            (folder / name).write_bytes(altered)
            with pytest.raises(DtgError) as found:
                dtg.load(folder)
            if name != "config.json":  # which may no longer be JSON
                assert f"cannot load {folder / name}: it is not the" in str(found.value)
                assert "verify=False loads it as it is" in str(found.value)
        (folder / name).write_bytes(content)
    dtg.load(folder)


def test_verify_false_loads_it_anyway(folder: Path) -> None:
    altered = bytearray((folder / "model.safetensors").read_bytes())
    altered[-4] ^= 1
    (folder / "model.safetensors").write_bytes(altered)
    with pytest.raises(CheckpointError, match="not the weights file that the model was saved with"):
        dtg.load(folder)
    for load in (dtg.load, LanguageModel.load, DecoderModel.load):
        load(folder, verify=False)
    parser = folder.with_name("parser")
    small_parser().save(parser)
    altered = bytearray((parser / "model.safetensors").read_bytes())
    altered[-4] ^= 1
    (parser / "model.safetensors").write_bytes(altered)
    with pytest.raises(CheckpointError, match="not the weights file that the parser was saved with"):
        dtg.load_parser(parser)
    dtg.load_parser(parser, verify=False)


def test_files_that_are_missing_or_not_in_the_manifest(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == {"config.json", "model.safetensors", "tokenizer.model"}
    others = {name: sha for name, sha in manifest["files"].items() if name != "tokenizer.model"}
    for content, message in (
        ({**manifest, "files": others}, r"tokenizer\.model: .*manifest\.json has no hash of it"),
        ({**manifest, "files": {**manifest["files"], "gone": "0"}}, "gone: it is missing"),
        ({**manifest, "files": {**manifest["files"], "../a": "0"}}, "which is not in the folder"),
        ({**manifest, "files": []}, "is not the manifest of a model or parser"),
        ({**manifest, "format_version": 2}, "is not the manifest of a model or parser"),
        ([], "is not the manifest of a model or parser"),
    ):
        (folder / "manifest.json").write_text(json.dumps(content))
        with pytest.raises(CheckpointError, match=message):
            dtg.load(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot read"):
        dtg.load(folder)


def test_cards_are_not_hashed(folder: Path) -> None:
    (folder / "CARD.md").write_text("one")
    dtg.load(folder)
    for name in pretrained.names():
        found = pretrained.find(name)
        manifest = json.loads((found / "manifest.json").read_text())
        present = {path.relative_to(found).as_posix() for path in found.rglob("*") if path.is_file()}
        assert set(manifest["files"]) == present - {"manifest.json", "CARD.md"}


def test_bundled_models_are_checked(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    for name in pretrained.names():
        copy = shutil.copytree(pretrained.find(name), tmp_path / name)
        load: Any = dtg.load_parser if "parser" in name else dtg.load
        load(copy)
        altered = bytearray((copy / "model.safetensors").read_bytes())
        altered[len(altered) // 2] ^= 1
        (copy / "model.safetensors").write_bytes(altered)
        with pytest.raises(CheckpointError, match="altered or cut short"):
            load(copy)
    assert not recwarn.list


def test_models_from_before_load_with_a_note() -> None:
    for name in ("model", "released"):
        with pytest.warns(DtgWarning, match=rf"{name} has no manifest.json: .* cannot be checked"):
            dtg.load(SAVED / name)
    with pytest.warns(DtgWarning, match="cannot be checked. To have it checked from now on, load it and save it again"):
        dtg.load_parser(SAVED / "parser")
    assert not (SAVED / "model" / "manifest.json").exists()


def test_saving_over_a_model_is_whole_or_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the last file, weights of one model and the configuration of another do not pass for a model."""
    other = DecoderModel.create(ModelConfig(vocabulary=tokenizer().size, **SIZES), tokenizer(), seed=1)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr("dtg.model.saving.write_config", killed)
        other.save(folder)
    with pytest.raises(CheckpointError, match="not the weights file"):
        dtg.load(folder)
    other.save(folder)
    dtg.load(folder)


@pytest.mark.parametrize("kind", [torch.int64, torch.int8, torch.bool, torch.complex64, torch.uint8])
def test_weights_of_another_type_are_refused(folder: Path, kind: torch.dtype) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.to(kind) for name, tensor in tensors.items()}, folder / "model.safetensors")
    resigned(folder)
    with pytest.raises(CheckpointError, match=r"is of the type \w+; F16, BF16, F32, F64 are expected"):
        dtg.load(folder)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_other_precision_are_taken(folder: Path, kind: torch.dtype) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.to(kind) for name, tensor in tensors.items()}, folder / "model.safetensors")
    resigned(folder)
    model = dtg.load(folder).decoder_model
    assert {tensor.dtype for tensor in model.state_dict().values()} == {torch.float32}


def test_weights_that_do_not_fit_are_named(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    first, *others = tensors
    for changed, message in (
        ({name: tensors[name] for name in others}, f"config.json describes, and the file lacks {first}"),
        ({**tensors, "more": tensors[first].clone()}, "config.json does not describe more"),
        ({**tensors, first: tensors[first][:-1].clone()}, rf"{first} has the shape .* and config.json says"),
    ):
        save_file(changed, folder / "model.safetensors")
        resigned(folder)
        with pytest.raises(CheckpointError, match=message):
            dtg.load(folder)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_not_finite_are_named(folder: Path, value: float) -> None:
    tensors = load_file(folder / "model.safetensors")
    for name in tensors:
        changed = {**tensors, name: tensors[name].clone()}
        changed[name].view(-1)[-1] = value
        save_file(changed, folder / "model.safetensors")
        resigned(folder)
        with pytest.raises(
            NotFiniteError, match=rf"{name} in .*model.safetensors is NaN or infinite: check the model's"
        ):
            dtg.load(folder)
    dtg.load(folder, verify=False)


@pytest.mark.parametrize("root", [5, -1, True, 1.5, 10**9, None, "x", [], 10**30])
def test_root_is_checked(folder: Path, root: Any) -> None:
    change(folder, lambda content: content.update(root=root))
    with pytest.raises(
        CheckpointError, match=r"config\.json: root is .*(the number of a subword|the vocabulary has it)"
    ):
        dtg.load(folder)


@pytest.mark.parametrize("ids", [[], {}, 0, "x", True, {"bos": 1}])
def test_released_ids_are_checked(folder: Path, ids: Any) -> None:
    change(folder, lambda content: content.update(released_ids=ids))
    with pytest.raises(CheckpointError, match=r"released_ids is .*pop_root with their numbers, or null is expected"):
        dtg.load(folder)


def test_ids_of_a_released_model_are_checked(tmp_path: Path) -> None:
    DecoderModel.from_released(released_weights(), IDS).save(tmp_path)
    dtg.load(tmp_path)
    original = (tmp_path / "config.json").read_text()
    for name, number in (("eos", 10**6), ("pad", -1), ("left_arc", True), ("right_arc", None)):
        change(tmp_path, lambda content, name=name, number=number: content["released_ids"].update({name: number}))  # type: ignore[misc]
        with pytest.raises(CheckpointError, match=rf"{name} is {number}; the number of a subword"):
            dtg.load(tmp_path)
        (tmp_path / "config.json").write_text(original)
    change(tmp_path, lambda content: content.update(root=IDS["eos"]))
    with pytest.raises(CheckpointError, match=r"root is .* and the vocabulary has it as"):
        dtg.load(tmp_path)


def test_every_value_of_the_configuration_is_checked(folder: Path) -> None:
    """Whatever stands there: a clear error, or (where the weights do not depend on it) a model. Never another exception."""
    original = (folder / "config.json").read_text()
    names = list(json.loads(original)["model"])
    for name in names:
        for value in ODD:
            change(folder, lambda content, name=name, value=value: content["model"].update({name: value}))  # type: ignore[misc]
            try:
                dtg.load(folder)
            except DtgError as error:
                assert str(folder) in str(error), (name, value, error)
            (folder / "config.json").write_text(original)
    for table in (None, [], "x", 3, ["family"]):
        change(folder, lambda content, table=table: content.update(model=table))  # type: ignore[misc]
        with pytest.raises(CheckpointError, match=r"config\.json: the model is described by settings"):
            dtg.load(folder)


def test_a_tokenizer_of_another_size_is_refused(folder: Path) -> None:
    change(folder, lambda content: content["model"].update(vocabulary=tokenizer().size - 1))
    with pytest.raises(CheckpointError, match=r"vocabulary is .*, and the tokenizer has"):
        dtg.load(folder)


SIZES_OF_PARSERS = ("layers", "width", "arc_width", "label_width", "word_width", "character_width", "character_filters")


def test_every_size_of_a_parser_is_checked(tmp_path: Path) -> None:
    small_parser().save(tmp_path)
    original = (tmp_path / "config.json").read_text()
    for name in SIZES_OF_PARSERS:
        for value in ODD:
            change(tmp_path, lambda content, name=name, value=value: content["parser"].update({name: value}))  # type: ignore[misc]
            with pytest.raises(CheckpointError):
                dtg.load_parser(tmp_path)
            (tmp_path / "config.json").write_text(original)
    change(tmp_path, lambda content: content.update(parser=[]))
    with pytest.raises(CheckpointError, match="the parser is described by settings"):
        dtg.load_parser(tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_shapes_without_memory_are_those_of_the_network(family: str) -> None:
    labels: dict[str, Any] = {"labels": ("NP", "VP")} if "labels" in FAMILIES[family].system.options else {}
    config = ModelConfig(family=family, vocabulary=40, **SIZES, **labels)
    symbols = Symbols.of(config, make_family(config))
    state = torch.get_rng_state()
    found = shapes_of(lambda: DecoderModel(config, symbols, 1))
    assert torch.equal(state, torch.get_rng_state())  # looking changes nothing that is drawn later
    real = DecoderModel.create(config, root=1).state_dict()
    assert {name: (tensor.shape, tensor.dtype) for name, tensor in found.items()} == {
        name: (tensor.shape, tensor.dtype) for name, tensor in real.items()
    }
    assert all(tensor.is_meta for tensor in found.values())


@pytest.mark.parametrize(
    "sizes",
    [{"width": 10**9}, {"feedforward": 2**63}, {"attention_heads": 10**6, "head_width": 10**6}, {"vocabulary": 10**12}],
)
def test_sizes_that_cannot_be_take_no_memory(sizes: dict[str, int]) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(
        ConfigError, match=r"parameters, which need [\d,]+ GiB; this machine has|there cannot be a network"
    ):
        DecoderModel.create(ModelConfig(**{**SIZES, **sizes}))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    with pytest.raises(
        ConfigError, match="layers is 100000000; a whole number of at least 1 and below 1001 is expected"
    ):
        ModelConfig(layers=100_000_000)


def test_sizes_of_parsers_that_cannot_be() -> None:
    corpus = small_corpus()
    cases: list[dict[str, Any]] = [{"width": 10**7}, {"arc_width": 10**12}, {"word_width": 2**62}]
    for sizes in cases:
        with pytest.raises(ConfigError, match=r"which need|there cannot be"):
            BiaffineParser.create(ParserConfig(**sizes), corpus.tokenizer)


def test_what_fits_is_compared_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    network = torch.nn.Linear(10, 10)  # 110 parameters, 440 bytes
    for there in (439, 440, None):
        monkeypatch.setattr(weights, "total_memory", lambda there=there: there)
        if there == 439:
            with pytest.raises(ConfigError, match="has 110 parameters"):
                check_fits_memory(lambda: network)
        else:
            check_fits_memory(lambda: network)
