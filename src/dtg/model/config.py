"""`ModelConfig`: what a model is made of, validated and saved with the model.

`paper` and `released` differ only in these settings (the design's two profiles).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from dtg.errors import ConfigError
from dtg.families import FAMILIES, ArcRepresentation, End, FamilyEntry
from dtg.families.hybrid import HybridFamily, Memory, MemoryOnCompose
from dtg.io.settings import LayerCount, NonNegativeInt, PositiveInt, Share, TableSize, check_settings, from_table
from dtg.text.corpus import Corpus
from dtg.trees.kinds import DEPENDENCY

HeadName = Literal["factored", "joint"]
Activation = Literal["relu", "gelu", "gelu_tanh", "relu_squared", "swiglu"]
Norm = Literal["pre", "post"]
NormKind = Literal["layer", "rms"]
Attachment = Literal["network", "additive", "plain"]
MemoryLayers = Literal["all", "lower", "upper"]
TREES_OF = {"dependency": "dependencies", "constituency": "phrases", "binary": "phrases"}
# What the counts of a corpus say of each limit of phrase-structure systems.
LIMITS = {"max_open": "most_open", "max_chain": "longest_chain", "attach_limit": "most_constituents"}
# Settings of hybrid families alone.
OF_HYBRIDS = ("memory", "memory_on_compose", "memory_layers", "view_dropout", "view_dropout_end")
# Settings that models have not always had. They are saved where they are not as they are by default (those of hybrids: with
# every hybrid), so that a model without them is saved as it was before there were any.
LATER = (*OF_HYBRIDS, "norm_kind", "query_key_norm", "zero_outputs", "head_gates", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Sizes and choices. `vocabulary` is how many subwords the tokenizer has."""

    family: str = "dtg"
    vocabulary: PositiveInt = 8192
    layers: LayerCount = 6
    width: PositiveInt = 256
    attention_heads: PositiveInt = 4
    # How many heads see through each of the family's views; empty: as the family splits them.
    view_heads: tuple[NonNegativeInt, ...] = ()
    head_width: PositiveInt = 64
    feedforward: PositiveInt = 1024
    dropout: Share = 0.0
    head: HeadName = "factored"
    arc_representation: ArcRepresentation = "word+arc"
    activation: Activation = "relu"
    norm: Norm = "post"
    shared_position_biases: bool = True  # u and v are the same in all layers
    attention_output_bias: bool = False
    tied_arc_rows: bool = True  # the second row of an action that composes reads the same embedding as the first
    output_bias: bool = True
    distance_limit: TableSize = 20  # how far arc-swift's arcs reach
    labels: tuple[str, ...] = ()  # of phrases, in models of phrase structure
    typed_closing: bool | None = None  # whether closing brackets have labels; None: as the family has it
    max_open: TableSize = 60  # phrases that may be open at once
    max_chain: TableSize = 12  # phrases that may begin at one word
    attach_limit: TableSize = 62  # constituents that a token may be merged with, in Pushdown models
    attachment: Attachment = "network"  # how Pushdown's attachment head knows of depths
    embedding_scale: bool = False  # embeddings are multiplied by the square root of the width
    position_biases: bool = True  # u and v; without them, queries meet keys and positions as they are
    constrained: bool = True  # illegal actions are masked before normalising
    end: End = "arc"
    # Whose rules split raw text into words as the model's were: a language code, or "none" if words have to be given.
    language: str = "en"

    memory: Memory = "words"  # what memory heads see: words, or all rows
    memory_on_compose: MemoryOnCompose = "composed"  # and on COMPOSE rows: what is composed, or the same as elsewhere
    memory_layers: MemoryLayers = (
        "all"  # which half of the layers has memory heads; in the other all heads see the stack
    )
    # In training, memory heads see only what stack heads see in this share of the sentences; at the end of training in that
    # of `view_dropout_end`, and in between it goes evenly from one to the other.
    view_dropout: Share = 0.0
    view_dropout_end: Share | None = None
    norm_kind: NormKind = "layer"  # LayerNorm, or RMSNorm, which neither centres nor shifts
    query_key_norm: bool = False  # queries and keys are normalised, head by head, before they meet
    zero_outputs: bool = False  # in new models, attention and feed-forward add nothing to what they read
    head_gates: bool = False  # what each attention head finds is multiplied by a learned gate of the row

    def __post_init__(self) -> None:
        check_settings(self)
        if self.family not in FAMILIES:
            raise ConfigError(f"family is {self.family!r}; known: {', '.join(FAMILIES)}.")
        if self.width % 2:
            raise ConfigError(f"width is {self.width}; it must be even, because sinusoids come in pairs.")
        self._check_views()
        self._check_memory()

    def _check_views(self) -> None:
        rule = FAMILIES[self.family].rule
        if not self.view_heads:
            rule.split_heads(self.attention_heads)  # raises where that has no answer
        elif len(self.view_heads) != len(rule.views) or sum(self.view_heads) != self.attention_heads:
            raise ConfigError(
                f"view_heads is {self.view_heads!r}; but {self.family} has {len(rule.views)} views"
                f" ({', '.join(rule.views)}) and {self.attention_heads} attention heads."
            )

    @property
    def is_hybrid(self) -> bool:
        """Whether the family has memory heads."""
        return issubclass(FAMILIES[self.family].rule, HybridFamily)

    def _check_memory(self) -> None:
        if self.is_hybrid:
            if self.memory_layers != "all" and self.layers < 2:
                raise ConfigError(
                    f"memory_layers is {self.memory_layers!r}; half of the layers needs at least 2 layers."
                )
            return
        for name in OF_HYBRIDS:
            if getattr(self, name) != DEFAULTS[name]:
                hybrids = [name for name, entry in FAMILIES.items() if issubclass(entry.rule, HybridFamily)]
                raise ConfigError(
                    f"{name} is {getattr(self, name)!r}; but {self.family} has no memory heads. "
                    f"Families with memory heads: {', '.join(hybrids)}."
                )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """From a table of a configuration file, or of a saved model."""
        return from_table(cls, values, "the model")

    def to_dict(self) -> dict[str, Any]:
        """As it is saved, with lists for tuples; see `LATER` for what is left out."""
        saved = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        own = OF_HYBRIDS if self.is_hybrid else ()
        return {
            name: value for name, value in saved.items() if name not in LATER or name in own or value != DEFAULTS[name]
        }

    @classmethod
    def for_corpus(cls, values: Mapping[str, Any], corpus: Corpus) -> ModelConfig:
        """The configuration of a model that is to be trained on a corpus.

        Args:
            values: a table of a configuration file. The vocabulary, the language, the labels of phrases, and limits that the
                corpus goes beyond are taken from the corpus, unless the table has them.
            corpus: must have trees of the kind that the family generates; words alone are learned from any.
        """
        table: dict[str, Any] = {"vocabulary": corpus.tokenizer.size, "language": corpus.language, **values}
        family = cls.from_dict(table).family
        check_trees(family, corpus)
        options = FAMILIES[family].system.options
        if "labels" in options:
            table = {"labels": corpus.labels, **table}
            if missing := [label for label in corpus.labels if label not in table["labels"]]:
                raise ConfigError(
                    f"labels is {list(table['labels'])!r}, but the corpus also has phrases labelled {', '.join(missing)}. "
                    "Leave labels out of the configuration to take those of the corpus."
                )
        return cls.from_dict({**needed_limits(corpus, options), **table})


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(ModelConfig)}


