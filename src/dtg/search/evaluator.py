"""What a search asks of a model: rows for hypotheses that take an action, and the log-probabilities of what may follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dtg.families.family import Family
from dtg.families.lanes import Lanes
from dtg.families.rows import NOTHING, LaneRows
from dtg.model.cached_keys import Reach
from dtg.model.heads import ARCS_AND_POP, Allowed
from dtg.model.model import make_family
from dtg.model.precision import finest
from dtg.model.symbols import NONE, Targets
from dtg.search.kv_cache import Arena
from dtg.search.options import BeamOptions
from dtg.transitions import END as END_ACTION
from dtg.transitions import GEN, Action, Operation
from dtg.transitions.lanes import IDLE, FeatureTable, LaneActions, legal, pad_columns

if TYPE_CHECKING:
    from dtg.model import DecoderModel

PREDICTIONS_AT_ONCE = 256  # rows whose whole vocabulary is looked at together


class Evaluator:
    """A model as a search sees it. `rows_evaluated` counts the rows it has computed."""

    def __init__(self, model: DecoderModel, options: BeamOptions) -> None:
        self.model = model
        self.constrained = model.config.constrained if options.constrained is None else options.constrained
        same = options.derivations == model.family.system.derivations
        self.family: Family = model.family if same else make_family(model.config, options.derivations)
        self.system = self.family.system
        operations = model.symbols.operations
        names = [Action(code, None, far if self.system.distances != (None,) else None) for code, far in operations]
        pops = [Action(action.operation) if action.operation == Operation.POP else action for action in names]
        self.actions: tuple[Action, ...] = (GEN(), END_ACTION, *pops)  # what the columns of `choices` stand for
        codes = [Operation.GEN, Operation.END, *(code for code, _ in operations)]
        self.operation = torch.tensor([int(code) for code in codes], device=model.device)
        self.distance = torch.tensor([1, 1, *(far for _, far in operations)], device=model.device)
        self.rows_evaluated = 0

    def begin(self) -> tuple[Lanes, Arena, Tensor]:
        """One hypothesis with nothing but `<ROOT>`; (1, width) is its hidden vector."""
        config, weight = self.model.config, self.model.decoder.embedding.weight
        arena = Arena.empty(config.layers, config.attention_heads, config.head_width, like=weight)
        nothing_known = torch.full((1,), -1, device=self.model.device)
        lanes, rows = self.family.begin(nothing_known, self.model.root, torch.zeros_like(nothing_known))
        reads = torch.full_like(nothing_known, NOTHING), rows.piece[:, 0]
        hidden = self._compute(arena, [(rows, torch.ones_like(nothing_known, dtype=torch.bool))], *reads, composed=0)
        return lanes, arena, hidden

    def take(self, lanes: Lanes, arena: Arena, columns: Tensor) -> Tensor:
        """Let every lane take the operation of a column; (lanes, width) are their hidden vectors then."""
        piece = torch.full_like(columns, NOTHING)
        return self.act(lanes, arena, columns, piece, starts_word=piece >= 0)

    def generate(self, lanes: Lanes, arena: Arena, piece: Tensor, *, starts_word: Tensor) -> Tensor:
        """Let every lane generate a piece, or wait where it is NOTHING; hidden vectors of those that do not wait."""
        operation = torch.where(piece == NOTHING, IDLE, int(Operation.GEN))
        return self._advance(lanes, arena, LaneActions.of(operation, piece, starts_word, torch.ones_like(piece)))

    def act(self, lanes: Lanes, arena: Arena, columns: Tensor, piece: Tensor, *, starts_word: Tensor) -> Tensor:
        """Let lanes take operations or generate pieces (where that is not NOTHING); their hidden vectors then."""
        actions = LaneActions.of(self.operation[columns], piece, starts_word, self.distance[columns])
        return self._advance(lanes, arena, actions)

    def choices(self, hidden: Tensor, features: Tensor, words_left: int | Tensor) -> tuple[Tensor, Tensor]:
        """(lanes, columns) the log-probability of each kind of action, and whether it is legal.

        `words_left`, a number or (lanes, 1), is 1 on the way to a next word, 0 to the sentence's end, -1 to either.
        """
        allowed, model = self._allowed(features), self.model
        found: Tensor = model.head.choices(hidden, model.decoder.embedding.weight, allowed, model.starts_word)
        verdicts = legal(self.system, FeatureTable(features, words_left))
        operations = [verdicts[code] for code in ARCS_AND_POP if code in verdicts]
        may = torch.cat([verdicts[Operation.GEN], verdicts[Operation.END], *operations], dim=1)
        if model.config.end == "pop_root" and not (isinstance(words_left, int) and words_left > 0):
            found = self._released_endings(found, hidden, features, allowed)
        return found.to(finest(found.device)), may

    def piece_log_probability(self, hidden: Tensor, features: Tensor, piece: Tensor) -> Tensor:
        """(lanes,) log p(GEN and this piece)."""
        found = []
        for some, state, target in zip(*(t.split(PREDICTIONS_AT_ONCE) for t in (hidden, features, piece)), strict=True):
            generate = torch.full_like(target, self.model.symbols.classes.get(Operation.GEN, NONE))
            found.append(self._log_probability(some, Targets(generate, target), self._allowed(state)))
        return torch.cat(found) if found else hidden.new_empty(0, dtype=finest(hidden.device))

    def pieces(self, hidden: Tensor, features: Tensor) -> Tensor:
        """(lanes, pieces) log p(piece | GEN)."""
        model = self.model
        allowed = self._allowed(features)
        found: Tensor = model.head.pieces(hidden, model.decoder.embedding.weight, allowed, model.starts_word)
        return found.to(finest(found.device))

    def _allowed(self, features: Tensor) -> Allowed | None:
        joint = self.model.config.head == "joint"
        return Allowed.of(self.system, features, joint=joint) if self.constrained else None

    def _log_probability(self, hidden: Tensor, targets: Targets, allowed: Allowed | None) -> Tensor:
        weight = self.model.decoder.embedding.weight
        found: Tensor = self.model.head(hidden, targets, weight, allowed, self.model.starts_word)
        return found.to(finest(found.device))

    def _released_endings(self, found: Tensor, hidden: Tensor, features: Tensor, allowed: Allowed | None) -> Tensor:
        """In released models the last arc and the end are generated like words."""
        symbols = self.model.symbols
        generate = torch.full((len(hidden),), symbols.classes.get(Operation.GEN, NONE), device=hidden.device)

        def as_word(token: int) -> Tensor:
            targets = Targets(generate, torch.full_like(generate, token))
            return self._log_probability(hidden, targets, allowed).to(found.dtype)

        right = self.operation == Operation.RIGHTARC
        last_arc = (features[:, :1] == 2) & right  # one word is left above <ROOT>
        found = torch.where(last_arc, as_word(symbols.pop_root_token)[:, None], found)
        return torch.where(self.operation == Operation.END, as_word(symbols.end_token)[:, None], found)

    def _advance(self, lanes: Lanes, arena: Arena, actions: LaneActions) -> Tensor:
        """Carry out the actions and compute the rows that they add."""
        composes = self.family.composes(lanes, actions)
        adds = actions.adds_row
        composed, added = composes.long().cumsum(0), adds.long().cumsum(0)
        count = int(composed[-1])
        first = arena.used
        ids = torch.cat([first + (composed - 1).clamp(min=0), first + count + (added - 1).clamp(min=0)], dim=1)
        groups = self.family.advance(lanes, actions, ids)
        ends = (actions.operation == Operation.RIGHTARC) & lanes.states.root_has_word
        rows, reads = [], []
        for group in groups:
            present = (adds if group.predicts else composes)[:, 0]
            if not group.predicts and not count:
                continue
            operation, piece = self.family.represent(actions.operation, group.piece, ends)
            second = torch.full_like(ends, group.predicts and self.family.doubles_arcs)
            tokens = self.model.symbols.tokens_read(operation, piece, actions.distance, second)
            rows.append((group, present))
            reads.append(torch.cat(tokens, dim=1)[present])
        operation_tokens, piece_tokens = torch.cat(reads).unbind(1)
        return self._compute(arena, rows, operation_tokens, piece_tokens, composed=count)

    def _compute(
        self, arena: Arena, groups: list[tuple[LaneRows, Tensor]], operation: Tensor, piece: Tensor, *, composed: int
    ) -> Tensor:
        """Hidden vectors of the rows that are present, group by group, without the `composed` ones that come first.

        All of them get the arena's next numbers.
        """
        width = max(rows.attends.shape[1] for rows, _ in groups)
        attends = torch.cat([pad_columns(rows.attends[present], width) for rows, present in groups])
        relative = torch.cat([pad_columns(rows.relative[present], width) for rows, present in groups])
        keys = torch.cat([rows.keys[present, 0] for rows, present in groups])
        self.rows_evaluated += len(keys)
        first = arena.reserve(len(keys))
        reach = Reach.of(
            attends, relative, keys, lambda layer, keys_values: arena.put(layer, first, keys_values), skip=composed
        )
        hidden: Tensor = self.model.decoder(operation, piece, reach)
        return hidden
