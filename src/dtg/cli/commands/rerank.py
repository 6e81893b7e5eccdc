"""`dtg rerank`: of the trees that a parser proposes, the one that a language model finds most probable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from dtg import pretrained
from dtg.cli.commands.parse import SourceArgument
from dtg.cli.options import (
    DeviceOption,
    LimitOption,
    LongOption,
    MaxWordsOption,
    ModelOption,
    OverwriteOption,
    ProjectOption,
    ProposalOption,
    ResumeOption,
    SeedOption,
    TokenizedOption,
    TreesOption,
    TreesOutOption,
    WeightOption,
)
from dtg.cli.output.destination import Destination
from dtg.cli.output.tables import Work, write_trees
from dtg.errors import InputError
from dtg.trees.kinds import DEPENDENCY

if TYPE_CHECKING:
    from dtg.scoring.reranking import Reranking
    from dtg.tables.columns import Row
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar
    from dtg.tables.unparsed import UnparsedSentence

GROUP = 8  # sentences computed again after an interruption, at most
OURS = re.compile(r"#\s*(log_joint|log_bound|posterior|proposal_rank|proposal_log_prob|trees)\s*=")


def rerank(
    source: SourceArgument,
    model: ModelOption = None,
    parser: ProposalOption = None,
    project: ProjectOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    seed: SeedOption = 0,
    out: TreesOutOption = None,
    tokenized: TokenizedOption = False,
    max_words: MaxWordsOption = 200,
    long: LongOption = "skip",
    limit: LimitOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Draw trees from a parser or a file, score each with a language model, and write the best: CoNLL-U, or brackets.

    dtg rerank corpus.txt --model runs/dtg/best --out trees.conllu

    dtg rerank corpus.txt --model runs/tg/best --parser runs/phrases/best --out trees.ptb

    dtg rerank sentences.txt --tokenized --model runs/tg/best --parser nbest.ptb --out trees.ptb

    Comments give log p(words, tree), the sum over all trees drawn, the tree's share of it, and its rank by the parser.
    `torchrun` shares the work between processes (docs/clusters.md).
    """
    to = Destination.of_trees(out, resume=resume, overwrite=overwrite, inputs=(source, parser, model))
    from dtg.cli.loading import load_models, provenance
    from dtg.cli.sentences import UnparsedInput
    from dtg.named_proposal import NamedProposal
    from dtg.scoring.reranking import check_has_trees
    from dtg.tables.long_sentences import LengthLimit

    given = UnparsedInput.of(source, tokenized=tokenized, limit=limit, length=LengthLimit(max_words, long))
    [loaded] = load_models(None if model is None else [model], device)
    check_has_trees(loaded.model)
    name = parser or pretrained.PARSER
    proposed = NamedProposal.of(name, device, project)
    if loaded.model.family.system.kind is not DEPENDENCY and not proposed.gives_phrases:
        raise InputError(
            f"{loaded.name} is a model of phrases, and {name} gives dependencies. Pass --project with the labels that the "
            "model was trained with, or --parser with a constituency parser or a file of trees in brackets."
        )

    def rankings(items: Iterable[Item[UnparsedSentence]]) -> Iterator[Reranking]:
        return (loaded.model.rerank(item.content.words, proposed.proposal, trees, seed=seed) for item in items)

    def rows(item: Item[UnparsedSentence], found: Reranking) -> list[Row]:
        return [(reranked_text(item.content, found, weight),)]

    def sidecar() -> Sidecar:
        options: dict[str, Any] = {
            "trees": trees,
            "seed": seed,
            "weight": weight,
            **given.settings,
        }
        options |= {} if project is None else {"project": project}
        hashes = {"model_sha256": loaded.sha256, "proposal": proposed.sha256}
        settings = {**options, **hashes, "device": str(loaded.model.device)}
        return provenance("rerank", settings, {"model": str(loaded.folder), "proposal": name, "input": given.name})

    items, tallies = given.items(loaded.model.language), proposed.tallies()
    write_trees(Work(items, given.size, rankings, rows, (), GROUP, tallies), to, sidecar)
    given.tell_left_out()
    for line in proposed.changes():
        typer.echo(f"dtg: {line}", err=True)


def reranked_text(given: UnparsedSentence, found: Reranking, weight: float) -> str:
    """The best tree as CoNLL-U, with what is known about it, or in brackets; log-probabilities are in nats."""
    from dtg.trees import DependencyTree, format_conllu
    from dtg.trees.kinds import format_tree

    best = found.best(weight)
    if not isinstance(best.tree, DependencyTree):  # brackets have no place for comments
        return format_tree(best.tree)
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
    return format_conllu(replace(best.tree, source=replace(given.source, comments=(*kept, *added))))