def check_trees(family: str, corpus: Corpus) -> None:
    """Raise unless the corpus has trees that the family can be trained on."""
    kind = FAMILIES[family].system.kind
    if fits(FAMILIES[family], corpus):
        return
    others = [name for name, entry in FAMILIES.items() if fits(entry, corpus)]
    if kind is DEPENDENCY:
        advice = "Prepare another corpus, of dependencies"
    else:
        advice = "Prepare another corpus, of trees in brackets or of dependencies that are projected to phrases"
    assert kind is not None
    raise ConfigError(
        f"{family} is trained on {TREES_OF[kind.name]}, and {corpus.folder} has {TREES_OF[corpus.kind.name]}.\n"
        f"{advice}; or train a family that fits the corpus, such as {', '.join(others)}."
    )


def fits(entry: FamilyEntry, corpus: Corpus) -> bool:
    """Whether a family needs no other trees than the corpus has; phrases are binarised where that is needed."""
    kind = entry.system.kind
    return kind is None or (kind is DEPENDENCY) == (corpus.kind is DEPENDENCY)


def needed_limits(corpus: Corpus, options: tuple[str, ...]) -> dict[str, int]:
    """The limits of phrase-structure systems that some sentence of the corpus goes beyond, raised to what it needs."""
    splits = [split["counts"] for split in corpus.manifest["splits"].values()]
    needed = {name: max(counts.get(count, 0) for counts in splits) for name, count in LIMITS.items() if name in options}
    return {name: value for name, value in needed.items() if value > DEFAULTS[name]}
