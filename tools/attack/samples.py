"""Small inputs of every kind that are as they should be; the attack changes them."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAVED = ROOT / "tests/reference/saved"
RESULTS = ROOT / "tests/evaluation/report/results-0.1/dtg"

CONLLU = """# sent_id = f1
# text = Il vient du port.
1\tIl\til\tPRON\t_\tCase=Nom\t2\tnsubj\t_\t_
2\tvient\tvenir\tVERB\t_\t_\t0\troot\t0:root\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tport\tport\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
5.1\tnul\t_\t_\t_\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# newdoc id = d2
# sent_id = f2
1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_
2\thearing\thearing\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tis\tbe\tAUX\t_\t_\t0\troot\t_\t_
4\tscheduled\tschedule\tVERB\t_\t_\t3\txcomp\t_\t_
5\ton\ton\tADP\t_\t_\t7\tcase\t_\t_
6\tthe\tthe\tDET\t_\t_\t7\tdet\t_\t_
7\tissue\tissue\tNOUN\t_\t_\t2\tnmod\t_\t_

"""
BRACKETS = """( (S (NP-SBJ-1 (DT The) (NN dog)) (VP (VBZ barks) (NP (-NONE- *-1))) (. .)) )
(ROOT (S (NP (NNP Mary)) (VP (VBD said) (SBAR (IN that) (S (NP (PRP it)) (VP (VBD left)
  (PRN (-LRB- -LRB-) (CD 10,000) (-RRB- -RRB-))))))))
(TOP (FRAG (NP (NN naïve)) (X (Y (Z (NN word))))))
"""
TEXT = """The dog barks at the man's cats, doesn't it?
Il vient du port à 10 000 km; "naïve" Größe 犬 が 吠える .

don't   worry\tabout spaces ...
"""
SUITE = {
    "meta": {"name": "number", "metric": "sum"},
    "region_meta": {"1": "intro", "2": "verb"},
    "predictions": [{"type": "formula", "formula": "((2;%a%) < (2;%b%)) & ((*;%a%) - 1.5 < (*;%b%) + 3)"}],
    "items": [
        {
            "item_number": number,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [
                        {"region_number": 1, "content": "The dog"},
                        {"region_number": 2, "content": verb},
                    ],
                }
                for name, verb in (("a", "barks"), ("b", "bark"))
            ],
        }
        for number in (1, 2)
    ],
}
PAIR = {
    "sentence_good": "Who should Derek hug after shocking Richard?",
    "sentence_bad": "Who should Derek hug Richard after shocking?",
    "field": "syntax",
    "linguistics_term": "island_effects",
    "UID": "adjunct_island",
    "pairID": "0",
    "one_prefix_method": False,
    "two_prefix_method": False,
}
STIMULI = 'item,condition,sentence,x\n1,a,"The dog, barks.",0.5\n2,b,The cat sees a ""man"".,001\n3,a,,\n'
STIMULUS = {"item": 1, "condition": "a", "sentence": "The dog barks.", "rt": 310.5, "more": [1, {"a": None}]}
OWN_PAIRS = (
    "good\tbad\tphenomenon\tregion\n"
    "The dogs bark .\tThe dogs barks .\tagreement\t3\nHe ran .\tHe runned .\tforms\t2-3\n"
)
SIDECAR = {
    "format_version": 1,
    "finished": False,
    "settings": {"command": "surprisal", "dtg": "0.2.0", "beam": 300, "unit": "bits"},
    "given": {"model": "run/best", "input": "items.txt"},
    "columns": {"sentence_id": "the line of the input, from 1"},
    "progress": {"sentences": 64, "rows": 1210, "bytes": 180312, "input_sha256": "ab" * 32, "sha256": "cd" * 32},
    "sha256": "",
}
RUN = {
    "format_version": 1,
    "kind": "run",
    "corpus": {"folder": "c", "hash": "ab"},
    "steps": 10,
    "words": 1000,
    "model": {"family": "dtg"},
    "training": {"epochs": 1},
}
LOG = "".join(
    json.dumps(record) + "\n"
    for record in (
        RUN,
        {"kind": "train", "step": 5, "words": 500, "loss": 3.5, "rate": 1e-3, "seconds": 1.0},
        {
            "kind": "dev",
            "step": 10,
            "words": 1000,
            "loss": 3.1,
            "word_perplexity": 22.0,
            "piece_perplexity": 9.0,
            "best": True,
        },
    )
)


def content(path: Path) -> bytes:
    return path.read_bytes()


TREEBANKS = (CONLLU.encode(), CONLLU.replace("\n", "\r\n").encode())
CONFIGS = sorted((ROOT / "src/dtg/configs").glob("*.toml"))
SAMPLES: dict[str, tuple[bytes, ...]] = {
    "CoNLL-U": TREEBANKS,
    "CoNLL-U to be parsed": TREEBANKS,
    "brackets": (BRACKETS.encode(),),
    "text": (TEXT.encode(), TEXT.replace("\n", "\r\n").encode()),
    "tables of stimuli": (STIMULI.encode(),),
    "tables of stimuli, JSON": (json.dumps(STIMULUS).encode(),),
    "suites": (json.dumps(SUITE).encode(),),
    "BLiMP": (json.dumps(PAIR).encode(),),
    "own pairs": (OWN_PAIRS.encode(),),
    "configurations, TOML": tuple(found for path in CONFIGS if b"\nfamily" in (found := content(path))),  # not parsers'
    "config.json": (content(SAVED / "model/config.json"),),
    "tokenizer.model": (content(SAVED / "model/tokenizer.model"),),
    "model.safetensors": (content(SAVED / "model/model.safetensors"),),
    "parser's config.json": (content(SAVED / "parser/config.json"),),
    "vocabulary.json": (content(SAVED / "parser/vocabulary.json"),),
    "sidecars": (json.dumps(SIDECAR).encode(),),
    "results.json": tuple(content(path) for path in sorted(RESULTS.glob("*/results.json"))),
    "training logs": (LOG.splitlines()[0].encode(), LOG.encode()),
}
