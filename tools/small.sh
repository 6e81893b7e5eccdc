#!/usr/bin/env bash
# Make the models and the parser that are free for any use, from data to bundle, step by step; every step resumes where it was interrupted.
#
#   tools/small.sh parser              a parser trained on EWT and the free part of AMALGUM: parser-small
#   tools/small.sh corpus              texts without trees, cleaned and split into sentences, in shards (docs/data.md)
#   tools/small.sh parse STAGE         trees for the shards of a stage, by that parser, or by the bundled one if there is none
#   tools/small.sh prepare STAGE       the corpus of a stage; the first makes the subwords
#   tools/small.sh train NAME STAGE    dtg-small or txl-small, from where the stage before ended
#   tools/small.sh anneal NAME STAGE   the end of training after a stage: the rate falls to 0; its result is STAGE-annealed
#   tools/small.sh evaluate NAME STAGE its scores: perplexity, SyntaxGym, BLiMP, garden paths
#   tools/small.sh bundle NAME [STAGE] into the package: parser-small, or a model as it is after a stage
#
# The first stage is 2.7 million words drawn from the free part of AMALGUM, with its own trees, and EWT twice, which need neither
# parser nor texts; its rate falls in the end. Each further one is 3.7 million words drawn from 22 of the 77 shards and EWT, at a
# constant rate, so that the next can follow; annealing is 1.9 million words, drawn from the first stage's corpus in another order.
# On one core of a fast computer dtg-small takes 45 minutes for a stage and 25 for annealing; a computer that is not
# kept for longer can start from the model that was bundled last (START=FOLDER).
# DTG_DATA is the folder of the data, WORK (default: small) the one to work in, THREADS (default: 1) how many train.
set -euo pipefail
: "${DTG_DATA:?is to be the folder with ud/, amalgum/, text/ and the test sets sg/, blimp/, rt/}"
WORK=${WORK:-small}
export OMP_NUM_THREADS=1
PER_STAGE=22
FIRST_WORDS=2700000  # of the 3,594,076 in the first stage's corpus
LATER_WORDS=3728751  # of the 5,704,852 in the second stage's: 3,000 steps
LAST_WORDS=1900000
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
parse() {
  local parser=$PARSER/best
  [ -d "$parser" ] || parser=parser-small
  tools/parse_shards.sh "$WORK"/corpus "$parser" $((PER_STAGE * ($1 - 1) + $(grep -c -- -dev "$WORK"/corpus/order.txt)))
}

prepare() {
  local trees=("$EWT") shards=() tokenizer=() free=$WORK/amalgum-free.conllu
  mkdir -p "$WORK"
  [ -z "${START:-}" ] || tokenizer=(--tokenizer "$START"/tokenizer.model)
  if [ "$1" = 1 ]; then
    [ -f "$free" ] || python tools/free_treebank.py "$DTG_DATA"/amalgum/amalgum-train.conllu.gz --out "$free"
    trees+=("$EWT" "$free")
  else
    mapfile -t shards < <(grep -v -- -dev "$WORK"/corpus/order.txt | sed -n "$((PER_STAGE * ($1 - 2) + 1)),$((PER_STAGE * ($1 - 1)))p")
    trees+=("${shards[@]/#/$WORK/corpus/parsed/}")
    [ -n "${START:-}" ] || tokenizer=(--tokenizer "$WORK"/stage-1/tokenizer.model)
  fi
  [ -d "$WORK"/stage-"$1" ] || dtg prepare --train "${trees[@]}" --dev "$DEV" --roots first --vocabulary 8192 "${tokenizer[@]}" \
    --out "$WORK"/stage-"$1"
}

# run RUN CORPUS SETTINGS...
run() {
  local out=$WORK/runs/$1
  dtg train modern "${@:3}" --set training.peak_rate=2e-3 --set training.save_every=750 --data "$WORK"/"$2" --out "$out" \
    --threads "${THREADS:-1}" $(resume "$out")
}

# last RUN: the model at the end of a run. At a constant rate the one with the best score on dev may be an earlier one.
last() {
  find "$1"/models -mindepth 1 -maxdepth 1 -name 'step-*' 2> /dev/null | sort | tail -n 1 | grep . ||
    { echo "There is no model in $1/models: train that stage first." >&2; exit 2; }
}

train() {
  local family before
  case $1 in
    dtg-small) family=dtg ;;
    txl-small) family=txl-tokens ;;
    *) echo "dtg-small or txl-small is expected, not $1." >&2; exit 2 ;;
  esac
  case $2 in
    1) run "$1-1" stage-1 --set model.family=$family --set training.words=$FIRST_WORDS ;;
    *)
      before=${START:-}
      if [ -z "$before" ] && [ "$2" = 2 ]; then before=$WORK/runs/$1-1/best; fi
      [ -n "$before" ] || before=$(last "$WORK"/runs/"$1-$(($2 - 1))")
      # Updates by Muon take a fifth of the time of small batches. One step is too few for the rate to fall.
      run "$1-$2" stage-"$2" --from "$before" --set training.words=$LATER_WORDS --set training.batch_sentences=64 \
        --set training.warmup_share=0.0753 --set training.decay_share=0.0003 ;;
  esac
}

anneal() {
  local before
  before=$(last "$WORK"/runs/"$1-$2")
  run "$1-$2-annealed" stage-1 --from "$before" --set training.seed=1 --set training.words=$LAST_WORDS \
    --set training.batch_sentences=64 --set training.warmup_share=0.02 --set training.decay_share=0.97
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
  train | anneal | evaluate) "$1" "${2:?dtg-small or txl-small}" "${3:?the number of a stage, from 1}" ;;
  bundle) bundle "${2:?parser-small, dtg-small or txl-small}" "${3:-}" ;;
  *) sed -n '2,21s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
