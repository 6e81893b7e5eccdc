"""`dtg rerank`: of the trees that a parser proposes, the one that a language model finds most probable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import __version__, pretrained
from dtg.cli.commands.parse import SourceArgument, TreesOutOption, checked_out, write_trees
from dtg.cli.proposals import SPACY, ProposalOption, open_proposal, tell_changes
from dtg.cli.table_options import DeviceOption, ModelOption, OverwriteOption, ResumeOption, TokenizedOption
from dtg.cli.tables import Work, load_model, model_folder

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.scoring.proposal import Proposal
    from dtg.scoring.reranking import Reranking
    from dtg.tables.columns import Row
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar
    from dtg.tables.unparsed import UnparsedSentence

GROUP = 8  # sentences computed again after an interruption, at most
OURS = re.compile(r"#\s*(log_joint|log_bound|posterior|proposal_rank|proposal_log_prob|trees)\s*=")

TreesOption = Annotated[int, typer.Option(min=1, help="How many trees of each sentence the proposal is to give.")]
WeightOption = Annotated[
    float, typer.Option(help="How much the proposal's own log-probability of a tree is to count; 0 is not at all.")
]
DrawSeedOption = Annotated[int, typer.Option(min=0, help="The same seed draws the same trees.")]


def rerank(
    source: SourceArgument,
    model: ModelOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    seed: DrawSeedOption = 0,
    out: TreesOutOption = None,
    tokenized: TokenizedOption = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Draw trees from a parser, score each with a language model, and write the best as CoNLL-U.

    dtg rerank corpus.txt --model runs/dtg/best --out trees.conllu

    Comments give log p(words, tree), the sum over all trees drawn, the tree's share of it, and its rank by the parser.
    """
    existing = checked_out(out, resume=resume, overwrite=overwrite)
    from dtg.cli.sentences import Given

    given = Given.of(source, tokenized=tokenized)
    reranker = Reranker.of(model, parser, device, trees, seed)

    def rows(item: Item[UnparsedSentence], found: Reranking) -> list[Row]:
        return [(reranked_conllu(item.content, found, weight),)]

    sidecar = reranker.sidecar({"weight": weight, "tokenized": tokenized}, given.name)
    write_trees(Work(given.items, given.size, reranker.rankings, rows, (), GROUP), out, existing, sidecar)
    given.tell_empty()
    tell_changes(reranker.proposal)


@dataclass(frozen=True, slots=True)
class Reranker:
    """A language model and a proposal, as the command line names them, and which trees are drawn."""

    model: LanguageModel
    proposal: Proposal
    trees: int
    seed: int
    device: str
    names: tuple[Path, str]  # of the model and the proposal

    @classmethod
    def of(cls, model: Path | None, parser: str | None, device: str, trees: int, seed: int) -> Reranker:
        """Load both; the language model must be one of trees."""
        from dtg.scoring.reranking import check_has_trees

        folder = model_folder(model)
        found = load_model(folder, device)
        check_has_trees(found)
        name = parser or pretrained.PARSER
        return cls(found, open_proposal(name, device), trees, seed, device, (folder, name))

    def rankings(self, items: Iterable[Item[UnparsedSentence]]) -> Iterator[Reranking]:
        """The trees of each sentence, in order."""
        return (self.model.rerank(item.content.words, self.proposal, self.trees, seed=self.seed) for item in items)

    def sidecar(self, options: Mapping[str, Any], source: str) -> Sidecar:
        """What is to be known about a file besides its rows, and decides them."""
        from dtg.model.saving import model_hash
        from dtg.tables.sidecar import Sidecar

        folder, name = self.names
        settings = {
            "command": "rerank",
            "dtg": __version__,
            "trees": self.trees,
            "seed": self.seed,
            **options,
            "model_sha256": model_hash(folder),
            "proposal": identity(name),
            "device": self.device,
        }
        return Sidecar.begin(settings, {"model": str(folder), "proposal": name, "input": source}, ())


def identity(proposal: str) -> str:
    """A hash of the parser, or of the file of trees, as it is now; a spaCy pipeline by its name."""
    from dtg.io.hashing import file_hash
    from dtg.parser.saving import parser_hash

    path = pretrained.find(proposal)
    if proposal.startswith(SPACY):
        return proposal
    return parser_hash(path) if path.is_dir() else file_hash(path)


def reranked_conllu(given: UnparsedSentence, found: Reranking, weight: float) -> str:
    """The best tree as CoNLL-U, with what is known about it; log-probabilities are in nats."""
    from dtg.trees import DependencyTree, format_conllu

    best = found.best(weight)
    known = {
        "log_joint": f"{best.log_probability:.6f}",
        "log_bound": f"{found.lower_bound:.6f}",
        "posterior": f"{found.share(best):.6g}",
        "proposal_rank": best.proposal_rank,
        "proposal_log_prob": None if best.log_q is None else f"{best.log_q:.6f}",
        "trees": len(found.trees),
    }
    kept = [comment for comment in given.source.comments if not OURS.match(comment)]
    added = [f"# {name} = {value}" for name, value in known.items() if value is not None]
    assert isinstance(best.tree, DependencyTree)
    return format_conllu(replace(best.tree, source=replace(given.source, comments=(*kept, *added))))
