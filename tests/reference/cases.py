"""What is frozen: named cases, and for each the quantities that are computed of it, none before it is asked for.

- `random_cases`: small random models in float64, of every family and head, and with every setting that changes numbers.
- `bundled_cases`: the bundled models and parser, on the sentences of sentences.txt.
- `saved_cases`: models and parsers under saved/, which were written once and must load for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tests.reference import calls
from tests.reference.calls import HERE, Json

Case = dict[str, Callable[[], Json]]  # quantities by name

SAVED = HERE / "saved"
FAMILIES = ("dtg", "dtg-eager", "dtg-swift", "txl-trans", "txl-tokens")
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "dtg, arcs as arc": ("dtg", {"arc_representation": "arc"}),
    "dtg, arcs as word": ("dtg", {"arc_representation": "word"}),
    "txl-trans, arcs as arc": ("txl-trans", {"arc_representation": "arc"}),
    "dtg-eager, arcs as word": ("dtg-eager", {"arc_representation": "word", "head": "joint"}),
    "dtg, untied": ("dtg", {"tied_arc_rows": False, "output_bias": False}),
    "dtg-swift, untied": ("dtg-swift", {"tied_arc_rows": False, "head": "joint"}),
    "dtg, pre-norm": ("dtg", {"norm": "pre", "activation": "gelu"}),
    "txl-tokens, pre-norm": ("txl-tokens", {"norm": "pre", "activation": "gelu", "shared_position_biases": False}),
    "dtg-eager, biases by layer": ("dtg-eager", {"shared_position_biases": False}),
    "dtg-swift, limit 2": ("dtg-swift", {"distance_limit": 2}),
}
RELEASED = (("dtg", "factored"), ("dtg", "joint"), ("txl-trans", "joint"), ("txl-tokens", "joint"))
IDS = {"pad": 12, "bos": 13, "eos": 14, "left_arc": 15, "right_arc": 16, "pop_root": 17, "unk": 18}

FIVE = ("the", "dog", "chased", "mice", "quickly")
SENTENCES = (
    FIVE,
    ("run",),
    ("the", "zebras", "unbelievably", "ran", "é"),  # words of several pieces
    ("a", "big", "cat", "that", "saw", "the", "dog", "ran"),
)
HEADS = ((0, 1, 2, 3, 4), (2, 3, 0, 3, 3), (5, 5, 5, 5, 0), (0, 1, 1, 1, 1), (3, 1, 0, 3, 4), (2, 5, 4, 2, 0))
IDS_OF_WORDS = ((1,), (2, 9, 8), (3,), (4, 10))
IDS_OF_OTHERS = ((5,), (0, 11), (7,), (6,), (2, 8))
NARROW: dict[str, Any] = {"beam": 8, "word_beam": 4}
WIDE: dict[str, Any] = {"beam": 400, "word_beam": 400}
SEARCHES: dict[str, dict[str, Any]] = {
    "fast track": {"beam": 2, "word_beam": 9, "fast_track": 2},
    "one action": {"beam": 8, "max_actions": 1},
    "all derivations": {"beam": 60, "derivations": "all"},
    "constrained": {"beam": 8, "constrained": True},
    "unconstrained": {"beam": 8, "constrained": False},
}


# Random models


def random_cases() -> dict[str, Case]:
    cases = {}
    for family in FAMILIES:
        for head in ("factored", "joint"):
            for constrained in (True, False):
                name = f"{family}, {head}, {'constrained' if constrained else 'unconstrained'}"
                cases[name] = random_case(family, head=head, constrained=constrained)
    for name, (family, settings) in VARIANTS.items():
        cases[name] = random_case(family, **settings)
    for family, head in RELEASED:
        cases[f"released {family}, {head}"] = released_case(family, head)
    return cases


def random_case(family: str, **settings: Any) -> Case:
    model = cache(lambda: calls.random_model(family, **settings))
    trees = [calls.tree_of(FIVE, heads) for heads in HEADS]
    other = calls.tree_of(SENTENCES[2], HEADS[1])
    case: Case = {
        "surprisals, narrow": lambda: calls.surprisals(model(), SENTENCES, **NARROW),
        "surprisals, wide": lambda: calls.surprisals(model(), SENTENCES[:3], **WIDE),
        "steps": lambda: calls.steps(model(), SENTENCES[2], **NARROW),
        "searches": lambda: {
            name: calls.sentence_log_probability(model(), FIVE, **options) for name, options in SEARCHES.items()
        },
        "scores": lambda: calls.score(model(), [*trees, other]),
        "scores in a batch": lambda: calls.score_batch(model(), [*trees, other]),
        "marginals": lambda: marginals(model()),
        "generated": lambda: [
            calls.generate(model(), 5, max_words=7, seed=3),
            calls.generate(model(), 2, prompt=FIVE[:2], max_words=6, seed=4, beam=8, temperature=0.7, top_k=20, top_p=0.9),
        ],
        "training step": lambda: calls.training_step(
            model(), [tree for tree in [*trees, other] if calls.is_within_reach(model(), tree)]
        ),
    }  # fmt: skip
    if settings.get("constrained", True):  # which makes no difference to weights
        case["fresh weights"] = lambda: calls.weights(calls.fresh_model(family, **settings))
    if family != "txl-tokens":
        drawn = calls.Proposal(trees[::-1], "independently")
        case["parse"] = lambda: calls.parse(model(), SENTENCES[3], beam=20)
        case["reranked"] = lambda: [
            calls.rerank(model(), FIVE, [*trees, trees[0]]),
            calls.rerank(model(), FIVE, drawn, trees=4),
        ]
    return case


def marginals(model: calls.Model) -> Json:
    """In every way it can be asked for."""
    trees = [calls.tree_of(FIVE, heads) for heads in HEADS]
    independent = calls.Proposal([*trees, *trees[1:3]], "independently")
    distinct = calls.Proposal(trees, "without replacement")
    return {
        "auto": calls.marginal(model, FIVE, "auto"),
        "exact": calls.marginal(model, SENTENCES[2][:4], "exact"),
        "beam": calls.marginal(model, FIVE, "beam", **NARROW),
        "proposal": calls.marginal(model, FIVE, "proposal", proposal=trees),
        "combined": calls.marginal(model, FIVE, "combined", proposal=trees, **NARROW),
        "estimate": calls.marginal(model, FIVE, "estimate", proposal=independent, trees=8),
        "estimate, distinct": calls.marginal(model, FIVE, "estimate", proposal=distinct, trees=5),
    }


def released_case(family: str, head: str) -> Case:
    """A released model has no tokenizer: words are given by the numbers of their pieces."""
    model = cache(lambda: make_released(family, head))
    words, others = (tuple(f"w{place}" for place in range(len(ids))) for ids in (IDS_OF_WORDS, IDS_OF_OTHERS))
    four, five = calls.every_tree(words)[::4], [calls.tree_of(others, heads) for heads in HEADS]
    case: Case = {
        "scores": lambda: [
            *(calls.score_ids(model(), IDS_OF_WORDS, tree.heads, False) for tree in four),
            *(calls.score_ids(model(), IDS_OF_OTHERS, tree.heads, False) for tree in five),
        ],
        "training step": lambda: calls.training_step(
            model(), [*four, *five], [*[IDS_OF_WORDS] * len(four), *[IDS_OF_OTHERS] * len(five)]
        ),
    }
    if family != "txl-tokens":  # a released model of words can be scored, but a search raises RuntimeError today
        case |= {
            "steps, narrow": lambda: calls.steps(model(), others, IDS_OF_OTHERS, **NARROW),
            "steps, wide": lambda: calls.steps(model(), words, IDS_OF_WORDS, **WIDE),
            "searches": lambda: {
                name: calls.sentence_log_probability(model(), words, IDS_OF_WORDS, **options)
                for name, options in SEARCHES.items()
                if name != "constrained"  # with released models, such a search raises today
            },
        }
    return case


def make_released(family: str, head: str) -> calls.Model:
    """Names and shapes are those of the authors' state dict; the numbers are put in later."""
    vocabulary, width, heads, head_width, inner = 19, 8, 2, 4, 10
    across = heads * head_width
    shapes: dict[str, tuple[int, ...]] = {
        "emb.weight": (vocabulary, width),
        "projection.bias": (vocabulary,),
        "r_w_bias": (heads, head_width),
        "r_r_bias": (heads, head_width),
    }
    if head == "factored":
        shapes |= {
            "action_mlp.0.weight": (width, width),
            "action_mlp.0.bias": (width,),
            "action_mlp.3.weight": (4, width),
            "action_mlp.3.bias": (4,),
        }
    for layer in range(2):
        shapes |= {
            f"layers.{layer}.dec_attn.qkv_net.0.weight": (3 * across, width),
            f"layers.{layer}.dec_attn.o_net.weight": (width, across),
            f"layers.{layer}.dec_attn.r_net.weight": (across, width),
            f"layers.{layer}.dec_attn.layer_norm.weight": (width,),
            f"layers.{layer}.dec_attn.layer_norm.bias": (width,),
            f"layers.{layer}.pos_ff.CoreNet.0.weight": (inner, width),
            f"layers.{layer}.pos_ff.CoreNet.0.bias": (inner,),
            f"layers.{layer}.pos_ff.CoreNet.3.weight": (width, inner),
            f"layers.{layer}.pos_ff.CoreNet.3.bias": (width,),
            f"layers.{layer}.pos_ff.layer_norm.weight": (width,),
            f"layers.{layer}.pos_ff.layer_norm.bias": (width,),
        }
    return calls.released_model(family, head, shapes, IDS)


