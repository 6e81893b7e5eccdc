"""`DecoderModel`: family, decoder and output head together, from trees to log-probabilities of their actions.

log p(x, y) sums over every predicted action, `<END>` included, in nats. What people do with a model (surprisal, search,
marginals) is in `dtg.language_model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from dtg import families
from dtg.errors import ConfigError, InputError
from dtg.families import ArcRepresentation, Family, PackedRows
from dtg.families.hybrid import hide_memory
from dtg.io.devices import checked_device
from dtg.io.weights import check_fits_memory, load_network
from dtg.losses import BatchLoss
from dtg.model.attachment import Attachable, AttachmentHead, Tape
from dtg.model.attention import head_groups
from dtg.model.batch.prepared import PreparedBatch, packed_keys, prepare_batches
from dtg.model.config import HeadName, ModelConfig
from dtg.model.decoder import Decoder, Layer, initialise
from dtg.model.heads import Allowed, FactoredHead, Head, JointHead
from dtg.model.precision import finest
from dtg.model.released import read_released
from dtg.model.saving import SavedModel, read_model, write_model
from dtg.model.symbols import Symbols, Targets
from dtg.text.tokenizer import Tokenizer
from dtg.transitions.action import Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.rules import Derivations
from dtg.transitions.table import GENERATE
from dtg.trees.kinds import Tree
from dtg.trees.tree import DependencyTree

EMBEDDING_RATE = 2.0  # the paper's multiplier of the learning rate of embeddings


class Predictions(NamedTuple):
    """The log-probability of every action of a batch of derivations."""

    log_probability: Tensor  # (actions,) in the order of the ActionBatch
    actions: ActionBatch
    packed: PackedRows
    padding: float


class Aims(NamedTuple):
    """What rows are to predict, and what else they might."""

    targets: Targets
    allowed: Allowed | None  # None: anything


class DecoderModel(nn.Module):
    """One of the paper's models. Made by `create`, `load` or `from_released`."""

    def __init__(self, config: ModelConfig, symbols: Symbols, root: int, tokenizer: Tokenizer | None = None) -> None:
        super().__init__()
        self.config, self.symbols, self.root, self.tokenizer = config, symbols, root, tokenizer
        self.family = make_family(config)
        self.decoder = Decoder(config, symbols.tokens, self.family.channel_size)
        self.groups = head_groups(config, type(self.family))
        self.head: Head
        self.head = FactoredHead(config, symbols) if config.head == "factored" else JointHead(config, symbols)
        attaches = Operation.ATTACH in self.family.system.table.operations
        self.attachment = AttachmentHead(config) if attaches else None
        self.released_ids: dict[str, int] | None = None
        self.progress = 0.0  # how much of the training is done, from 0 to 1
        starts_word = None if tokenizer is None else tokenizer.starts_word.clone()
        self.register_buffer("starts_word", starts_word, persistent=False)
        self.starts_word: Tensor | None

    @classmethod
    def create(
        cls, config: ModelConfig, tokenizer: Tokenizer | None = None, seed: int = 0, root: int = 1
    ) -> DecoderModel:
        """A new model with random weights.

        Args:
            config: sizes and choices; its vocabulary must be the tokenizer's.
            tokenizer: what turns words into subwords; without one, only functions that take subword ids can be used.
            seed: of the random weights.
            root: the subword that the `<ROOT>` row reads where no tokenizer says it.

        Returns:
            The model, on the CPU, in float32.
        """
        if config.end == "pop_root":
            raise ConfigError(
                "end is 'pop_root', which only the authors' released models have; new models end by an arc."
            )
        if tokenizer is not None:
            if tokenizer.size != config.vocabulary:
                raise ConfigError(
                    f"the configuration's vocabulary is {config.vocabulary}, but the tokenizer has {tokenizer.size} pieces. "
                    f"Set vocabulary = {tokenizer.size}, or prepare the corpus with another tokenizer."
                )
            root = tokenizer.root
        symbols = Symbols.of(config, make_family(config))
        check_fits_memory(lambda: cls(config, symbols, root, tokenizer))
        model = cls(config, symbols, root, tokenizer)
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
        """The authors' released model.

        Args:
            state_dict: its weights, under their names in the released code.
            ids: the vocabulary ids of pad, bos, eos, left_arc, right_arc and pop_root.
            family: dtg, txl-trans or txl-tokens.
            head: factored, or joint as in released Transformer-XL models.
            arc_representation: what the rows of an arc read.

        Returns:
            A model of the released profile, which gives the released code's log-probabilities.
        """
        found = read_released(state_dict, ids, family, head, arc_representation)
        symbols = Symbols.of_released(found.config.vocabulary, head, ids, make_family(found.config))
        model = cls(found.config, symbols, root=found.ids["bos"])
        model.released_ids = found.ids
        model.load_state_dict(found.weights)
        return model.eval()

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder: config.json, model.safetensors, and tokenizer.model if there is one."""
        write_model(Path(folder), self, SavedModel(self.config, self.root, self.tokenizer, self.released_ids))

    @classmethod
    def load(cls, folder: str | Path, device: torch.device | str = "cpu", *, verify: bool = True) -> DecoderModel:
        """A model from a folder that `save` wrote.

        Args:
            folder: of the model.
            device: what it computes on.
            verify: check the files against the hashes that they were saved with, and that all weights are finite.

        Returns:
            The model, in evaluation mode.
        """
        about = read_model(Path(folder), verify=verify)
        config, family = about.config, make_family(about.config)
        if about.released_ids is None:
            symbols = Symbols.of(config, family)
        else:
            symbols = Symbols.of_released(config.vocabulary, config.head, about.released_ids, family)
        model = load_network(lambda: cls(config, symbols, about.root, about.tokenizer), Path(folder), verify=verify)
        model.released_ids = about.released_ids
        return model.to(checked_device(device)).eval()

    @property
    def device(self) -> torch.device:
        return self.decoder.embedding.weight.device

    @property
    def has_trees(self) -> bool:
        """Whether the model generates trees, rather than words alone."""
        return self.family.has_trees

    def is_constrained(self, constrained: bool | None) -> bool:
        """Whether illegal actions are masked before normalising: as asked for, or as the model was made."""
        if constrained is None:
            return self.config.constrained
        if not isinstance(constrained, bool):
            raise InputError(
                f"constrained is {constrained!r}; True, False or None (as the model was made) is expected."
            )
        if constrained and self.symbols.released:
            raise InputError("released models were trained without constraints, and have none; leave out constrained.")
        return constrained

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Parameters for an optimizer: embeddings at twice the rate."""
        embedding = self.decoder.embedding.weight
        rest = [parameter for parameter in self.parameters() if parameter is not embedding]
        groups = (([embedding], EMBEDDING_RATE), (rest, 1.0))
        return [{"params": group, "lr": learning_rate * scale, "scale": scale} for group, scale in groups]

    def matrices(self) -> list[Tensor]:
        """The weights of the layers' linear maps, without gates, which are a row for each head."""
        gates = {id(layer.attention.gates) for layer in self.decoder.layers if isinstance(layer, Layer)}
        linear = [one for one in self.decoder.layers.modules() if isinstance(one, nn.Linear)]
        return [one.weight for one in linear if id(one) not in gates]

    def prepare(self, batch: SentenceBatch, sizes: Sequence[int] | None = None) -> list[PreparedBatch]:
        """What of batches can be computed beforehand, in another thread if need be, and is cheaper for several at once.

        Args:
            batch: the sentences of all batches, on any device.
            sizes: how many sentences each batch has; None for one batch.

        Returns:
            The batches, which `loss` and the model itself take in place of sentences.
        """
        groups = None if self.config.view_dropout or self.config.view_dropout_end else self.groups
        sizes = [len(batch.word_offsets) - 1] if sizes is None else sizes
        return prepare_batches(self.family, batch, sizes, self.root, groups, self.device)

    def forward(self, batch: SentenceBatch | PreparedBatch, constrained: bool | None = None) -> Predictions:
        """The log-probability of every action in the trees' derivations."""
        if isinstance(batch, SentenceBatch):
            (batch,) = self.prepare(batch)
        actions, packed = batch.actions, self.drop_views(batch.packed)
        keys = packed_keys(packed, self.groups) if batch.keys is None else batch.keys
        # What waits for the device comes before the layers.
        rows = (packed.target >= 0).nonzero()[:, 0]
        places = packed.target.index_select(0, rows)  # all actions, in order: a sentence's rows stand together
        is_constrained = self.is_constrained(constrained)
        aims = self.aims(packed.features.index_select(0, rows), actions, places, is_constrained)
        asked = None
        if self.attachment is not None:  # a row predicts a token, and then what the token is attached to
            generating = (actions.id[places] == GENERATE).nonzero()[:, 0]
            from_rows, next_places = rows[generating], places[generating] + 1
            asked = self.attachable(packed, from_rows, actions, next_places, is_constrained)
        hidden = self.decoder(*self.symbols.read_rows(packed), keys)  # of the rows that predict, in order
        log_probability = self.predict(hidden, aims)
        if asked is not None:
            assert len(hidden) == len(packed), "rows that predict nothing have no output, and tokens attach to all"
            attached = self.predict_attachments(hidden, from_rows, actions, next_places, asked)
            whole = log_probability.new_empty(len(actions.id))
            log_probability = whole.index_copy(0, places, log_probability).index_copy(0, next_places, attached)
        return Predictions(log_probability, actions, packed, keys.padding)

    def follow(self, progress: float) -> None:
        """Be told how much of the training is done, from 0 to 1."""
        self.progress = progress

    def drop_views(self, packed: PackedRows) -> PackedRows:
        """In training, the memory is hidden in a share of the sentences, if the configuration says so."""
        first, last = self.config.view_dropout, self.config.view_dropout_end
        share = first if last is None else first + (last - first) * self.progress
        if not self.training or not share:
            return packed
        return hide_memory(packed, torch.rand(len(packed.offsets) - 1, device=packed.offsets.device) < share)

    def aims(self, features: Tensor, actions: ActionBatch, places: Tensor, constrained: bool) -> Aims:
        """The actions at these indices, as rows with these features predict them."""
        return Aims(self.symbols.targets(actions, places), self.allowed(features) if constrained else None)

    def predict(self, hidden: Tensor, aims: Aims) -> Tensor:
        """(rows,) the log-probability of what rows predict."""
        log_probability: Tensor = self.head(
            hidden, aims.targets, self.decoder.embedding.weight, aims.allowed, self.starts_word
        )
        return log_probability

    def attachable(
        self, packed: PackedRows, rows: Tensor, actions: ActionBatch, places: Tensor, constrained: bool
    ) -> Attachable:
        """What tokens may be attached to: `rows` generated them, just before the actions at `places` attach them."""
        (view,) = packed.views
        assert view.channel is not None and view.constituent is not None
        attends = view.attends[rows].long().clamp(min=0)
        tape = Tape(attends, view.channel[rows].long(), view.constituent[rows].long(), view.keys[rows])
        features = self.family.system.after_generating(packed.features[rows], actions.starts_word[places - 1])
        return tape.attachable(self.config.attach_limit, self.allowed_attachments(features, constrained))

    def predict_attachments(
        self, hidden: Tensor, rows: Tensor, actions: ActionBatch, places: Tensor, asked: Attachable
    ) -> Tensor:
        """The log-probability of actions that attach a token; `hidden` is of all rows of the pack."""
        assert self.attachment is not None
        token = self.decoder.embedding(actions.piece[places - 1])
        found = self.attachment(hidden[rows], token, self.attachment.keys(hidden), asked)
        k = actions.id[places] - self.family.system.table.first[Operation.ATTACH]
        of_actions: Tensor = found.gather(1, k[:, None])[:, 0]
        return of_actions

    def allowed_attachments(self, features: Tensor, constrained: bool) -> Tensor | None:
        """(tokens, limit + 1) bool, which numbers of constituents a token may be merged with; None: any."""
        first = self.family.system.table.first[Operation.ATTACH]
        return self.allowed(features).actions[:, first:] if constrained else None

    def loss(self, batch: SentenceBatch | PreparedBatch) -> BatchLoss:
        """What training minimises, as a sum."""
        if isinstance(batch, SentenceBatch):
            (batch,) = self.prepare(batch)
        predictions = self(batch)
        total = -predictions.log_probability.sum()
        return BatchLoss(total, len(predictions.log_probability), batch.words, batch.pieces, predictions.padding)

    def allowed(self, features: Tensor) -> Allowed:
        """What is legal in states with these features, the text not being known."""
        return Allowed.of(self.family.system, features)

    @torch.no_grad()
    def score_batch(self, batch: SentenceBatch, constrained: bool | None = None) -> Tensor:
        """(sentences,) log p(x, y)."""
        predictions = self(batch, constrained)
        lengths = predictions.actions.offsets.diff()
        sentence = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        totals = torch.zeros(len(lengths), dtype=finest(lengths.device), device=lengths.device)
        return totals.index_add(0, sentence, predictions.log_probability.to(totals.dtype))

    def score_ids(self, pieces: Sequence[Sequence[int]], heads: Sequence[int], constrained: bool = False) -> float:
        """log p(x, y) of one dependency tree.

        Args:
            pieces: the subword ids of each word.
            heads: the head of each word, from 1; 0 is the root.
            constrained: whether illegal actions are masked before normalising.

        Returns:
            The log-probability in nats, `<END>` included.
        """
        tree = DependencyTree(tuple(f"word{i}" for i in range(1, len(pieces) + 1)), tuple(heads))
        return float(self.score_batch(self.encode([tree], [pieces]), constrained)[0])

    def encode(self, trees: Sequence[Tree], pieces: Sequence[Sequence[Sequence[int]]]) -> SentenceBatch:
        """Trees as a batch on this model's device, checked."""
        for tree, words in zip(trees, pieces, strict=True):
            self.family.system.check(tree)
            self.check_known(chain.from_iterable(words))
        return SentenceBatch.of(trees, pieces, self.device)

    def check_known(self, pieces: Iterable[int]) -> None:
        """Raise unless all of these are ids of subwords."""
        if wrong := [piece for piece in pieces if not 0 <= piece < self.config.vocabulary]:
            raise InputError(f"piece {wrong[0]} is not in the vocabulary, which has {self.config.vocabulary} pieces.")

    def require_tokenizer(self) -> Tokenizer:
        """The tokenizer; raises if the model has none."""
        if self.tokenizer is None:
            raise InputError("this model has no tokenizer to turn words into pieces; use step_ids or score_ids.")
        return self.tokenizer


def make_family(config: ModelConfig, derivations: Derivations = "canonical") -> Family:
    """The family a configuration names, with its choices."""
    return families.get(
        config.family,
        arc_representation=config.arc_representation,
        derivations=derivations,
        end=config.end,
        distance_limit=config.distance_limit,
        labels=config.labels or None,
        typed_closing=config.typed_closing,
        max_open=config.max_open,
        max_chain=config.max_chain,
        attach_limit=config.attach_limit,
        memory=config.memory,
        memory_on_compose=config.memory_on_compose,
    )
