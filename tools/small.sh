#!/usr/bin/env bash
# Make the models and the parser that are free for any use, from data to bundle, step by step; every step resumes where it was interrupted.
#
#   tools/small.sh parser              a parser trained on EWT and the free part of AMALGUM: parser-small
#   tools/small.sh corpus              texts without trees, cleaned and split into sentences, in shards (docs/data.md)
#   tools/small.sh parse STAGE         trees for the shards of a stage, by that parser
#   tools/small.sh prepare STAGE       the corpus of a stage; the first makes the subwords
#   tools/small.sh train NAME STAGE    dtg-small or txl-small, from where the stage before ended
#   tools/small.sh evaluate NAME STAGE its scores: perplexity, SyntaxGym, BLiMP, garden paths
#   tools/small.sh bundle NAME [STAGE] into the package: parser-small, or a model as it is after a stage
#
# The first stage is 2.7 million words drawn from the free part of AMALGUM, with its own trees, and EWT twice, which need neither
# parser nor texts. Each further one is 22 of the 77 shards and EWT: 5.5 million words. A stage takes about two hours of one core
# for dtg-small: a computer that is not kept for longer can train the next from the model that the last one bundled (START=FOLDER).
# DTG_DATA is the folder of the data, WORK (default: small) the one to work in, THREADS (default: 1) how many train.
set -euo pipefail
: "${DTG_DATA:?is to be the folder with ud/, amalgum/, text/ and the test sets sg/, blimp/, rt/}"
WORK=${WORK:-small}
export OMP_NUM_THREADS=1
PER_STAGE=22
FIRST_WORDS=2700000  # of the 3,594,076 in the first stage's corpus
EWT=$DTG_DATA/ud/en_ewt-ud-train.conllu
DEV=$DTG_DATA/ud/en_ewt-ud-dev.conllu
TEST=$DTG_DATA/ud/en_ewt-ud-test.conllu
PARSER=$WORK/parsers/parser-small
cd "$(dirname "$0")/.."

resume() { [ -d "$1" ] && echo --resume; true; }

corpus() { python -m tools.corpus "$DTG_DATA" --out "$WORK"/corpus; }

# Every tree is read once; EWT's, by hand and few, six times.
parser() {
  mkdir -p "$WORK"/parsers
  [ -f "$WORK"/amalgum.conllu ] ||
    python tools/free_treebank.py "$DTG_DATA"/amalgum/amalgum-train.conllu.gz --sentences 12000 --genre fiction=24000 --out "$WORK"/amalgum.conllu
  dtg train-parser "$EWT" "$EWT" "$EWT" "$EWT" "$EWT" "$EWT" "$WORK"/amalgum.conllu --dev "$DEV" --roots first --language en \
    --config parser-small --set training.epochs=1 --set model.word_count=12 --threads 1 --out "$PARSER" $(resume "$PARSER")
}

# What each text holds out for dev comes first in the order, and is in no stage.
parse() { tools/parse_shards.sh "$WORK"/corpus "$PARSER"/best $((PER_STAGE * ($1 - 1) + $(grep -c -- -dev "$WORK"/corpus/order.txt))); }

prepare() {
  local trees=("$EWT") shards=() tokenizer=() free=$WORK/amalgum-free.conllu
  if [ "$1" = 1 ]; then
    [ -f "$free" ] || python tools/free_treebank.py "$DTG_DATA"/amalgum/amalgum-train.conllu.gz --out "$free"
    trees+=("$EWT" "$free")
  else
    mapfile -t shards < <(grep -v -- -dev "$WORK"/corpus/order.txt | sed -n "$((PER_STAGE * ($1 - 2) + 1)),$((PER_STAGE * ($1 - 1)))p")
    trees+=("${shards[@]/#/$WORK/corpus/parsed/}")
    tokenizer=(--tokenizer "${START:-$WORK/stage-1}"/tokenizer.model)
  fi
  [ -d "$WORK"/stage-"$1" ] || dtg prepare --train "${trees[@]}" --dev "$DEV" --roots first --vocabulary 8192 "${tokenizer[@]}" \
    --out "$WORK"/stage-"$1"
}

train() {
  local start run=$WORK/runs/$1-$2 before=$WORK/runs/$1-$(($2 - 1))/best
  case $1 in
    dtg-small) start=(--set model.family=dtg) ;;
    txl-small) start=(--set model.family=txl-tokens) ;;
    *) echo "dtg-small or txl-small is expected, not $1." >&2; exit 2 ;;
  esac
  # Later stages have larger batches: updates by Muon take a fifth of the time of small ones.
  if [ "$2" = 1 ]; then
    start+=(--set training.words=$FIRST_WORDS)
  else
    start=(--from "${START:-$before}" --set training.batch_sentences=64)
  fi
  dtg train modern "${start[@]}" --set training.peak_rate=2e-3 --set training.save_every=750 --data "$WORK"/stage-"$2" --out "$run" \
    --threads "${THREADS:-1}" $(resume "$run")
}

evaluate() {
  local out=$WORK/evaluated/$1-$2 by=beam,joint
  local model=(--model "$WORK"/runs/"$1-$2"/best --name "$1")
  if [ "$1" = txl-small ]; then by=beam; else model+=(--accuracy fast); fi
  dtg evaluate ppl --conllu "$TEST" --sample 500 --by $by "${model[@]}" --out "$out"/ppl
  dtg evaluate sg "$DTG_DATA"/sg "${model[@]}" --out "$out"/sg
  dtg evaluate garden-paths "$DTG_DATA"/rt/sap_classic_gp.csv "${model[@]}" --out "$out"/garden-paths
  dtg evaluate blimp "$DTG_DATA"/blimp --limit 100 "${model[@]}" --out "$out"/blimp
}

bundle() {
  case $1 in
    parser-small) python tools/bundle.py "$PARSER"/best "$1" ;;
    *) python tools/bundle.py "$WORK"/runs/"$1-${2:?the stage}"/best "$1" ;;
  esac
}

case ${1:-} in
  corpus | parser) "$1" ;;
  parse | prepare) "$1" "${2:?the number of a stage, from 1}" ;;
  train | evaluate) "$1" "${2:?dtg-small or txl-small}" "${3:?the number of a stage, from 1}" ;;
  bundle) bundle "${2:?parser-small, dtg-small or txl-small}" "${3:-}" ;;
  *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
