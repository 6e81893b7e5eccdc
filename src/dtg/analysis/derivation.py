"""`Analysis`: one derivation, complete or not, with everything that the decoder computes for it, aligned with words
and actions.

The rows come from the family's `advance`, like all rows; hidden states and attention weights from the decoder's own
layers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from dtg.analysis.recording import RecordingKeys, RecordingLayerKeys
from dtg.errors import InputError
from dtg.families import Family, Kind, PackedRows, pack
from dtg.families.reading import ROOT_PIECE, read_action, view_of_row
from dtg.families.rows import KINDS, RowView
from dtg.model.decoder import Decoder
from dtg.model.model import DecoderModel
from dtg.model.packed_keys import PackedKeys
from dtg.search.backpointers import actions_of, replay
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.state import BeamState
from dtg.text.sentence import GivenSentence, as_sentence
from dtg.transitions.action import NOTHING, Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.transitions.system import TransitionSystem
from dtg.transitions.table import FINISH, GENERATE
from dtg.trees.kinds import PartialTree, Tree


@dataclass(frozen=True, slots=True)
class AnalysedRow:
    """One row of the decoder: what it reads and predicts, where it comes from, and what it sees."""

    index: int
    reads: tuple[str, ...]
    kind: Kind
    predicts: str | None  # the next action; None where a row predicts nothing, or what follows is not known
    action: int | None  # the index, in `Analysis.actions`, of the action that added it; None for <ROOT>
    word: int  # the number of the latest word when it was added; 0 for <ROOT>
    views: tuple[RowView, ...]  # for each view of the family, the rows that it shows and their relative positions


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A derivation as a model computes it. Tensors are on the model's device and are not part of any graph.

    Layers are numbered from 0 in `attention`; in `hidden`, 0 is the embeddings and the output of layer i is i + 1.
    """

    words: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]  # the subwords of each word
    tree: Tree | PartialTree | None  # None in models without trees
    actions: tuple[str, ...]  # GEN is there once for each subword; <END> is the last if the sentence is complete
    action_words: tuple[int, ...]  # for each action, the number of the latest word when it is done
    log_probabilities: Tensor  # (actions,) of each action given those before it, in nats
    rows: tuple[AnalysedRow, ...]
    hidden: Tensor  # (layers + 1, rows, width)
    output: (
        Tensor  # (rows, width) what the predictions are made from: the last layer, normalised where the model does so
    )
    attention: Tensor  # (layers, heads, rows, rows) how much each row attends to each; every row sums to 1
    head_views: tuple[tuple[str, ...], ...]  # for each layer and head, the name of the view that it sees through

    @property
    def word_rows(self) -> tuple[int, ...]:
        """For each word, the row that reads its last subword.

        In pushdown models a row is made when its token is attached: in a hypothesis, the last word has none yet.
        """
        last = {word: place for place, word in enumerate(self.action_words) if self.actions[place].startswith("GEN")}
        made_by = [-1 if row.action is None else row.action for row in self.rows]
        rows = (bisect_left(made_by, last[number]) for number in range(1, len(self.words) + 1))
        return tuple(row for row in rows if row < len(self.rows))

    def word_states(self, layer: int = -1) -> Tensor:
        """(words, width) the hidden state of each word once its last subword is there, after a layer: see `hidden`."""
        return self.hidden[layer][list(self.word_rows)]


def analyse(
    model: DecoderModel, given: GivenSentence | Tree, options: BeamOptions, constrained: bool | None = None
) -> Analysis:
    """A tree, or a sentence with the best tree that a search finds; see `LanguageModel.analyse`."""
    tokenizer = model.require_tokenizer()
    if isinstance(given, Tree):
        tree: Tree | None = given
        words = given.words
    else:
        words = as_sentence(given, model.config.language).words
        tree = best_tree(model, words, options) if model.has_trees else None
    pieces = tokenizer.encode_sentence(words)
    batch = SentenceBatch.of_words([pieces], model.device) if tree is None else model.encode([tree], [pieces])
    actions = model.family.system.derive(batch)
    is_constrained = model.is_constrained(constrained)
    return analyse_derivation(model, model.family, words, pieces, actions, tree, is_constrained, is_complete=True)