# What is bundled


def bundled_cases() -> dict[str, Case]:
    parser = cache(lambda: calls.load_parser("parser-gum"))
    return {
        "dtg-mini": bundled_model("dtg-mini") | trees_of_bundled(parser),
        "txl-mini": bundled_model("txl-mini"),
        "parser-gum": bundled_parser(parser),
        "dtg-small": bundled_model("dtg-small"),
        "txl-small": bundled_model("txl-small"),
        "parser-small": bundled_parser(cache(lambda: calls.load_parser("parser-small"))),
    }


def bundled_parser(parser: Callable[[], calls.Parser]) -> Case:
    return {
        "best": lambda: by_sentence(real_sentences(), calls.best_parses(parser(), real_sentences())),
        "5 best": lambda: {" ".join(words): calls.k_best(parser(), words, 5) for words in real_sentences()[::5]},
        "samples": lambda: {
            " ".join(words): calls.samples(parser(), words, 4, seed=1) for words in real_sentences()[1::8]
        },
        "samples without replacement": lambda: {
            " ".join(words): calls.samples_without_replacement(parser(), words, 4, seed=2)
            for words in real_sentences()[2::8]
        },
    }


def bundled_model(name: str) -> Case:
    model = cache(lambda: calls.load_model(name))
    return {
        "surprisals": lambda: by_sentence(
            real_sentences(), calls.surprisals(model(), real_sentences(), beam=20, word_beam=7)
        )
    }


