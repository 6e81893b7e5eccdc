"""Word-synchronous beam search (Stern et al. 2017; Hale et al. 2018; paper, section 4.2), word by word.

`begin` gives a search before the first word; `step` takes it one word further, `end` to the sentence's end. A whole
sentence is a fold of `step`. Several sentences go together in one `Beams`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dtg.model.model import DecoderModel
from dtg.search.beams import Beams, at_start
from dtg.search.evaluator import Evaluator
from dtg.search.expansion import Candidates, expand
from dtg.search.measures.boundaries import check_boundary
from dtg.search.measures.names import column_names
from dtg.search.options import BeamOptions
from dtg.search.ranking import log_sums
from dtg.search.word_step import NextWord, generate


class Endings(NamedTuple):
    """Complete derivations of every sentence."""

    log_probability: Tensor  # (sentences,) log p(x), as far as the search found it
    score: Tensor  # (derivations,) log p(x, y)
    beam: Tensor  # (derivations,) which sentence, ascending; the best derivation first
    parent: Tensor  # (derivations,) which hypothesis it comes from
    actions: Tensor  # (derivations, longest) what it did after the last word


class BeamSearch:
    """A model and the limits of a search. `rows_evaluated` says how much has been computed so far."""

    def __init__(self, model: DecoderModel, options: BeamOptions) -> None:
        self.options = options
        self.evaluator = Evaluator(model, options)
        check_boundary(self.evaluator, options.boundary)

    @property
    def rows_evaluated(self) -> int:
        return self.evaluator.rows_evaluated

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns asked for, as this model has them."""
        model = self.evaluator.model
        return column_names(self.options.columns, self.evaluator.family.views, model.groups[-1])

    @torch.inference_mode()
    def begin(self) -> Beams:
        """One sentence before its first word."""
        return at_start(*self.evaluator.begin())

    @torch.inference_mode()
    def expand(self, beams: Beams) -> Candidates:
        """The candidates for the next word, whatever it is."""
        return expand(self.evaluator, self.options, beams, ending=False)

    @torch.inference_mode()
    def expand_or_end(self, beams: Beams, ends: Sequence[bool]) -> tuple[Candidates, Tensor]:
        """Candidates of the sentences that go on, and (sentences,) log p(x) of those that are over: both in the same passes."""
        used = beams.cache.used
        which = torch.tensor(ends, device=beams.beam.device)
        found = expand(self.evaluator, self.options, beams, ending=ends[0] if len(set(ends)) == 1 else which)
        total = log_sums(found.next_score, found.beam, beams.count)
        if all(ends):
            beams.cache.used = used  # nothing follows a sentence's end
        return found.only((~which[found.beam]).nonzero()[:, 0]) if any(ends) else found, total

    @torch.inference_mode()
    def step(self, beams: Beams, candidates: Candidates, words: Sequence[NextWord]) -> Beams:
        """Continue with these words, of which each sentence may have several; the result has a sentence for each."""
        return generate(self.evaluator, self.options, beams, candidates, words)

    @torch.inference_mode()
    def end(self, beams: Beams) -> Endings:
        """Complete every sentence."""
        used = beams.cache.used
        found = expand(self.evaluator, self.options, beams, ending=True)
        beams.cache.used = used  # nothing follows a sentence's end
        total = log_sums(found.next_score, found.beam, beams.count)
        return Endings(total, found.next_score, found.beam, found.parent, found.actions)