def analyse_hypothesis(state: BeamState, number: int = 0) -> Analysis:
    """A hypothesis of a search just after a word.

    Args:
        state: what `step` gave.
        number: which of its hypotheses, the most probable first.
    """
    evaluator, beams = state.search.evaluator, state._beams
    if not 0 <= number < len(beams.score):
        raise InputError(f"there is no hypothesis {number}; the beam has {len(beams.score)}, counted from 0.")
    model, system = evaluator.model, evaluator.system
    before_words = actions_of(beams.backpointers, number)
    pieces = [model.require_tokenizer().encode(word) for word in state.words]
    actions = partial_derivation(system, before_words, pieces, model.device)
    log_probability = float(beams.score[number])
    share = float((beams.score[number] - beams.statistics.log_mass[0]).exp())
    tree = system.partial(replay(system, before_words, state.words, subwords=state.subwords), share, log_probability)
    return analyse_derivation(
        model,
        evaluator.family,
        state.words,
        pieces,
        actions,
        tree if model.has_trees else None,
        evaluator.constrained,
        is_complete=False,
    )


def best_tree(model: DecoderModel, words: Sequence[str], options: BeamOptions) -> Tree:
    """The best tree that a beam search finds."""
    search = BeamSearch(model, options)
    state = BeamState(search, search.begin())
    for word in words:
        state = state.step(word)
    tree: Tree = state.end().trees(1)[0].tree
    return tree


def partial_derivation(
    system: TransitionSystem,
    before_words: Sequence[Sequence[int]],
    pieces: Sequence[Sequence[int]],
    device: torch.device,
) -> ActionBatch:
    """The actions of a hypothesis; as `pack` expects of derivations, `<END>` comes last, which adds no row."""
    within = [] if system.within_word is None else [system.table.id_of(system.within_word)]
    steps = list[tuple[int, int, bool]]()  # the id, the subword, whether it begins a word
    for numbers, word in zip(before_words, pieces, strict=True):
        steps += [(number, NOTHING, False) for number in numbers]
        for place, piece in enumerate(word):
            steps += [(number, NOTHING, False) for number in (within if place else [])]
            steps.append((GENERATE, piece, place == 0))
    ids, subwords, starts = zip(*steps, (FINISH, NOTHING, False), strict=True)
    return ActionBatch(
        torch.tensor(ids, device=device),
        torch.tensor(subwords, device=device),
        torch.tensor(starts, device=device),
        torch.tensor([0, len(ids)], device=device),
    )


@torch.no_grad()
def analyse_derivation(
    model: DecoderModel,
    family: Family,
    words: Sequence[str],
    pieces: Sequence[Sequence[int]],
    actions: ActionBatch,
    tree: Tree | PartialTree | None,
    constrained: bool,
    *,
    is_complete: bool,
) -> Analysis:
    """The derivation of one sentence. Without `is_complete`, its last action only stands for whatever follows."""
    tokenizer = model.require_tokenizer()
    flat = list(chain.from_iterable(pieces))
    # Subwords are numbered from 1 in the order they come, so that rows know which one they read; 0 is <ROOT>.
    numbers = actions.piece.clone()
    numbers[numbers != NOTHING] = torch.arange(1, len(flat) + 1, device=model.device)
    numbered = pack(family, replace(actions, piece=numbers), root=0)
    ids = torch.tensor([model.root, *flat], device=model.device)
    packed = replace(numbered, piece=torch.where(numbered.piece == NOTHING, NOTHING, ids[numbered.piece]))

    keys = RecordingKeys(PackedKeys.of(packed, model.groups))
    operation_tokens, piece_tokens = model.symbols.read_rows(packed)
    hidden, output = all_layers(model.decoder, operation_tokens, piece_tokens, keys)
    count = len(actions.id) if is_complete else len(actions.id) - 1
    log_probabilities = action_log_probabilities(model, packed, output, actions, constrained)[:count]

    names = [ROOT_PIECE, *(tokenizer.piece(piece) for piece in flat)]
    known = family.system.table.actions
    said = [
        str(known[number] if piece == NOTHING else Action(Operation.GEN, names[piece]))
        for number, piece in zip(actions.id.tolist(), numbers.tolist(), strict=True)
    ]
    done: list[int] = actions.starts_word.long().cumsum(0).tolist()
    views = family.views
    return Analysis(
        words=tuple(words),
        pieces=tuple(tuple(tokenizer.piece(piece) for piece in word) for word in pieces),
        tree=tree,
        actions=tuple(said[:count]),
        action_words=tuple(done[:count]),
        log_probabilities=log_probabilities,
        rows=analysed_rows(family, numbered, actions, said[:count], names, done),
        hidden=hidden,
        output=output,
        attention=torch.stack(keys.weights),
        head_views=tuple(
            tuple(views[group.view] for group in groups for _ in range(group.first, group.stop))
            for groups in model.groups
        ),
    )