def trees_of_bundled(parser: Callable[[], calls.Parser]) -> Case:
    model = cache(lambda: calls.load_model("dtg-mini"))
    some = real_sentences()[3:12:2]
    return {
        "scores": lambda: {
            " ".join(words): calls.score(model(), calls.k_best_trees(parser(), words, 5)) for words in some
        },
        "marginals": lambda: {
            "proposal": calls.marginal(model(), some[1], "proposal", proposal=parser(), trees=30),
            "list": calls.marginal(model(), some[2], "proposal", proposal=calls.k_best_trees(parser(), some[2], 20)),
            "estimate": calls.marginal(model(), some[1], "estimate", proposal=parser(), trees=30),
            "combined": calls.marginal(
                model(), some[1], "combined", proposal=parser(), trees=30, beam=20, word_beam=7
            ),
        },
        "reranked": lambda: calls.rerank(model(), some[1], parser(), trees=10),
    }  # fmt: skip


@cache
def real_sentences() -> list[tuple[str, ...]]:
    """Sentences written for this purpose, split into words by spaces."""
    return [tuple(line.split()) for line in (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()]


def by_sentence(sentences: list[tuple[str, ...]], found: list[Json]) -> dict[str, Json]:
    return {" ".join(words): one for words, one in zip(sentences, found, strict=True)}


# What was saved


def saved_cases() -> dict[str, Case]:
    """Loaded as they are, and computed with in float64, so that numbers do not depend on the machine."""
    return {
        "model": saved_model("model"),
        "model-swift": saved_model("model-swift"),
        "released": saved_released("released"),
        "parser": saved_parser("parser"),
        "parser-transformer": saved_parser("parser-transformer"),
    }


def saved_model(name: str) -> Case:
    model = cache(lambda: calls.load_model(SAVED / name, torch.float64))
    trees = [calls.tree_of(FIVE, heads) for heads in HEADS]
    return {
        "weights": lambda: calls.weights(model()),
        "surprisals": lambda: calls.surprisals(model(), SENTENCES, **NARROW),
        "scores": lambda: calls.score(model(), trees),
        "marginal": lambda: calls.marginal(model(), FIVE, "exact"),
    }


def saved_released(name: str) -> Case:
    model = cache(lambda: calls.load_model(SAVED / name, torch.float64))
    words = tuple(f"w{place}" for place in range(len(IDS_OF_WORDS)))
    return {
        "weights": lambda: calls.weights(model()),
        "steps": lambda: calls.steps(model(), words, IDS_OF_WORDS, **NARROW),
    }


def saved_parser(name: str) -> Case:
    parser = cache(lambda: calls.load_parser(SAVED / name, torch.float64))
    return {
        "weights": lambda: calls.weights(parser()),
        "best": lambda: calls.best_parses(parser(), SENTENCES),
        "5 best": lambda: calls.k_best(parser(), FIVE, 5),
        "samples": lambda: calls.samples(parser(), FIVE, 4, seed=1),
        "samples without replacement": lambda: calls.samples_without_replacement(parser(), SENTENCES[3], 4, seed=2),
        "training step": lambda: calls.parser_training_step(parser(), parser_trees()),
    }


def parser_trees() -> list[calls.Tree]:
    """Enough for a vocabulary of words and labels."""
    return [
        calls.tree_of(FIVE, (2, 3, 0, 3, 3), ("det", "nsubj", "root", "obj", "advmod")),
        calls.tree_of(("a", "big", "cat", "ran"), (3, 3, 4, 0), ("det", "amod", "nsubj", "root")),
        calls.tree_of(("the", "mice", "that", "ran"), (2, 0, 4, 2), ("det", "root", "nsubj", "acl")),
    ]


def save_all() -> list[Path]:
    """Write saved/, as it was done once. What is there stays: it is there to show that it can still be read."""
    sizes: dict[str, Any] = {
        "word_width": 8, "word_count": 1, "character_width": 6, "character_filters": 8, "layers": 1, "width": 12,
        "arc_width": 12, "label_width": 6, "dropout": 0.0, "word_dropout": 0.0,
    }  # fmt: skip
    makers: dict[str, Callable[[], calls.Model | calls.Parser]] = {
        "model": lambda: calls.random_model("dtg"),
        "model-swift": lambda: calls.random_model("dtg-swift", head="joint", distance_limit=3),
        "released": lambda: make_released("dtg", "factored"),
        "parser": lambda: calls.make_parser(parser_trees(), **sizes),
        "parser-transformer": lambda: calls.make_parser(parser_trees(), encoder="transformer", loss="arcs", **sizes),
    }
    folders = [SAVED / name for name in makers if not (SAVED / name).exists()]
    for folder in folders:
        calls.save(makers[folder.name](), folder)
    return folders
