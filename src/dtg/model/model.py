"""A whole model: trees in, log-probabilities out. Family, decoder and head together, with their tokenizer.

log p(x, y) sums over every predicted action, `<END>` included, in nats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from dtg import families
from dtg.errors import ConfigError, InputError
from dtg.families import Family, PackedRows, pack
from dtg.losses import BatchLoss
from dtg.model.config import HeadName, ModelConfig
from dtg.model.decoder import Decoder, initialise
from dtg.model.heads import Allowed, FactoredHead, JointHead
from dtg.model.packed_keys import Layout
from dtg.model.precision import finest
from dtg.model.symbols import Symbols
from dtg.model.uses import Uses
from dtg.transitions import Operation
from dtg.transitions.arc_swift import ArcSwift
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.rules import Derivations
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.families import ArcRepresentation
    from dtg.text import Tokenizer

EMBEDDING_RATE = 2.0  # the paper's multiplier of the learning rate of embeddings


class Predictions(NamedTuple):
    """The log-probability of every action of a batch of derivations."""

    log_probability: Tensor  # (actions,) in the order of the ActionBatch
    actions: ActionBatch
    packed: PackedRows
    padding: float


class DecoderModel(nn.Module, Uses):
    """One of the paper's models. Made by `create`, `load` or `from_released`; `Uses` has what it is used for."""

    def __init__(self, config: ModelConfig, symbols: Symbols, root: int, tokenizer: Tokenizer | None = None) -> None:
        super().__init__()
        self.config, self.symbols, self.root, self.tokenizer = config, symbols, root, tokenizer
        self.family = make_family(config)
        self.decoder = Decoder(config, symbols.tokens)
        self.head: FactoredHead | JointHead
        self.head = FactoredHead(config, symbols) if config.head == "factored" else JointHead(config, symbols)
        self.released_ids: dict[str, int] | None = None
        starts_word = None if tokenizer is None else tokenizer.starts_word.clone()
        self.register_buffer("starts_word", starts_word, persistent=False)
        self.starts_word: Tensor | None

    @classmethod
    def create(
        cls, config: ModelConfig, tokenizer: Tokenizer | None = None, seed: int = 0, root: int = 1
    ) -> DecoderModel:
        """A new model with random weights; `root` is the piece of the `<ROOT>` row where no tokenizer says it."""
        if tokenizer is not None:
            if tokenizer.size != config.vocabulary:
                raise ConfigError(
                    f"the configuration's vocabulary is {config.vocabulary}, but the tokenizer has {tokenizer.size} pieces. "
                    f"Set vocabulary = {tokenizer.size}, or prepare the corpus with another tokenizer."
                )
            root = tokenizer.root
        model = cls(config, Symbols.of(config, make_family(config)), root, tokenizer)
        initialise(model, config, torch.Generator().manual_seed(seed))
        return model

    @classmethod
    def from_released(
        cls,
        state_dict: Mapping[str, Tensor],
        ids: Mapping[str, int],
        *,
        family: str = "dtg",
        head: HeadName = "factored",
        arc_representation: ArcRepresentation = "word+arc",
    ) -> DecoderModel:
        """The authors' released model: its weights, and the vocabulary ids of pad, bos, eos, left_arc, right_arc, pop_root."""
        from dtg.model.released import build

        return build(cls, state_dict, ids, family, head, arc_representation)

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder: config.json, model.safetensors, and tokenizer.model if there is one."""
        from dtg.model.saving import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, device: torch.device | str = "cpu") -> DecoderModel:
        """A model from a folder that `save` wrote."""
        from dtg.model.saving import load

        return load(cls, Path(folder), device)

    @property
    def device(self) -> torch.device:
        return self.decoder.embedding.weight.device

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Parameters for an optimizer: embeddings at twice the rate."""
        embedding = self.decoder.embedding.weight
        rest = [parameter for parameter in self.parameters() if parameter is not embedding]
        groups = (([embedding], EMBEDDING_RATE), (rest, 1.0))
        return [{"params": group, "lr": learning_rate * scale, "scale": scale} for group, scale in groups]

    def forward(self, batch: SentenceBatch, constrained: bool | None = None) -> Predictions:
        """The log-probability of every action in the trees' derivations."""
        constrained = self.config.constrained if constrained is None else constrained
        actions = self.family.system.derive(batch)
        packed = pack(self.family, actions, self.root)
        layout = Layout.of(packed)
        hidden = self.decoder(*self.symbols.read(packed), layout)
        rows = (packed.target >= 0).nonzero()[:, 0]
        places = packed.target.index_select(0, rows)  # all actions, in order: a sentence's rows stand together
        allowed = self.allowed(packed.features.index_select(0, rows)) if constrained else None
        log_probability = self.predict(hidden.index_select(0, rows), actions, places, allowed)
        return Predictions(log_probability, actions, packed, layout.padding)

    def predict(self, hidden: Tensor, actions: ActionBatch, places: Tensor, allowed: Allowed | None) -> Tensor:
        """(rows,) the log-probability of the action at each place, predicted from a row's hidden vector."""
        targets = self.symbols.targets(actions, places, self._ends(actions, places))
        log_probability: Tensor = self.head(hidden, targets, self.decoder.embedding.weight, allowed, self.starts_word)
        return log_probability

    def loss(self, batch: SentenceBatch) -> BatchLoss:
        """What training minimises, as a sum."""
        predictions = self(batch)
        total = -predictions.log_probability.sum()
        return BatchLoss(
            total, len(predictions.log_probability), len(batch.heads), len(batch.pieces), predictions.padding
        )

    def allowed(self, features: Tensor) -> Allowed:
        """What is legal in states with these features, the text not being known."""
        return Allowed.of(self.family.system, features, joint=self.config.head == "joint")

    @torch.no_grad()
    def score_batch(self, batch: SentenceBatch, constrained: bool | None = None) -> Tensor:
        """(sentences,) log p(x, y)."""
        predictions = self(batch, constrained)
        lengths = predictions.actions.offsets.diff()
        sentence = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        totals = torch.zeros(len(lengths), dtype=finest(lengths.device), device=lengths.device)
        return totals.index_add(0, sentence, predictions.log_probability.to(totals.dtype))

    def score_ids(self, pieces: Sequence[Sequence[int]], heads: Sequence[int], constrained: bool = False) -> float:
        """log p(x, y) of one tree, given as the piece ids of each word and 1-based heads (0 is the root)."""
        tree = DependencyTree(tuple(f"word{i}" for i in range(1, len(pieces) + 1)), tuple(heads))
        return float(self.score_batch(self.encode([tree], [pieces]), constrained)[0])

    def encode(self, trees: Sequence[DependencyTree], pieces: Sequence[Sequence[Sequence[int]]]) -> SentenceBatch:
        """Trees as a batch on this model's device, checked."""
        for tree, words in zip(trees, pieces, strict=True):
            self.family.system.check(tree)
            self.check_known(chain.from_iterable(words))
        return SentenceBatch.of(trees, pieces, self.device)

    def check_known(self, pieces: Iterable[int]) -> None:
        """Raise unless all of these are numbers of pieces."""
        if wrong := [piece for piece in pieces if not 0 <= piece < self.config.vocabulary]:
            raise InputError(f"piece {wrong[0]} is not in the vocabulary, which has {self.config.vocabulary} pieces.")

    def _ends(self, actions: ActionBatch, places: Tensor) -> Tensor | None:
        """Where the action predicted is the last arc, in models that write it as pop_root."""
        if self.config.end != "pop_root":
            return None
        following = (places + 1).clamp(max=len(actions.operation) - 1)
        right = actions.operation[places] == Operation.RIGHTARC
        return right & (actions.operation[following] == Operation.END)


def make_family(config: ModelConfig, derivations: Derivations = "canonical") -> Family:
    """The family a configuration names, with its choices."""
    family = families.get(
        config.family, arc_representation=config.arc_representation, derivations=derivations, end=config.end
    )
    if isinstance(family.system, ArcSwift):
        family.system = ArcSwift(limit=config.distance_limit, derivations=derivations)
    return family