def all_layers(decoder: Decoder, operation: Tensor, piece: Tensor, keys: RecordingKeys) -> tuple[Tensor, Tensor]:
    """(layers + 1, rows, width) what the first layer reads and what each layer gives, and the decoder's output."""
    found: list[Tensor] = []

    def record(module: nn.Module, given: tuple[Any, ...], output: Tensor) -> None:
        rows, seen = given[:2]
        if isinstance(seen, RecordingLayerKeys) and seen.weights is keys.weights:  # not another thread's
            found.extend([output] if found else [rows, output])

    hooks = [layer.register_forward_hook(record) for layer in decoder.layers]
    try:
        output: Tensor = decoder(operation, piece, keys)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(found), output


def action_log_probabilities(
    model: DecoderModel, packed: PackedRows, output: Tensor, actions: ActionBatch, constrained: bool
) -> Tensor:
    """(actions,) in nats; 0 for the last one where a token still waits to be attached."""
    rows = (packed.target >= 0).nonzero()[:, 0]
    places = packed.target[rows]
    found = torch.zeros(len(actions.id), dtype=output.dtype, device=output.device)
    found[places] = model.predict(output[rows], model.aims(packed.features[rows], actions, places, constrained))
    if model.attachment is not None:  # a row predicts a token, and then what the token is attached to
        attaches = actions.id[places.clamp(max=len(actions.id) - 2) + 1] >= model.symbols.choices
        rows, places = rows[attaches], places[attaches] + 1
        asked = model.attachable(packed, rows, actions, places, constrained)
        found[places] = model.predict_attachments(output, rows, actions, places, asked)
    return found


def analysed_rows(
    family: Family,
    packed: PackedRows,
    actions: ActionBatch,
    said: Sequence[str],
    names: Sequence[str],
    done: Sequence[int],
) -> tuple[AnalysedRow, ...]:
    """Rows in words; `said` are the actions that are known, `done` the number of the latest word after each."""
    added = family.rows_added(actions.id)
    made_by = [None, *torch.repeat_interleave(torch.arange(len(added), device=added.device), added).tolist()]
    known = family.system.table.actions
    columns = (packed.kind, packed.action, packed.piece, packed.target, packed.second)
    rows = []
    for index, (kind, action, piece, target, second) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        operation = () if action == NOTHING else (read_action(known[action], second),)
        by = made_by[index]
        rows.append(
            AnalysedRow(
                index=index,
                reads=operation if piece == NOTHING else (*operation, names[piece]),
                kind=KINDS[kind],
                predicts=said[target] if 0 <= target < len(said) else None,
                action=by,
                word=0 if by is None else done[by],
                views=tuple(
                    view_of_row(name, view, index, 0) for name, view in zip(family.views, packed.views, strict=True)
                ),
            )
        )
    return tuple(rows)
