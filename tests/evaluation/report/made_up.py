"""Results of models that do not exist, in the files that evaluations write."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dtg.evaluation.contract import Task
from dtg.evaluation.probability import By, Probability
from dtg.evaluation.results import Results, write_rows
from dtg.evaluation.tasks.pairs.blimp import Blimp, pair_row
from dtg.evaluation.tasks.pairs.blimp_files import Pair
from dtg.evaluation.tasks.pairs.scored import ScoredPair, score
from dtg.evaluation.tasks.perplexity import Perplexity
from dtg.evaluation.tasks.perplexity_scores import summarize
from dtg.evaluation.tasks.phrase_parsing import PhraseParsing
from dtg.evaluation.tasks.phrase_reranking import RerankedPhrases
from dtg.evaluation.tasks.reranking import RerankedTrees
from dtg.evaluation.tasks.reranking_scores import summarize as summarize_reranking
from dtg.evaluation.tasks.syntaxgym import ItemResult, score_items
from dtg.evaluation.tasks.syntaxgym.formulas import Verdict
from dtg.evaluation.tasks.syntaxgym.tables import verdict_rows
from dtg.evaluation.tasks.syntaxgym.task import SyntaxGym
from dtg.named_proposal import NamedProposal
from dtg.parser import BiaffineParser

SUITES = {"number_prep": 6, "npz_obj": 5, "cleft": 4}
PARADIGMS = {"passive_1": ("syntax", "argument_structure"), "npi_present_1": ("semantics", "npi_licensing")}
BEAM = {"by": "beam", "beam": 100, "word_beam": 10}


def settings(command: str, name: str, family: str, **more: Any) -> dict[str, Any]:
    """What decides the numbers; the model's hash follows from its name."""
    sha256 = name.encode().hex().ljust(64, "0")[:64]
    common = {"command": command, "dtg": "0.1.0", "family": family, "model_sha256": sha256, "data_sha256": "d" * 64}
    return {**common, **more, "device": "cpu"}


def given(name: str, data: str) -> dict[str, Any]:
    return {"model": f"runs/{name}/best", "data": data, "name": name}


def write_sg(
    folder: Path,
    name: str,
    seed: int,
    family: str = "dtg",
    suites: Mapping[str, int] = SUITES,
    share: float = 0.7,
    **more: Any,
) -> dict[str, Any]:
    """Each item is right by chance; `seed` says which."""
    chance = random.Random(seed)
    results = [
        ItemResult(suite, item, (Verdict(chance.random() < share, 0),))
        for suite, n in suites.items()
        for item in range(1, n + 1)
    ]
    scores = {"first": score_items(results, "first"), "all": score_items(results, "all")}
    about = {"title": "made up", "notes": [], "remarks": [], "rule": "first", "items": len(results)}
    folder.mkdir(parents=True)
    write_rows(folder / SyntaxGym.table, SyntaxGym.columns, verdict_rows(results))
    used = settings("evaluate sg", name, family, **{**BEAM, **more})
    return written(folder, SyntaxGym, used, given(name, "syntaxgym"), {**about, "scores": scores, "against": None})


def write_blimp(
    folder: Path,
    name: str,
    seed: int,
    family: str = "dtg",
    pairs: Sequence[Pair] | None = None,
    share: float = 0.7,
    **more: Any,
) -> dict[str, Any]:
    """Each pair is right by chance; `seed` says which."""
    chance = random.Random(seed)
    some = pairs or [
        Pair(uid, str(number), field, term, f"good {number}", f"bad {number}", None, None)
        for uid, (field, term) in PARADIGMS.items()
        for number in range(10)
    ]
    scored = [ScoredPair(pair, -20.0, -20.0 - (1 if chance.random() < share else -1), 4, 4) for pair in some]
    scores = {rule: score(scored, rule, Blimp.levels, Blimp.strata) for rule in ("sentence", "per_word")}
    about: dict[str, Any] = {"title": "made up", "notes": [], "intervals": "", "scores": scores, "against": None}
    folder.mkdir(parents=True)
    write_rows(folder / Blimp.table, Blimp.columns, map(pair_row, scored))
    used = settings("evaluate blimp", name, family, **{**BEAM, **more})
    return written(folder, Blimp, used, given(name, "blimp"), about)


