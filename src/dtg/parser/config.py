"""Settings of a parser, checked (`ParserConfig`), and the default tables of a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dtg.errors import ConfigError
from dtg.io.settings import LayerCount, NonNegativeFloat, PositiveInt, Share, check_settings, from_table

Kind = Literal["dependency", "constituency"]
Loss = Literal["crf", "arcs"]
ENCODERS = ("bilstm", "transformer")  # all others are pretrained


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserConfig:
    """Sizes and choices."""

    kind: Kind = "dependency"  # of its trees
    encoder: str = "bilstm"  # or "transformer", or the folder or the hub's name of a pretrained one
    pretrained_rate: NonNegativeFloat = 0.05  # the learning rate of a pretrained encoder, as a share of the others'
    word_width: PositiveInt = 128  # of the embeddings of known words
    word_count: PositiveInt = 2  # a word is known if it occurs this often in the training trees
    character_width: PositiveInt = 32
    character_filters: PositiveInt = 128
    layers: LayerCount = 2  # of the BiLSTM or the Transformer
    width: PositiveInt = 256  # of each direction; a Transformer has twice as much
    arc_width: PositiveInt = 256
    label_width: PositiveInt = 96
    dropout: Share = 0.33
    word_dropout: Share = 0.25  # how often a known word is read as an unknown one, in training
    loss: Loss = "crf"  # -log p(tree) under a projective CRF; or of each head by itself ("arcs")
    labelled: bool = True
    # Of constituency parsers, in place of the four settings of arcs and labels.
    span_width: PositiveInt = 256
    label_count: PositiveInt = 2  # a label, or chain of labels, is known if it occurs this often in the training trees
    # Of the loss of part-of-speech tags, an auxiliary task; 0 leaves it out.
    tag_weight: NonNegativeFloat = 0.5
    # Whose rules split raw text into words as the treebank's are: a language code, or "none" if words have to be given.
    language: str = "en"

    def __post_init__(self) -> None:
        if type(self.encoder) is not str or not self.encoder:
            raise ConfigError(f"encoder is {self.encoder!r}; {', '.join(ENCODERS)} or a pretrained one is expected.")
        check_settings(self)
        if self.kind == "constituency" and (self.loss != "crf" or not self.labelled):
            raise ConfigError('a constituency parser has labels and the loss "crf"; leave out loss and labelled.')

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParserConfig:
        """From a table of a configuration file, or of a saved parser; unknown keys raise."""
        return from_table(cls, values, "the parser")

    @property
    def is_pretrained(self) -> bool:
        return self.encoder not in ENCODERS

    def to_dict(self) -> dict[str, Any]:
        """As it is saved: the settings of its kind; of English, without the language, as before parsers had one."""
        others = SPAN_SETTINGS if self.kind == "dependency" else ARC_SETTINGS
        left_out = {*others, *(["language"] if self.language == "en" else [])}
        return {name: value for name, value in asdict(self).items() if name not in left_out}


SPAN_SETTINGS = (
    "kind",
    "span_width",
    "label_count",
)  # not saved of dependency parsers, which are as old as parsers are
ARC_SETTINGS = ("arc_width", "label_width", "loss", "labelled")


Tables = dict[str, dict[str, Any]]

TRAINING: dict[str, Any] = {
    "batch_sentences": 32,
    "start_rate": 1e-5,
    "peak_rate": 2e-3,
    "final_rate": 1e-5,
    "warmup_share": 0.05,
    "gradient_norm": 5.0,
    "log_every": 10,
    "checkpoint_every": 200,
}


EPOCHS: dict[Kind, tuple[int, int]] = {
    "dependency": (7, 20),
    "constituency": (6, 12),
}  # with a pretrained encoder, without


def default_tables(encoder: str | None, kind: Kind = "dependency") -> Tables:
    """The tables of a configuration file, for those who give none, as files of dtg.configs have them.

    Args:
        encoder: as in `ParserConfig`; None is the default encoder.
        kind: of the parser's trees: dependency has parser.toml and parser-pretrained.toml, constituency the same names
            with constituency in place of parser.

    Returns:
        The tables `model` and `training`.
    """
    model: dict[str, Any] = {} if kind == "dependency" else {"kind": kind}
    few, many = EPOCHS[kind]
    if encoder is None or encoder in ENCODERS:
        return {"model": model, "training": {**TRAINING, "epochs": many}}
    return {
        "model": {**model, "pretrained_rate": 0.1, "dropout": 0.2},
        "training": {**TRAINING, "epochs": few, "peak_rate": 1e-3, "warmup_share": 0.1},
    }
