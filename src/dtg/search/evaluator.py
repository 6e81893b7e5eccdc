"""What a search asks of a model: rows for hypotheses that take an action, and the log-probabilities of what may follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dtg.errors import NotFiniteError
from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import LaneRows
from dtg.model.attachment import Tape
from dtg.model.cached.cached_keys import CachedKeys, VisibleRows
from dtg.model.cached.frozen import FrozenDecoder, FrozenKeys
from dtg.model.heads import Allowed, FactoredHead, SplitVocabulary
from dtg.model.model import DecoderModel, make_family
from dtg.model.precision import finest
from dtg.search.kv_cache import KVCache
from dtg.search.options import BeamOptions
from dtg.transitions.action import NOTHING
from dtg.transitions.lanes import FeatureTable, LaneActions, legal, pad_columns
from dtg.transitions.shift_attach import AttachLanes
from dtg.transitions.table import GENERATE

Watch = Callable[[CachedKeys, Sequence[VisibleRows]], FrozenKeys]
PREDICTIONS_AT_ONCE = 256  # rows whose whole vocabulary is looked at together


def checked(log_probability: Tensor) -> Tensor:
    """The same, if none is NaN; what is illegal is minus infinity."""
    if bool(log_probability.isnan().any()):
        raise NotFiniteError("a log-probability of the model")
    return log_probability


class Evaluator:
    """A model as a search sees it. `rows_evaluated` counts the rows it has computed."""

    def __init__(self, model: DecoderModel, options: BeamOptions) -> None:
        self.model = model
        self.constrained = model.is_constrained(options.constrained)
        same = options.derivations == model.family.system.derivations
        self.family: Family = model.family if same else make_family(model.config, options.derivations)
        self.system = self.family.system
        self.rows_evaluated = 0
        self.vocabulary: SplitVocabulary | None = None
        if isinstance(model.head, FactoredHead) and self.constrained:
            with torch.inference_mode():
                self.vocabulary = model.head.split_vocabulary(model.decoder.embedding.weight, model.starts_word)
        self.decoder = FrozenDecoder(model.decoder)
        self.watch: Watch | None = None  # sees what the rows that are computed attend to

    def begin(self) -> tuple[Lanes, KVCache, Tensor]:
        """One hypothesis with nothing but `<ROOT>`; (1, width) is its hidden vector."""
        config, weight = self.model.config, self.model.decoder.embedding.weight
        attached = 0 if self.model.attachment is None else self.model.attachment.kept_width
        cache = KVCache.empty(config.layers, config.attention_heads, config.head_width, attached, like=weight)
        nothing_known = torch.full((1,), -1, device=self.model.device)
        lanes, rows = self.family.begin(nothing_known, self.model.root, torch.zeros_like(nothing_known))
        reads = torch.full_like(nothing_known, NOTHING), rows.piece[:, 0]
        hidden = self._compute(cache, [(rows, torch.ones_like(nothing_known, dtype=torch.bool))], *reads, composed=0)
        return lanes, cache, hidden

    def take(self, lanes: Lanes, cache: KVCache, hidden: Tensor, ids: Tensor) -> Tensor:
        """Let every lane take an action other than GEN; see `act`."""
        piece = torch.full_like(ids, NOTHING)
        return self.act(lanes, cache, hidden, ids, piece, starts_word=piece >= 0)

    def generate(self, lanes: Lanes, cache: KVCache, hidden: Tensor, piece: Tensor, *, starts_word: Tensor) -> Tensor:
        """Let every lane generate a subword, or wait where it is NOTHING; see `act`."""
        ids = torch.where(piece == NOTHING, NOTHING, GENERATE)
        return self.act(lanes, cache, hidden, ids, piece, starts_word=starts_word)

    def act(
        self, lanes: Lanes, cache: KVCache, hidden: Tensor, ids: Tensor, piece: Tensor, *, starts_word: Tensor
    ) -> Tensor:
        """Let lanes take actions, GEN with these subwords.

        Gives (lanes, width) the hidden vector of the last row of each lane, which is the one before where no row was added.
        """
        actions = LaneActions.of(self.system.table, ids, piece, starts_word)
        adds = actions.adds_row[:, 0]
        if not bool(adds.any()):
            self.family.advance(lanes, actions)
            return hidden
        new = self._advance(lanes, cache, actions)
        return new if len(new) == len(hidden) else hidden.index_copy(0, adds.nonzero()[:, 0], new)

    def choices(self, lanes: Lanes, cache: KVCache, hidden: Tensor, words_left: int | Tensor) -> tuple[Tensor, Tensor]:
        """(lanes, ids) the log-probability of each action, and whether it is legal.

        `words_left`, a number or (lanes, 1), is 1 on the way to a next word, 0 to the sentence's end, -1 to either.
        """
        model, features = self.model, lanes.states.features()
        endings = not (isinstance(words_left, int) and words_left > 0)
        found: Tensor = model.head.choices(
            hidden, model.decoder.embedding.weight, self._allowed(features), model.starts_word, endings=endings
        )
        may = legal(self.system, FeatureTable(self.system.lane_states.feature_names, features, words_left))
        found = found.to(finest(found.device))
        if isinstance(lanes.states, AttachLanes):
            attached = torch.full_like(found[:, :1], -torch.inf).repeat(1, may.shape[1] - found.shape[1])
            pending = lanes.states.pending[:, 0].nonzero()[:, 0]
            if len(pending):
                found[pending] = -torch.inf  # a token that waits is attached before anything else
                attached[pending] = self.attachments(lanes, cache, hidden, pending)
            found = torch.cat([found, attached], dim=1)
        return checked(found), may

    def attachments(self, lanes: Lanes, cache: KVCache, hidden: Tensor, which: Tensor) -> Tensor:
        """(lanes, limit + 1) log-probabilities of attaching the tokens that wait in these lanes."""
        states = lanes.states
        model = self.model
        assert isinstance(states, AttachLanes) and cache.attachment is not None and model.attachment is not None
        count = lanes.size[which, 0]
        width = int(count.max())
        rows = lanes.rows[which, :width].clamp(0, cache.used - 1)
        found = []
        for some in torch.arange(len(which), device=which.device).split(PREDICTIONS_AT_ONCE):
            lane = which[some]
            tape = Tape(rows[some], states.depth[lane, :width], states.constituent[lane, :width], count[some])
            allowed = model.allowed_attachments(states.features()[lane], self.constrained)
            token = model.decoder.embedding(states.piece[lane, 0])
            asked = tape.attachable(model.config.attach_limit, allowed)
            found.append(model.attachment(hidden[lane], token, cache.attachment, asked))
        attached = torch.cat(found)
        return checked(attached.to(finest(attached.device)))

    def piece_log_probability(self, hidden: Tensor, features: Tensor, piece: Tensor) -> Tensor:
        """(lanes,) log p(GEN and this subword)."""
        found = []
        for some, state, target in zip(*(t.split(PREDICTIONS_AT_ONCE) for t in (hidden, features, piece)), strict=True):
            found.append(self._piece_log_probability(some, target, self._allowed(state)))
        return torch.cat(found) if found else hidden.new_empty(0, dtype=finest(hidden.device))

    def pieces(self, hidden: Tensor, features: Tensor) -> Tensor:
        """(lanes, subwords) log p(subword | GEN)."""
        model = self.model
        allowed = self._allowed(features)
        found: Tensor = model.head.pieces(hidden, model.decoder.embedding.weight, allowed, model.starts_word)
        return checked(found.to(finest(found.device)))

    def log_share_of_starts(self, hidden: Tensor, features: Tensor) -> Tensor:
        """(lanes,) log p(the subword begins a word | GEN)."""
        starts, allowed = self.model.starts_word, self._allowed(features)
        assert starts is not None
        if self.vocabulary is None or allowed is None:
            return self.pieces(hidden, features)[:, starts].logsumexp(1)
        return checked(self.vocabulary.log_share_of_starting(hidden, allowed).to(finest(hidden.device)))

    def _allowed(self, features: Tensor) -> Allowed | None:
        return Allowed.of(self.system, features) if self.constrained else None

    def _piece_log_probability(self, hidden: Tensor, piece: Tensor, allowed: Allowed | None) -> Tensor:
        model, weight = self.model, self.model.decoder.embedding.weight
        found: Tensor
        if self.vocabulary is not None:
            assert isinstance(model.head, FactoredHead) and allowed is not None and model.starts_word is not None
            found = model.head.subword_log_probability(
                hidden, piece, weight, allowed, model.starts_word, self.vocabulary
            )
        else:
            found = model.head(hidden, model.symbols.words(piece), weight, allowed, model.starts_word)
        return checked(found.to(finest(found.device)))

    def _advance(self, lanes: Lanes, cache: KVCache, actions: LaneActions) -> Tensor:
        """Carry out the actions and compute the rows that they add."""
        composes = self.family.composes(actions)
        adds = actions.adds_row
        composed, added = composes.long().cumsum(0), adds.long().cumsum(0)
        count = int(composed[-1])
        first = cache.used
        ids = torch.cat([first + (composed - 1).clamp(min=0), first + count + (added - 1).clamp(min=0)], dim=1)
        rows, reads = [], []
        for group in self.family.advance(lanes, actions, ids):
            present = (adds if group.predicts else composes)[:, 0]
            if not group.predicts and not count:
                continue
            action, piece = self.family.represent(actions.id, group.piece)
            tokens = self.model.symbols.tokens_read(action, group.second)
            rows.append((group, present))
            reads.append(torch.cat([tokens, piece], dim=1)[present])
        operation_tokens, piece_tokens = torch.cat(reads).unbind(1)
        return self._compute(cache, rows, operation_tokens, piece_tokens, composed=count)

    def _compute(
        self, cache: KVCache, groups: list[tuple[LaneRows, Tensor]], operation: Tensor, piece: Tensor, *, composed: int
    ) -> Tensor:
        """Hidden vectors of the rows that are present, group by group, without the `composed` ones that come first.

        All of them get the cache's next numbers.
        """
        views = [visible_rows(groups, view) for view in range(len(self.family.views))]
        count = len(views[0].keys)
        self.rows_evaluated += count
        first = cache.reserve(count)
        keys = CachedKeys.of(views, self.model.groups, skip=composed, share_little=True)
        seen = keys if self.watch is None else self.watch(keys, views)
        hidden = self.decoder(operation, piece, seen, lambda layer: cache.room(layer, first))
        if self.model.attachment is not None and cache.attachment is not None:
            cache.attachment[first : first + count] = self.model.attachment.keys(hidden)
        return hidden


def visible_rows(groups: list[tuple[LaneRows, Tensor]], view: int) -> VisibleRows:
    """What the rows that are present, group by group, see through a view."""
    seen = [(rows.views[view], present) for rows, present in groups]
    width = max(some.attends.shape[1] for some, _ in seen)
    channels = [pad_columns(some.channel[present], width) for some, present in seen if some.channel is not None]
    return VisibleRows(
        attends=torch.cat([pad_columns(some.attends[present], width) for some, present in seen]),
        relative=torch.cat([pad_columns(some.relative[present], width) for some, present in seen]),
        keys=torch.cat([some.keys[present, 0] for some, present in seen]),
        channel=torch.cat(channels) if channels else None,
    )