def write_ppl(
    folder: Path, name: str, level: float, family: str = "dtg", by: Sequence[By] = ("joint", "proposal"), **more: Any
) -> dict[str, Any]:
    """`level` is the mean of -log p of a word, in nats."""
    lengths, chance = random.Random(0), random.Random(name)
    rows = []
    for number in range(1, 21):
        words = lengths.randrange(3, 30)
        row: dict[str, Any] = {
            "sentence_id": number,
            "text": "a " * words,
            "words": words,
            "pieces": words + words // 3,
        }
        for kind in by:
            row[f"log_{kind}"] = -words * (level + chance.gauss(0, 0.2) + 0.1 * (kind == "joint"))
            row["proposal_trees"] = 300
        rows.append({**row, "estimate_error": 0.1, "effective_sample_size": 12.0})
    task = Perplexity("dev.conllu", (), Probability(tuple(by)))
    content = {"title": "made up", "sentences": len(rows), "words": sum(row["words"] for row in rows)}
    content |= {"pieces": sum(row["pieces"] for row in rows), "lifted_arcs": 0, "notes": []}
    content["perplexities"] = {kind: summarize(rows, kind) for kind in by}
    folder.mkdir(parents=True)
    columns, shown = task.tables(rows)[task.table]
    write_rows(folder / task.table, columns, shown)
    method = {"by": list(by), "trees": 300, "proposal": "b" * 64, "seed": 0, "constrained": True, "group": 8}
    used = settings("evaluate ppl", name, family, **{**method, **more})
    about = {**given(name, "dev.conllu"), **({"proposal": "runs/parser/best"} if "proposal" in by else {})}
    return written(folder, Perplexity, used, about, content)


def written(
    folder: Path, task: type[Task], used: dict[str, Any], about: dict[str, Any], content: dict[str, Any]
) -> dict[str, Any]:
    """results.json, which it returns."""
    found = Results(task, about["name"], content, used, about).as_dict()
    (folder / "results.json").write_text(json.dumps(found, indent=2, ensure_ascii=False), encoding="utf-8")
    return found


