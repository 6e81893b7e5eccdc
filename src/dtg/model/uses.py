"""What people use a model for, as methods of it: scores, surprisal, search word by word, marginals, trees, generation.

The work is done in `dtg.inference`, which is imported when it is asked for: training needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.model.model import DecoderModel
    from dtg.scoring.marginal import Marginal
    from dtg.scoring.marginalize import How
    from dtg.scoring.proposal import Proposal
    from dtg.scoring.reranking import Reranking
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.scoring.surprisals import GivenSentence
    from dtg.search.generation import GeneratedSentence
    from dtg.search.state import BeamState, ScoredTree
    from dtg.trees import DependencyTree


class Uses:
    """Methods of every `DecoderModel`."""

    def score(self, trees: Sequence[DependencyTree], constrained: bool | None = None) -> list[float]:
        """log p(x, y) of each tree, in nats. Trees of one sentence, or of similar ones, share what they have in common."""
        from dtg.scoring.tree_scores import score_trees

        model = cast("DecoderModel", self)
        if model.tokenizer is None:
            raise InputError("this model has no tokenizer to turn words into pieces; use score_ids.")
        constrained = model.config.constrained if constrained is None else constrained
        pieces = [model.tokenizer.encode_all(tree.words) for tree in trees]
        return score_trees(model, model.encode(trees, pieces), constrained) if trees else []

    def begin(self, beam: int = 300, **options: Any) -> BeamState:
        """A word-synchronous beam search before the first word; `options` are those of `BeamOptions`."""
        from dtg.search.beam_search import Search
        from dtg.search.options import BeamOptions
        from dtg.search.state import BeamState

        search = Search(cast("DecoderModel", self), BeamOptions.of(beam=beam, **options))
        return BeamState(search, search.begin())

    def parse(self, sentence: GivenSentence, beam: int = 300, **options: Any) -> ScoredTree:
        """The best tree that a beam search finds for a text or for words, with log p(words, tree)."""
        from dtg.scoring.surprisals import as_sentence

        state = self.begin(beam, **options)
        for word in as_sentence(sentence).words:
            state = state.step(word)
        return state.end().trees(1)[0]

    def surprisal(
        self, sentences: Sequence[GivenSentence], beam: int = 300, ends: bool = True, **options: Any
    ) -> list[SentenceSurprisal]:
        """Surprisal of every word of every sentence: texts, which are split into words, or sequences of words.

        Without `ends`, what `<END>` costs is not computed (NaN, and log p(x) with it), which takes about a tenth less time.
        """
        if isinstance(sentences, str):
            raise InputError("a list of sentences is expected, not one text; put it into a list: surprisal([text]).")
        return list(self.surprisal_stream(sentences, beam, ends, **options))

    def surprisal_stream(
        self, sentences: Iterable[GivenSentence], beam: int = 300, ends: bool = True, **options: Any
    ) -> Iterator[SentenceSurprisal]:
        """The same one by one, in order, as soon as they are known."""
        from dtg.scoring.surprisals import surprisal_stream
        from dtg.search.options import BeamOptions

        return surprisal_stream(cast("DecoderModel", self), sentences, BeamOptions.of(beam=beam, **options), ends)

    def generate(self, count: int = 1, **options: Any) -> list[GeneratedSentence]:
        """Sentences that the model makes up, with their trees; `options` are those of `generate_stream`."""
        return list(self.generate_stream(count, **options))

    def generate_stream(
        self,
        count: int = 1,
        *,
        prompt: GivenSentence | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        max_words: int = 60,
        seed: int = 0,
        beam: int = 300,
    ) -> Iterator[GeneratedSentence]:
        """Sentences that the model makes up, with their trees, as they are made; they begin with the prompt, if there is one.

        Temperature 1 draws from the model as it is, 0 takes what is most probable; `top_k` and `top_p` limit the pieces
        that words are drawn from. `beam` is for the prompt, whose parse is drawn too.
        """
        from dtg.scoring.surprisals import as_sentence
        from dtg.search.generation import generate_sentences
        from dtg.search.options import BeamOptions
        from dtg.search.sampling import Sampling

        words = () if prompt is None else as_sentence(prompt).words
        sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
        options = BeamOptions(beam=beam)
        return generate_sentences(
            cast("DecoderModel", self),
            count,
            prompt=words,
            sampling=sampling,
            max_words=max_words,
            seed=seed,
            options=options,
        )

    def marginal(self, sentence: str | Sequence[str], how: How = "auto", **options: Any) -> Marginal:
        """What is known about log p(x): exact, a lower bound or an estimate; see `dtg.scoring.marginalize`."""
        from dtg.scoring.marginalize import marginalize

        return marginalize(cast("DecoderModel", self), sentence, how, **options)

    def rerank(
        self, sentence: GivenSentence, proposal: Proposal | Sequence[DependencyTree], trees: int = 300, **options: Any
    ) -> Reranking:
        """The proposal's trees of a text or words, by log p(words, tree); `options` are those of `dtg.scoring.reranking`."""
        from dtg.scoring.reranking import rerank

        return rerank(cast("DecoderModel", self), sentence, proposal, trees=trees, **options)
