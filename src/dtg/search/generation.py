"""Generates sentences with their trees, with or without a prompt.

Every action is drawn from those that are legal, so every sentence comes with a valid tree. At the limit of words GEN is
illegal, and the tree closes. Of the subwords, those that spell single bytes are left out: they stand for characters that the
vocabulary lacks, and drawn at random they spell none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.io.settings import Seed, check_value
from dtg.model.model import DecoderModel
from dtg.search.backpointers import actions_of, replay
from dtg.search.beam_search import BeamSearch
from dtg.search.options import BeamOptions
from dtg.search.sampling import Sampling, draw
from dtg.search.word_step import NextWord, compacted
from dtg.text.tokenizer import Tokenizer
from dtg.transitions.action import NOTHING
from dtg.transitions.lanes import FeatureTable, legal
from dtg.transitions.table import FINISH, GENERATE

AT_ONCE = 64  # sentences
MOST_PIECES = 24  # of one word: without a limit, a model that has learned little may never end a word
TIDY_EVERY = 32  # steps between two looks at which rows are still needed


@dataclass(frozen=True, slots=True)
class GeneratedSentence:
    """A sentence that a model made up. `tree` is None in models without trees."""

    words: tuple[str, ...]
    tree: Any  # of the kind that the model generates
    log_probability: float  # of its words and tree, in the model as it is, whatever they were drawn with; nats
    complete: bool  # it ended by itself, before the limit of words


@dataclass(slots=True)
class Draft:
    """One sentence in the making."""

    before_words: list[list[int]]  # for each word, the ids of the actions taken before it
    pieces: list[list[int]]  # of each word that was generated
    log_probability: float
    since_word: list[int] = field(default_factory=list)  # actions taken since the last word
    cut: bool = False  # the limit of words was reached


def generate_sentences(
    model: DecoderModel,
    count: int,
    *,
    prompt: Sequence[str] = (),
    sampling: Sampling,
    max_words: int,
    seed: int,
    options: BeamOptions,
) -> Iterator[GeneratedSentence]:
    """Sentences that begin with the words of the prompt. The same seed gives the same sentences."""
    tokenizer = model.require_tokenizer()
    check_value("count", count, int)
    if count < 1:
        raise InputError(f"{count} sentences cannot be generated; ask for at least one.")
    check_value("max_words", max_words, int)
    check_value("seed", seed, Seed)
    if max_words < max(1, len(prompt)):
        raise InputError(
            f"max_words is {max_words!r}; it must be at least 1, and no less than the prompt's {len(prompt)}."
        )
    generator = torch.Generator(model.device).manual_seed(seed)
    search = BeamSearch(model, options)
    for first in range(0, count, AT_ONCE):
        some = min(AT_ONCE, count - first)
        yield from Generation(search, tokenizer, prompt, some, sampling, max_words, generator).run()


class Generation:
    """Some sentences that are generated together."""

    @torch.inference_mode()
    def __init__(
        self,
        search: BeamSearch,
        tokenizer: Tokenizer,
        prompt: Sequence[str],
        count: int,
        sampling: Sampling,
        max_words: int,
        generator: torch.Generator,
    ) -> None:
        self.evaluator, self.tokenizer = search.evaluator, tokenizer
        self.prompt, self.sampling, self.max_words, self.generator = tuple(prompt), sampling, max_words, generator
        beams = search.begin()
        for word in prompt:
            beams = search.step(beams, search.expand(beams), [NextWord(0, tokenizer.encode(word))])
        # What the prompt's words have been parsed into is drawn as well, by how probable it is.
        shares = (beams.score - beams.statistics.log_mass[0]).exp()
        drawn = torch.multinomial(shares, count, replacement=True, generator=generator)
        self.lanes, self.cache = compacted(beams.lanes.fork(drawn), beams.cache)
        self.hidden = beams.hidden[drawn]
        scores = beams.score[drawn].tolist()
        self.drafts = [
            Draft(actions_of(beams.backpointers, hypothesis), [], score)
            for hypothesis, score in zip(drawn.tolist(), scores, strict=True)
        ]
        self.is_byte = tokenizer.is_byte.to(self.hidden.device)
        self.starts_word = tokenizer.starts_word.to(self.hidden.device)
        self.is_mark = torch.zeros_like(self.starts_word)  # of a word's beginning, and nothing more; where that matters
        if self.evaluator.system.within_word is not None:
            first = tokenizer.starts_word.nonzero()[:, 0].tolist()
            empty = [number for number in first if not tokenizer.decode([number])]
            self.is_mark[torch.tensor(empty, dtype=torch.long)] = True

    @torch.inference_mode()
    def run(self) -> list[GeneratedSentence]:
        """Step by step until all have ended."""
        running = list(range(len(self.drafts)))  # the drafts that the lanes belong to
        steps = 0
        while running:
            action, piece = self.draw([self.drafts[number] for number in running])
            unfinished = [place for place, taken in enumerate(action.tolist()) if taken != FINISH]
            running = [running[place] for place in unfinished]
            if not running:
                break
            chosen = torch.tensor(unfinished, device=action.device)
            if len(unfinished) < len(action):
                self.lanes, self.hidden = self.lanes.fork(chosen), self.hidden[chosen]
                action, piece = action[chosen], piece[chosen]
            starts = self.starts_word[piece.clamp(min=0)]
            self.hidden = self.evaluator.act(self.lanes, self.cache, self.hidden, action, piece, starts_word=starts)
            steps += 1
            if steps % TIDY_EVERY == 0:
                self.lanes, self.cache = compacted(self.lanes, self.cache)
        return [self.finished(draft) for draft in self.drafts]

    def draw(self, drafts: Sequence[Draft]) -> tuple[Tensor, Tensor]:
        """What each lane does next, written down in its draft: (lanes,) the id of an action, and a subword for GEN."""
        features = self.lanes.states.features()
        words = torch.tensor([len(self.prompt) + len(draft.pieces) for draft in drafts], device=features.device)
        at_limit = words >= self.max_words
        # A word that is nothing yet but the mark of its beginning must be continued.
        empty = torch.tensor([self.is_empty(draft) for draft in drafts], device=features.device)
        words_left = torch.where(at_limit & ~empty, 0, -1)
        if self.evaluator.system.within_word is not None:  # the prompt's last word is whole, and waits to be attached
            in_prompt = [bool(self.prompt) and not draft.pieces and not draft.since_word for draft in drafts]
            words_left[torch.tensor(in_prompt, device=features.device) & ~at_limit] = 1
        choices, may = self.evaluator.choices(self.lanes, self.cache, self.hidden, words_left[:, None])
        may = torch.where(empty[:, None], self.goes_on(may), may)
        action = draw(choices.masked_fill(~may, -torch.inf), self.sampling.for_actions, self.generator)
        piece = torch.full_like(action, NOTHING)
        generates = action == GENERATE
        which = generates.nonzero()[:, 0]
        if len(which):
            pieces = self.evaluator.pieces(self.hidden[which], features[which])
            allowed = self.pieces_allowed([drafts[place] for place in which.tolist()], features[which])
            piece[which] = draw(pieces.masked_fill(~allowed, -torch.inf), self.sampling, self.generator)
            choices[which, GENERATE] += pieces.gather(1, piece[which, None])[:, 0]
        scores = choices.gather(1, action[:, None])[:, 0].tolist()
        starts: list[bool] = self.starts_word[piece.clamp(min=0)].tolist()
        for draft, taken, number, score, begins, limit in zip(
            drafts, action.tolist(), piece.tolist(), scores, starts, at_limit.tolist(), strict=True
        ):
            draft.log_probability += score
            draft.cut |= limit
            if taken != GENERATE:
                draft.since_word.append(taken)
            elif begins:
                draft.before_words.append(draft.since_word)
                draft.since_word, draft.pieces = [], [*draft.pieces, [number]]
            else:  # what stood between two subwords of a word is part of the word
                draft.pieces[-1].append(number)
                draft.since_word = []
        return action, piece

    def goes_on(self, may: Tensor) -> Tensor:
        """(drafts, ids) what continues a word: GEN, or, where the last subword waits for that, what stands between two."""
        ids = [GENERATE]
        if self.evaluator.system.within_word is not None:
            ids.append(self.evaluator.system.table.id_of(self.evaluator.system.within_word))
        continues = torch.zeros_like(may).index_fill(1, torch.tensor(ids, device=may.device), True)
        return continues & may if len(ids) > 1 else continues

    def pieces_allowed(self, drafts: Sequence[Draft], features: Tensor) -> Tensor:
        """(drafts, subwords) a word's beginning anywhere but in an empty word; more of it while it is open and not too long."""
        system = self.evaluator.system
        names = system.lane_states.feature_names
        must_start, must_continue = system.open_words(FeatureTable(names, features))
        device = self.starts_word.device
        may_begin = torch.tensor([not self.is_empty(draft) for draft in drafts], device=device)
        short = torch.tensor(
            [bool(draft.pieces) and len(draft.pieces[-1]) < MOST_PIECES for draft in drafts], device=device
        )
        may_continue = ~must_start & short
        if must_continue is not None:
            may_begin, may_continue = may_begin & ~must_continue, may_continue | must_continue
        continues = ~self.starts_word & self.tokenizer.is_text.to(device)
        begins = may_begin[:, None] & self.starts_word
        if (within_word := system.within_word) is not None:  # a mark needs room for what continues it
            after = FeatureTable(names, system.after_generating(features, torch.ones_like(may_begin)))
            has_room = legal(system, after)[:, system.table.id_of(within_word)]
            begins &= has_room[:, None] | ~self.is_mark
        return begins | (may_continue[:, None] & continues & ~self.is_byte)

    def is_empty(self, draft: Draft) -> bool:
        """The last word is open and has no character yet."""
        is_open = not draft.since_word or self.evaluator.system.within_word is not None
        return bool(draft.pieces) and is_open and not self.tokenizer.decode(draft.pieces[-1])

    def finished(self, draft: Draft) -> GeneratedSentence:
        """The sentence in words, with its tree."""
        words = (*self.prompt, *(self.tokenizer.decode(pieces) for pieces in draft.pieces))
        tree = None
        if self.evaluator.family.has_trees:
            counts = [*map(len, self.tokenizer.encode_all(self.prompt)), *map(len, draft.pieces)]
            state = replay(self.evaluator.system, draft.before_words, words, draft.since_word, counts)
            tree = self.evaluator.system.result(state)
        return GeneratedSentence(words, tree, draft.log_probability, not draft.cut)