def reranked_sentences(seed: int, sentences: int = 30) -> list[dict[str, Any]]:
    lengths, chance = random.Random(0), random.Random(seed)
    some = []
    for number in range(1, sentences + 1):
        words = lengths.randrange(2, 30)
        proposal, reranked, oracle = sorted(chance.randrange(words // 2, words + 1) for _ in range(3))
        some.append(
            {
                "sentence_id": number,
                "sent_id": str(number),
                "words": words,
                "scored": words - 1,
                "proposal": proposal,
                "reranked": reranked,
                "oracle": oracle,
                "proposal_scored": min(proposal, words - 1),
                "reranked_scored": min(reranked, words - 1),
                "oracle_scored": min(oracle, words - 1),
                "crosses": 0,
                "trees": 40,
                "proposal_rank": 1,
                "log_joint": -9.0,
                "log_bound": -8.0,
            }
        )
    return some


def write_reranking(folder: Path, name: str, seed: int, **more: Any) -> dict[str, Any]:
    """What dtg evaluate rerank --out leaves."""
    sentences = reranked_sentences(seed)
    content = {"title": "made up", "notes": [], **summarize_reranking(sentences)}
    method = {"seed": 0, "trees": 300, "proposal": "b" * 64, "weight": 0.0, "constrained": True}
    used = settings("evaluate rerank", name, "dtg", **{**method, **more})
    folder.mkdir(parents=True)
    columns = RerankedTrees.columns
    rows = [tuple(one[column.name] for column in columns) for one in sentences]
    write_rows(folder / RerankedTrees.table, columns, rows)
    about = {**given(name, "test.conllu"), "proposal": "runs/parser/best"}
    return written(folder, RerankedTrees, used, about, content)


def write_parser(file: Path, uas: float = 91.25) -> None:
    """What dtg evaluate parser --json prints."""
    scores = {"sentences": 30, "words": 400, "uas": uas, "las": 88.5, "exact": 40.0, "exact_labelled": 35.0}
    best = {"nbest": 10, "sentences": 30, "words": 400, "uas": 95.0, "exact": 60.0}
    content = {"all": scores, "without_punctuation": scores, "by_length": {}, "nonprojective": 0, "oracle": best}
    about = {"format_version": 1, "files": ["ud/test.conllu"], "parser": "runs/parser/best"}
    file.write_text(json.dumps({**about, **content}), encoding="utf-8")


def write_phrase_reranking(folder: Path, name: str, seed: int, **more: Any) -> dict[str, Any]:
    """What dtg evaluate rerank --out leaves of a treebank in brackets."""
    chance = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for number in range(1, 21):
        gold = chance.randrange(3, 12)
        row: dict[str, Any] = {
            "sentence_id": number,
            "sent_id": str(number),
            "words": 2 * gold,
            "gold": gold,
            "trees": 5,
        }
        for who in ("proposal", "reranked", "oracle"):
            row |= {f"{who}_found": gold, f"{who}_matched": chance.randrange(gold + 1)}
        rows.append(row)
    proposal = NamedProposal(BiaffineParser.__new__(BiaffineParser), "runs/phrases/best", "b" * 64)  # not asked
    task = RerankedPhrases(Path("test.ptb"), (), proposal)
    used = settings("evaluate rerank-phrases", name, "tg", **{**task.settings(), **more})
    folder.mkdir(parents=True)
    return written(folder, RerankedPhrases, used, given(name, "test.ptb"), task.summarize(rows, name))


def write_phrase_parser(folder: Path, matched: int) -> dict[str, Any]:
    """What dtg evaluate parser --out leaves of a treebank in brackets."""
    row = {"sentence_id": 1, "sent_id": "1", "words": 9, "scored": 8, "gold": 8, "found": 8, "matched": matched}
    row |= {"matched_spans": matched, "oracle_found": 8, "oracle_matched": 7}
    content = PhraseParsing((Path("test.ptb"),), (), 10).summarize([row], "phrases")
    about = {**given("phrases", "test.ptb"), "model": "runs/phrases/best", "files": ["test.ptb"]}
    folder.mkdir(parents=True)
    return written(folder, PhraseParsing, settings("evaluate parser-phrases", "phrases", "none"), about, content)


def write_run(
    folder: Path, level: float, family: str = "dtg", corpus: str = "c" * 64, seed: int = 1, **model: Any
) -> None:
    """The log of a training run that ends at a perplexity of `level`."""
    folder.mkdir(parents=True, exist_ok=True)
    table = {"family": family, "vocabulary": 8192, "layers": 6, "width": 256, "arc_representation": "word+arc", **model}
    training = {"seed": seed, "batch_sentences": 32, "peak_rate": 0.001, "epochs": 2}
    lines: list[dict[str, Any]] = [
        {
            "format_version": 1,
            "kind": "run",
            "model": table,
            "training": training,
            "corpus": corpus,
            "steps": 40,
            "words": 4000,
        }
    ]
    for step in range(1, 21):
        for kind in ("train", "dev"):
            score_of = {"loss": 3 + 1 / step, "word_perplexity": level + 900 / step, "piece_perplexity": 20.0}
            place = {"step": 2 * step, "epoch": 1 + step // 11, "words": 200 * step}
            lines.append({"kind": kind, **place, **score_of, "time": {"seconds": 90.0 * step}})
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
