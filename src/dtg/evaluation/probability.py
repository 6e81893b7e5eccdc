"""How log p of a sentence is found: exactly, by a beam search, or from the trees that a proposal draws.

- `exact`: one pass, by a model without trees; it takes the place of all others.
- `beam`: the sum over the trees that a search ends with, a lower bound.
- `proposal`: the sum over the distinct trees that a proposal draws, the paper's lower bound.
- `estimate`: from the same trees, weighted by how probable it was to draw them.
- `joint`: log p(words, tree) of the tree that came with the sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dtg.errors import InputError
from dtg.evaluation.rendering import pluralize
from dtg.io.settings import check_choice
from dtg.language_model import LanguageModel
from dtg.named_proposal import NamedProposal
from dtg.scoring.kept import KeptTally
from dtg.scoring.marginal import Kind
from dtg.scoring.marginals import log_sum, why_no_estimate
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.scoring.reranking import sentence_generator
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.scoring.tree_scores import score_reachable
from dtg.search.options import Accuracy, BeamOptions, Boundary
from dtg.text.sentence import Sentence
from dtg.trees.kinds import DEPENDENCY, TreeKind
from dtg.trees.phrases.projection import PhraseLabels

By = Literal["exact", "joint", "proposal", "estimate", "beam"]
WITH_TREES: tuple[By, ...] = ("joint", "proposal", "estimate", "beam")  # what can be asked for, in the order of tables
FROM_TREES: tuple[By, ...] = ("proposal", "estimate")
KINDS: Mapping[By, Kind] = {
    "exact": "exact",
    "joint": "exact",  # of p(words, tree)
    "proposal": "lower bound",
    "estimate": "estimate",
    "beam": "lower bound",
}


@dataclass(frozen=True, slots=True)
class Probability:
    """Which kinds of log p are wanted, and the options of how they are found."""

    by: tuple[By, ...] = ("beam",)
    beam: BeamOptions = field(default_factory=BeamOptions.of)
    proposal: NamedProposal | None = None
    trees: int = 300
    seed: int = 0
    left_out: Mapping[By, str] = field(default_factory=dict)  # why not the others, for people
    was_asked: bool = True  # whether the kinds were named, or are what can be had
    unopened: Proposal | str | Path | None = None  # who is to propose trees, until a model needs them
    device: str = "auto"  # for a parser that proposes
    project: PhraseLabels | None = None  # labels of the phrases that proposed dependencies become
    kind: TreeKind | None = None  # of the model's trees, once it is known
    kept: KeptTally = field(default_factory=KeptTally, compare=False)  # of the words that were searched

    @classmethod
    def of(
        cls,
        by: str | Sequence[str] | None = "beam",
        *,
        beam: int | None = None,
        word_beam: int | None = None,
        accuracy: Accuracy | None = None,
        proposal: Proposal | NamedProposal | str | Path | None = None,
        trees: int = 300,
        seed: int = 0,
        device: str = "auto",
        has_gold: bool = False,
        project: PhraseLabels | None = None,
        boundary: Boundary = "next",
        columns: Sequence[str] = (),
    ) -> Probability:
        """From what a user named.

        Args:
            by: kinds of log p; None for all that can be had.
            beam, word_beam, accuracy: of the search; see `LanguageModel`.
            proposal: who proposes trees, as `NamedProposal.of` takes it; opened once a model needs it.
            trees: how many trees of a sentence are drawn.
            seed: which trees are drawn.
            device: where a parser computes.
            has_gold: whether the sentences come with trees, which `joint` needs.
            project: labels of the phrases that proposed dependencies become, for models of phrases.
            boundary: which word the probability that a word is over belongs to, where surprisals of words are asked for.
            columns: what else is measured of words.
        """
        names = [by] if isinstance(by, str) else by
        if names is None:
            names = [kind for kind in WITH_TREES if has_gold or kind != "joint"]
        if not names:
            raise InputError(f"no kind of probability is named. Known: {', '.join(WITH_TREES)}.")
        names = ["proposal" if name == "trees" else name for name in names]  # as BLiMP's results call it
        for name in names:
            check_choice("log p by", name, WITH_TREES)
        if "joint" in names and not has_gold:
            raise InputError("joint needs trees, and plain text has none. Leave joint out, or give a treebank.")
        kinds = tuple(kind for kind in WITH_TREES if kind in names)
        uses_proposal = any(kind in kinds for kind in FROM_TREES)
        if proposal is not None and not uses_proposal:
            raise InputError(
                f"trees are proposed, which log p by {', '.join(names)} does not use. Add proposal or estimate."
            )
        left_out: dict[By, str] = {kind: "not asked for" for kind in WITH_TREES if kind not in kinds}
        if not has_gold:
            left_out["joint"] = "plain text has no trees"
        options = BeamOptions.of(
            beam=beam, word_beam=word_beam, accuracy=accuracy, boundary=boundary, columns=tuple(columns)
        )
        opened = proposal if isinstance(proposal, NamedProposal) else None
        unopened = None if isinstance(proposal, NamedProposal) else proposal
        return cls(kinds, options, opened, trees, seed, left_out, by is not None, unopened, device, project)

    def for_model(self, model: LanguageModel, words: Sequence[str] | None = None) -> Probability:
        """What of it the model can give; `words` are a sentence to try an estimate with.

        A model without trees is exact, whatever was asked for. An estimate is left out if the proposal does not draw trees
        at random, and an error if it was asked for.
        """
        if not model.has_trees:
            was_asked = self.was_asked or self.proposal is not None or self.unopened is not None
            told = dict.fromkeys(self.by, "the model has no trees") if was_asked else {}
            return replace(
                self, by=("exact",), beam=replace(self.beam, beam=1, word_beam=1), proposal=None, left_out=told
            )
        if self.kind is not model.family.system.kind:
            return replace(self, kind=model.family.system.kind).for_model(model, words)
        if self.proposal is None and any(kind in self.by for kind in FROM_TREES):
            if self.kind is not DEPENDENCY and not (self.was_asked or self.unopened or self.project):
                why = "the model is of phrases, and the bundled parser gives dependencies"
                others = tuple(kind for kind in self.by if kind not in FROM_TREES)
                return replace(self, by=others, left_out={**self.left_out, **dict.fromkeys(FROM_TREES, why)})
            proposal = NamedProposal.of(self.unopened, self.device, self.project)
            return replace(self, proposal=proposal).for_model(model, words)
        if "estimate" not in self.by or words is None or (reason := why_no_estimate(self.draw(words))) is None:
            return self
        if self.was_asked:
            raise InputError(
                f"no estimate can be made from the trees of this proposal: {reason}. Leave estimate out, or use a parser of "
                "dtg's own, or a file of trees that it has drawn at random."
            )
        others = tuple(kind for kind in self.by if kind != "estimate")
        left_out: dict[By, str] = {**self.left_out, "estimate": f"not possible with these trees: {reason}"}
        return replace(self, by=others, left_out=left_out)

    @property
    def is_exact(self) -> bool:
        return self.by == ("exact",)

    @property
    def title(self) -> str:
        """How the only kind is found, for people."""
        if self.is_exact:
            return "one pass (exact)"
        if self.by == ("beam",):
            return f"{self.beam.title} (lower bound)"
        assert self.proposal is not None
        return f"{pluralize(self.trees, 'tree')} of {self.proposal.name} (lower bound)"

    def settings(self) -> dict[str, Any]:
        """What decides the numbers of the only kind."""
        more = {"boundary": self.beam.boundary} if self.beam.boundary != "next" else {}  # as before there was a choice
        if self.is_exact:
            return {"by": "exact", **more}
        if self.by == ("beam",):
            return {"by": "beam", **self.beam.settings(), **more}
        assert self.proposal is not None
        return {"by": "trees", "trees": self.trees, "seed": self.seed, "proposal": self.proposal.sha256}

    def together(self, least: int, sentences: int) -> int:
        """How many items of this many sentences are computed together: at least `least`, more by a narrow beam."""
        return max(least, self.beam.sentences_together // sentences) if self.by == ("beam",) else least

    def left_out_lines(self) -> list[str]:
        """What is left out and why, a line for each reason."""
        kinds = {
            reason: [kind for kind in WITH_TREES if self.left_out.get(kind) == reason]
            for reason in self.left_out.values()
        }
        return [f"left out: {', '.join(some)} ({reason})." for reason, some in kinds.items()]

    def draw(self, words: Sequence[str]) -> Draws:
        """The proposal's trees. They follow from the seed and the words, so it does not matter what comes before."""
        assert self.proposal is not None
        generator = sentence_generator(tuple(words), self.seed)
        return draw(self.proposal.proposal, tuple(words), self.trees, generator, self.kind)

    def stream(
        self, model: LanguageModel, sentences: Iterable[Sentence | Sequence[str]], *, ends: bool = True
    ) -> Iterator[SentenceSurprisal]:
        """The search of each sentence, in order, as soon as it is known."""
        for found in model.search_stream(sentences, self.beam, ends=ends):
            if not self.is_exact:
                self.kept.add(found.kept)
            yield found

    def surprisals(
        self, model: LanguageModel, sentences: Sequence[Sentence | Sequence[str]], *, ends: bool = True
    ) -> list[SentenceSurprisal]:
        """Of every word, by the search. Sentences that begin alike are computed together, which changes no number."""
        if not (self.is_exact or self.by == ("beam",)):
            raise InputError(
                "surprisals of words are found by beam; trees that are proposed give log p of sentences only."
            )
        return list(self.stream(model, sentences, ends=ends))

    def log_probabilities(self, model: LanguageModel, sentences: Sequence[Sentence], group: int = 2) -> list[float]:
        """log p of each sentence, `<END>` included, in nats. The trees of `group` sentences are scored together."""
        if self.is_exact or self.by == ("beam",):
            return [found.log_probability for found in self.surprisals(model, sentences)]
        if self.by != ("proposal",):
            raise InputError(f"sentences are compared by beam or by proposal, not by {', '.join(self.by)}.")
        found = list[float]()
        for first in range(0, len(sentences), group):
            draws = [self.draw(sentence.words) for sentence in sentences[first : first + group]]
            found += sums_over_trees(model, draws)
        return found


def sums_over_trees(model: LanguageModel, draws: Sequence[Draws]) -> list[float]:
    """log Σ p(x, y) over each sentence's distinct trees. All are scored at once, so that they share equal prefixes."""
    distinct = [list({tree.key: tree for tree in some.trees}.values()) for some in draws]
    scores = iter(score_reachable(model.decoder_model, [tree for trees in distinct for tree in trees]))
    return [log_sum([next(scores) for _ in trees]) for trees in distinct]
