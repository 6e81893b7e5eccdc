"""What the page shows, as JSON: a record for each word, for a hypothesis and its attention, for the next words, for
the end.

Log-probabilities and surprisals are in nats here, as everywhere in Python; the page shows bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from dtg.analysis import Analysis, NextWords, analyse_hypothesis, predict_next_words
from dtg.model.model import DecoderModel
from dtg.scoring.marginals import marginalize
from dtg.search.backpointers import WordBackpointers, actions_of
from dtg.search.state import BeamState
from dtg.transitions import GEN, Action, State, TransitionSystem
from dtg.transitions.action import NOTHING
from dtg.transitions.arcs.shared import DependencyState
from dtg.transitions.shift_attach import AttachState
from dtg.transitions.top_down import PhraseState

Record = dict[str, Any]

HYPOTHESES = 8  # shown of each beam
ENDINGS = 5  # complete trees
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"  # of attention weights, two to a weight


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a derivation and the state after it."""

    action: Action
    state: State


def dependency_record(steps: Sequence[Step]) -> Record:
    """Heads, the stack, and after how many words, by which action, each head was found."""
    built: dict[int, tuple[int, str]] = {}
    final = steps[-1].state
    assert isinstance(final, DependencyState)
    for step in steps:
        assert isinstance(step.state, DependencyState)
        for dependent, head in enumerate(step.state.heads, start=1):
            if head is not None and dependent not in built:
                built[dependent] = (len(step.state.words), str(step.action))
    return {
        "kind": "dependency",
        "heads": list(final.heads),
        "stack": list(final.shifted),
        "built": [list(built[word]) if word in built else None for word in range(1, len(final.words) + 1)],
    }


def constituency_record(steps: Sequence[Step]) -> Record:
    """Phrases in the order they were opened, the stack, and after how many words each was opened and closed."""
    final = steps[-1].state
    assert isinstance(final, PhraseState)
    built: list[list[int | None]] = [[None, None] for _ in final.nodes]
    for step in steps:
        assert isinstance(step.state, PhraseState)
        for place, (_, _, last) in enumerate(step.state.nodes):
            if built[place][0] is None:
                built[place][0] = len(step.state.words)
            if last is not None and built[place][1] is None:
                built[place][1] = len(step.state.words)
    return {
        "kind": "constituency",
        "nodes": [list(node) for node in final.nodes],
        "stack": ["ROOT", *phrase_stack(final)],
        "built": built,
    }


def phrase_stack(state: PhraseState) -> list[str]:
    """Open phrases, and within them the words and closed phrases that belong to no closed one, bottom to top."""
    found, covered, word = list[str](), 0, 1
    for label, first, last in state.nodes:
        while word < first:  # words before it, in the phrase around it
            if word > covered:
                found.append(state.words[word - 1])
            word += 1
        if first > covered:
            found.append(f"({label}" if last is None else label)
            covered = max(covered, last or 0)
    return found + [state.words[number - 1] for number in range(max(word, covered + 1), len(state.words) + 1)]


def binary_record(steps: Sequence[Step]) -> Record:
    """Constituents of more than one word, the stack, and after how many words each was made."""
    final = steps[-1].state
    assert isinstance(final, AttachState)
    built: dict[tuple[int, int], int] = {}
    for step in steps:
        assert isinstance(step.state, AttachState)
        for span in step.state.spans:
            built.setdefault(span, len(step.state.words))
    spans = sorted(built, key=lambda span: (span[0], -span[1]))
    items = [" ".join(final.words[first - 1 : last]) for first, last in final.stack]
    return {
        "kind": "binary",
        "nodes": [["·", first, last] for first, last in spans],
        "stack": ["ROOT", *items, *(final.words[-1:] if final.waiting else ())],
        "built": [[built[span], built[span]] for span in spans],
    }


# How trees of each kind are described for the page, which has a drawing for each: a new kind of tree is one entry here.
TREES: Mapping[str, Callable[[Sequence[Step]], Record]] = {
    "dependency": dependency_record,
    "constituency": constituency_record,
    "binary": binary_record,
}


def tree_record(system: TransitionSystem, steps: Sequence[Step]) -> Record | None:
    """The tree that a derivation has built so far; None in systems without trees. A kind without a drawing is named."""
    if system.kind is None:
        return None
    name = system.kind.name
    return TREES[name](steps) if name in TREES else {"kind": name}


def replay_steps(
    system: TransitionSystem,
    before_words: Sequence[Sequence[int]],
    words: Sequence[str],
    subwords: Sequence[int],
    after: Sequence[int] = (),
) -> list[Step]:
    """Every action of a derivation, as `replay` takes them, with the states between them."""
    state, known, steps = system.initial(), system.table.actions, list[Step]()
    counts = [1, *subwords]  # nothing is attached before the first word
    actions = list[Action]()
    for numbers, word, count in zip(before_words, words, counts, strict=False):
        actions += [*(known[number] for number in system.by_words(numbers, count)), GEN(word)]
    actions += [known[number] for number in system.by_words(after, counts[-1])]
    for action in actions:
        state = system.apply(state, action)
        steps.append(Step(action, state))
    return steps


