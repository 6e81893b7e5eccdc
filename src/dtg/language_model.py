"""`LanguageModel`: what people use a model for, as methods: surprisal, search word by word, scores, marginals, generation.

It owns a `DecoderModel` and delegates to `dtg.search` and `dtg.scoring`; `dtg.load` returns one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import torch
from torch import Tensor

from dtg import pretrained
from dtg.analysis import Analysis, analyse
from dtg.errors import InputError
from dtg.explore.saved import SavedPage, make_page
from dtg.families import ArcRepresentation, Family
from dtg.model.config import HeadName, ModelConfig
from dtg.model.model import DecoderModel
from dtg.scoring.columns import Per
from dtg.scoring.frames import surprisal_table
from dtg.scoring.marginal import Marginal
from dtg.scoring.marginals import How, marginalize
from dtg.scoring.proposal import Proposal
from dtg.scoring.reranking import Reranking, rerank
from dtg.scoring.surprisal import SentenceSurprisal
from dtg.scoring.surprisals import surprisal_stream
from dtg.scoring.tree_scores import score_trees
from dtg.search.beam_search import BeamSearch
from dtg.search.generation import GeneratedSentence, generate_sentences
from dtg.search.options import Accuracy, BeamOptions
from dtg.search.sampling import Sampling
from dtg.search.state import BeamState, ScoredTree
from dtg.search_keywords import SearchOptions, SurprisalOptions, spelled_out
from dtg.tables.columns import Base
from dtg.text.sentence import GivenSentence, as_sentence
from dtg.text.tokenizer import Tokenizer
from dtg.trees.kinds import Tree

if TYPE_CHECKING:
    import pandas


class LanguageModel:
    """A trained model, ready to be asked. All log-probabilities are in nats.

    Options of the beam search, the same in every method that searches:

    - `accuracy`: "fast", "default" or "high". The beam adapts: it is narrow where few hypotheses have nearly all of the
      probability, and wide where many are needed. "high" takes longer and loses less; `kept` in results says how much.
    - `beam`: instead, a beam of fixed width: candidates just before each word, such as the paper's 300.
    - `word_beam`: of these, how many are kept once the word is known; a third of them by default.
    - `fast_track`: candidates kept for each number of actions since the last word, whatever their rank.
    - `max_actions`: the most actions between two words; no limit by default.
    - `derivations`: "canonical" counts each tree once; "all" follows every derivation.
    - `constrained`: whether illegal actions are masked before normalising; None is as the model was made.

    And, where surprisals are asked for:

    - `boundary`: that a word is over counts in the "next" word's surprisal, or in its "own" (docs/surprisal.md).
    - `columns`: what else is measured of each word: "reductions", "dependency_length", ..., or "all" (docs/surprisal.md).
    """

    def __init__(self, decoder_model: DecoderModel, name: str | None = None) -> None:
        """Wrap a `DecoderModel`; `name` is what tables and reports call it."""
        self.decoder_model = decoder_model
        self.name = decoder_model.family.name if name is None else name

    @classmethod
    def load(
        cls, path: str | Path = pretrained.MODEL, device: torch.device | str = "cpu", *, verify: bool = True
    ) -> LanguageModel:
        """A model from a folder, or a bundled one by its name; see `dtg.load`."""
        folder = pretrained.find(path)
        return cls(DecoderModel.load(folder, device, verify=verify), name_of(path))

    @classmethod
    def from_released(
        cls,
        state_dict: Mapping[str, Tensor],
        ids: Mapping[str, int],
        *,
        family: str = "dtg",
        head: HeadName = "factored",
        arc_representation: ArcRepresentation = "word+arc",
    ) -> LanguageModel:
        """The authors' released model; see `DecoderModel.from_released`."""
        model = DecoderModel.from_released(
            state_dict, ids, family=family, head=head, arc_representation=arc_representation
        )
        return cls(model, f"released {family}")

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder that `dtg.load` reads."""
        self.decoder_model.save(folder)

    @property
    def config(self) -> ModelConfig:
        """Sizes and choices."""
        return self.decoder_model.config

    @property
    def family(self) -> Family:
        """How the model turns actions into rows."""
        return self.decoder_model.family

    @property
    def tokenizer(self) -> Tokenizer | None:
        """What turns words into subwords."""
        return self.decoder_model.tokenizer

    @property
    def device(self) -> torch.device:
        return self.decoder_model.device

    @property
    def language(self) -> str:
        """Whose rules split raw text into words as the model's were: a language code, or "none" if words have to be given."""
        return self.config.language

    @property
    def has_trees(self) -> bool:
        """Whether the model generates trees, rather than words alone."""
        return self.decoder_model.has_trees

    def __repr__(self) -> str:
        config = self.config
        count = sum(parameter.numel() for parameter in self.decoder_model.parameters())
        return f"<LanguageModel {self.name}: {config.family}, {config.layers} layers, {count / 1e6:.1f}M parameters>"

    def score(self, trees: Sequence[Tree], *, constrained: bool | None = None) -> list[float]:
        """log p(words, tree) of each tree. Trees of one sentence, or of similar ones, share what they have in common.

        Args:
            trees: of the kind that the model generates.
            constrained: whether illegal actions are masked before normalising; None is as the model was made.

        Returns:
            A log-probability for each tree, `<END>` included.
        """
        return score_trees(self.decoder_model, trees, constrained)

    @spelled_out(SurprisalOptions)
    def begin(self, beam: int | None = None, **search: Unpack[SurprisalOptions]) -> BeamState:
        """A beam search before the first word; `state.step(word)` takes it further, `state.end()` to the end.

        Args:
            beam: and the other options: see `LanguageModel`.

        Returns:
            A state that is not changed by its steps, so that a sentence can be continued in several ways.
        """
        searching = BeamSearch(self.decoder_model, BeamOptions.of(beam=beam, **search))
        return BeamState(searching, searching.begin())

    @spelled_out(SearchOptions)
    def parse(self, sentence: GivenSentence, beam: int | None = None, **search: Unpack[SearchOptions]) -> ScoredTree:
        """The best tree that a beam search finds for a sentence.

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            beam: and the other options: see `LanguageModel`.

        Returns:
            The tree, with log p(words, tree).
        """
        state = self.begin(beam, **search)
        for word in as_sentence(sentence, self.language).words:
            state = state.step(word)
        return state.end().trees(1)[0]

    @spelled_out(SurprisalOptions)
    def surprisal(
        self,
        sentences: Sequence[GivenSentence],
        beam: int | None = None,
        *,
        ends: bool = True,
        **search: Unpack[SurprisalOptions],
    ) -> list[SentenceSurprisal]:
        """Surprisal of every word of every sentence.

        Args:
            sentences: texts, which are split into words, or sequences of words.
            ends: without it, what `<END>` costs is not computed (NaN, and log p(x) with it), which takes about a tenth less
                time.
            beam: and the other options: see `LanguageModel`.

        Returns:
            A `SentenceSurprisal` for each sentence, in order.
        """
        if isinstance(sentences, str):
            raise InputError("a list of sentences is expected, not one text; put it into a list: surprisal([text]).")
        if not isinstance(sentences, Iterable) or isinstance(sentences, bytes):
            raise InputError(f"a list of sentences is expected, not {sentences!r}.")
        return list(self.surprisal_stream(sentences, beam, ends=ends, **search))

    @spelled_out(SurprisalOptions)
    def surprisal_stream(
        self,
        sentences: Iterable[GivenSentence],
        beam: int | None = None,
        *,
        ends: bool = True,
        **search: Unpack[SurprisalOptions],
    ) -> Iterator[SentenceSurprisal]:
        """The same one by one, in order, as soon as they are known; arguments are those of `surprisal`."""
        return self.search_stream(sentences, BeamOptions.of(beam=beam, **search), ends=ends)

    def search_stream(
        self, sentences: Iterable[GivenSentence], options: BeamOptions, *, ends: bool = True
    ) -> Iterator[SentenceSurprisal]:
        """The same, by a search whose limits are known already.

        Args:
            sentences: texts, which are split into words, or sequences of words.
            options: the limits of the search.
            ends: whether to compute what `<END>` costs.

        Returns:
            A `SentenceSurprisal` for each sentence, in order.
        """
        split = (as_sentence(sentence, self.language) for sentence in sentences)
        return surprisal_stream(self.decoder_model, split, options, ends)

    @spelled_out(SurprisalOptions)
    def surprisal_table(
        self,
        frame: pandas.DataFrame,
        column: str = "sentence",
        beam: int | None = None,
        *,
        base: Base = "e",
        per: Per = "word",
        end: bool = False,
        **search: Unpack[SurprisalOptions],
    ) -> pandas.DataFrame:
        """Surprisals of the sentences in a column of a frame, as `dtg surprisal FILE --column NAME` writes them.

        Args:
            frame: a row for each sentence.
            column: where the sentences are: texts, which are split into words, or sequences of words.
            beam: and the other options: see `LanguageModel`.
            base: "e" gives nats, "2" bits; the column `unit` says which.
            per: a row for each word, or for each whitespace-separated word.
            end: a row for `<END>`, too.

        Returns:
            A row for each word: surprisal and what goes with it, `model`, `unit`, `beam`, and the columns of the frame.
        """
        options = BeamOptions.of(beam=beam, **search)
        stream, width = partial(self.search_stream, options=options), options.beam
        return surprisal_table(frame, column, stream, name=self.name, beam=width, base=base, per=per, end=end)

    def generate(
        self,
        count: int = 1,
        *,
        prompt: GivenSentence | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        max_words: int = 60,
        seed: int = 0,
        beam: int | None = None,
        accuracy: Accuracy | None = None,
    ) -> list[GeneratedSentence]:
        """Sentences that the model makes up, with their trees.

        Args:
            count: how many.
            prompt: what they begin with: a text or words.
            temperature: 1 draws from the model as it is, 0 takes what is most probable.
            top_k: words are drawn only among this many of the most probable subwords.
            top_p: words are drawn only among the most probable subwords that together have this probability.
            max_words: at this length a sentence is closed.
            seed: the same seed gives the same sentences.
            beam: of the search that reads the prompt, whose parse is drawn too; `accuracy` likewise.

        Returns:
            As many sentences as asked for, each with its tree, if the model has trees, and its log-probability.
        """
        return list(
            self.generate_stream(
                count,
                prompt=prompt,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                max_words=max_words,
                seed=seed,
                beam=beam,
                accuracy=accuracy,
            )
        )

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
        beam: int | None = None,
        accuracy: Accuracy | None = None,
    ) -> Iterator[GeneratedSentence]:
        """The same as they are made; arguments are those of `generate`."""
        return generate_sentences(
            self.decoder_model,
            count,
            prompt=() if prompt is None else as_sentence(prompt, self.language).words,
            sampling=Sampling(temperature=temperature, top_k=top_k, top_p=top_p),
            max_words=max_words,
            seed=seed,
            options=BeamOptions.of(beam=beam, accuracy=accuracy),
        )

    @spelled_out(SearchOptions)
    def marginal(
        self,
        sentence: GivenSentence,
        how: How = "auto",
        *,
        beam: int | None = None,
        proposal: Proposal | Sequence[Tree] | None = None,
        trees: int = 300,
        generator: torch.Generator | None = None,
        **search: Unpack[SearchOptions],
    ) -> Marginal:
        """What is known about log p(words), the sum over all trees.

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            how: "exact" sums over every tree (short sentences), "beam" over those that the search finds, "proposal" over those
                of a proposal, "combined" over both, "estimate" weights the trees that a proposal drew. "auto" sums over the
                proposal if there is one; otherwise it is exact up to 6 words, and a beam from there on.
            beam: and the other options of the search, where there is one: see `LanguageModel`.
            proposal: a list of trees, all of which are used, or an object that draws them, such as a parser.
            trees: how many are drawn.
            generator: of the random numbers to draw with; seed 0 if there is none.

        Returns:
            A `Marginal` that says whether its number is exact, a lower bound or an estimate.
        """
        given = {**search, "fast_track": search.get("fast_track") or None}
        limits = ("accuracy", "word_beam", "fast_track", "max_actions")
        return marginalize(
            self.decoder_model,
            as_sentence(sentence, self.language),
            how,
            BeamOptions.of(beam=beam, **search),
            proposal=proposal,
            trees=trees,
            generator=generator,
            search_was_set=[name for name in limits if given.get(name) is not None],
        )

    def rerank(
        self,
        sentence: GivenSentence,
        proposal: Proposal | Sequence[Tree],
        trees: int = 300,
        *,
        seed: int = 0,
        constrained: bool | None = None,
    ) -> Reranking:
        """A proposal's trees of a sentence, by log p(words, tree).

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            proposal: a list of trees, or an object that draws them, such as a parser.
            trees: how many are drawn.
            seed: what is drawn follows from it and the words, whichever sentences come before.
            constrained: whether illegal actions are masked before normalising; None is as the model was made.

        Returns:
            The distinct trees, the best first, with both scores.
        """
        split = as_sentence(sentence, self.language)
        return rerank(self.decoder_model, split, proposal, trees=trees, seed=seed, constrained=constrained)

    @spelled_out(SearchOptions)
    def analyse(
        self, sentence: GivenSentence | Tree, beam: int | None = None, **search: Unpack[SearchOptions]
    ) -> Analysis:
        """What the model computes for a sentence: rows, hidden states, attention weights, log-probabilities of actions.

        Args:
            sentence: a tree; or a text or a sequence of words, whose best tree is looked for first.
            beam: and the other options of that search: see `LanguageModel`.

        Returns:
            An `Analysis`, in which words, actions and rows are aligned. `dtg.analysis.analyse_hypothesis` gives the same of
            a hypothesis in the middle of a sentence.
        """
        options = BeamOptions.of(beam=beam, **search)
        return analyse(self.decoder_model, sentence, options, options.constrained)

    def explore(
        self,
        *sentences: GivenSentence,
        beam: int | None = None,
        accuracy: Accuracy | None = None,
        word_beam: int | None = None,
    ) -> SavedPage:
        """A page on which one steps through sentences and watches the search; a notebook shows it.

        Args:
            sentences: texts, which are split into words, or sequences of words.
            beam: options of the search; `accuracy` and `word_beam` likewise.

        Returns:
            A page that needs no server: `page.save("page.html")` writes it.
        """
        models = {self.name: self.decoder_model}
        return make_page(models, [(self.name, sentence) for sentence in sentences], accuracy, beam, word_beam)


def name_of(path: str | Path) -> str:
    """What to call a model from a folder: the run's name for RUN/best, otherwise the folder's or the bundled model's."""
    folder = Path(path)
    if folder.name in ("", ".", ".."):
        folder = folder.resolve()
    return folder.parent.name if folder.name == "best" and folder.parent.name else folder.name