def model_record(name: str, model: DecoderModel) -> Record:
    """What the page has to know of a model."""
    config, family = model.config, model.family
    return {
        "name": name,
        "family": family.name,
        "kind": None if family.system.kind is None else family.system.kind.name,
        "layers": config.layers,
        "heads": config.attention_heads,
        "views": list(family.views),
    }


def word_record(state: BeamState, hypotheses: int = HYPOTHESES) -> Record:
    """What the last word cost, and the most probable hypotheses after it."""
    beams, evaluator = state._beams, state.search.evaluator
    tokenizer = evaluator.model.require_tokenizer()
    shown = min(hypotheses, len(beams.score))
    return {
        "word": state.words[-1],
        "pieces": [tokenizer.piece(piece) for piece in tokenizer.encode(state.words[-1])],
        "surprisal": rounded(state.surprisal),
        "lexical": rounded(state.lexical),
        "structural": rounded(state.structural),
        "entropy": rounded(state.entropy),
        "kept": rounded(state.kept),
        "log_probability": rounded(state.log_probability),
        "count": len(beams.score),
        "hypotheses": [hypothesis_record(state, number) for number in range(shown)],
    }


def hypothesis_record(state: BeamState, number: int) -> Record:
    """A hypothesis: its probability, where it comes from, its actions before each word, and its tree."""
    beams, system = state._beams, state.search.evaluator.system
    before_words = actions_of(beams.backpointers, number)
    names = system.table.actions
    score = float(beams.score[number])
    assert isinstance(beams.backpointers, WordBackpointers)
    return {
        "probability": rounded(math.exp(score - state.log_probability)),
        "log_probability": rounded(score),
        "parent": int(beams.backpointers.parent[number]),
        "actions": [" ".join(str(names[action]) for action in ids) for ids in before_words],
        "tree": tree_record(system, replay_steps(system, before_words, state.words, state.subwords)),
    }


def ending_record(state: BeamState, trees: int = ENDINGS) -> Record:
    """log p(x), exact for short sentences, and the best complete trees of the search."""
    ending, evaluator = state.end(), state.search.evaluator
    model, options = evaluator.model, state.search.options
    marginal = marginalize(model, state.words, "auto", options)
    record: Record = {
        "log_probability": rounded(marginal.log_probability),
        "kind": marginal.kind,
        "how": marginal.how,
        "surprisal": rounded(ending.surprisal),
        "trees": [],
    }
    if model.has_trees:
        system, endings = evaluator.system, ending._endings
        for number in range(min(trees, len(endings.score))):
            before_words = actions_of(ending._backpointers, int(endings.parent[number]))
            after = [action for action in endings.actions[number].tolist() if action != NOTHING]
            score = float(endings.score[number])
            record["trees"].append(
                {
                    "probability": rounded(math.exp(score - marginal.log_probability)),
                    "log_probability": rounded(score),
                    "tree": tree_record(system, replay_steps(system, before_words, state.words, state.subwords, after)),
                }
            )
    return record


def next_record(state: BeamState, hypothesis: int | None = None, count: int = 10) -> Record:
    """The words that are expected next, given everything or given one hypothesis."""
    found: NextWords = predict_next_words(state, count, hypothesis)
    return {
        "words": [
            {"word": word.word, "pieces": list(word.pieces), "probability": rounded(word.probability)}
            for word in found.words
        ],
        "new_word": rounded(found.new_word),
        "same_word": rounded(found.same_word),
    }


def attention_record(state: BeamState, hypothesis: int) -> Record:
    """The rows of a hypothesis, what each sees through each view, and the attention weights of every layer and head."""
    found = analyse_hypothesis(state, hypothesis)
    names = list(state.search.evaluator.family.views)
    return {
        "actions": [
            {"name": name, "word": word, "log_probability": rounded(score)}
            for name, word, score in zip(
                found.actions, found.action_words, found.log_probabilities.tolist(), strict=True
            )
        ],
        "rows": [
            {"reads": list(row.reads), "kind": str(row.kind), "predicts": row.predicts, "word": row.word}
            for row in found.rows
        ],
        "views": [
            {
                "name": name,
                "attends": [list(row.views[place].attends) for row in found.rows],
                "relative": [list(row.views[place].relative) for row in found.rows],
            }
            for place, name in enumerate(names)
        ],
        "heads": [[names.index(name) for name in heads] for heads in found.head_views],
        "weights": encoded_weights(found, names),
    }


def encoded_weights(found: Analysis, names: Sequence[str]) -> list[list[str]]:
    """By layer and head, the weights of what each row sees, row by row, each as two digits of a number below 4096."""
    keys = {
        name: [(row.index, key) for row in found.rows for key in row.views[place].attends]
        for place, name in enumerate(names)
    }
    return [
        [encoded(weights, keys[name]) for weights, name in zip(heads, views, strict=True)]
        for heads, views in zip(found.attention, found.head_views, strict=True)
    ]


def encoded(weights: Tensor, keys: Sequence[tuple[int, int]]) -> str:
    """The weights of these (row, key) pairs, two digits each."""
    rows, columns = zip(*keys, strict=True)
    levels: list[int] = (weights[list(rows), list(columns)] * 4095).round().long().tolist()
    return "".join(DIGITS[level >> 6] + DIGITS[level & 63] for level in levels)


def rounded(value: float) -> float | None:
    """As many digits as anybody looks at; None for what JSON cannot hold."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
