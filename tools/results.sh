#!/usr/bin/env bash
# Make docs/results.md's numbers again, step by step; every step resumes where it was interrupted.
#
#   tools/results.sh prepare                 the corpus, and the held-out sentences
#   tools/results.sh train NAME              one of the names below
#   tools/results.sh evaluate NAME           perplexity, SyntaxGym, BLiMP, reranking
#   tools/results.sh whole NAME              perplexity of all held-out sentences
#   tools/results.sh beams                   what narrower beams cost, on DTG
#   tools/results.sh bundle                  prepare and train the bundled models, and bundle them
#   tools/results.sh report                  tables and figures of what there is, one report for each budget
#   tools/results.sh all                     all of it: about 27 processor hours
#
# DTG_DATA is the folder of the data, WORK (default: results) the one to work in, PROCESSES (default: 1) how many share an evaluation.
set -euo pipefail
: "${DTG_DATA:?is to be the folder with ud/, amalgum/, blimp/ and sg/}"
WORK=${WORK:-results}
PROCESSES=${PROCESSES:-1}
export OMP_NUM_THREADS=1
CONFIGS=$(cd "$(dirname "$0")/../src/dtg/configs" && pwd)

FULL="dtg txl-tokens txl-trans"
TRAINING=("$DTG_DATA"/amalgum/amalgum-train.conllu.gz "$DTG_DATA"/ud/en_ewt-ud-train.conllu "$DTG_DATA"/ud/en_gum-ud-train.conllu)
QUARTER="quarter-dtg quarter-eager quarter-swift quarter-arc quarter-word quarter-parsed quarter-trans quarter-tokens"
SEEDS="quarter-dtg-seed1 quarter-eager-seed1 quarter-swift-seed1"  # any quarter-NAME-seedN can be trained
WARM="quarter-dtg-warm quarter-trans-warm"  # and any quarter-NAME-warm, with a longer warm-up

prepare() {
  mkdir -p "$WORK"
  dtg prepare --train "${TRAINING[@]}" --dev "$DTG_DATA"/ud/en_ewt-ud-dev.conllu --roots first --vocabulary 8192 --out "$WORK"/corpus
  cat "$DTG_DATA"/ud/en_ewt-ud-{dev,test}.conllu "$DTG_DATA"/ud/en_gum-ud-{dev,test}.conllu > "$WORK"/heldout.conllu
  gunzip -c "$DTG_DATA"/amalgum/amalgum-{dev,test}.conllu.gz >> "$WORK"/heldout.conllu
}

# The same words with trees of the bundled parser, split into the same subwords.
prepare_parsed() {
  local file out parsed=()
  mkdir -p "$WORK"/parsed
  for file in "${TRAINING[@]}"; do
    out=$WORK/parsed/$(basename "${file%.gz}")
    dtg parse "$file" --out "$out" $([ -f "$out" ] && echo --resume)
    parsed+=("$out")
  done
  dtg prepare --train "${parsed[@]}" --dev "$DTG_DATA"/ud/en_ewt-ud-dev.conllu --tokenizer "$WORK"/corpus/tokenizer.model \
    --out "$WORK"/corpus-parsed
}

# A quarter's models multiply in bfloat16, which processors that can do it do in two thirds of the time.
# Transformer-XL on words, warmed up for 5 % of these few steps, learns no more than how frequent pieces are.
train() {
  local name=$1 config=mini-quarter precision=bf16 corpus=corpus settings=() changed=()
  if [[ $1 =~ ^(quarter-.*)-seed([0-9]+)$ ]]; then
    name=${BASH_REMATCH[1]} changed=(--set training.seed="${BASH_REMATCH[2]}")
  elif [[ $1 = quarter-*-warm ]]; then
    name=${1%-warm} changed=(--set training.warmup_share=0.2)
  fi
  case $name in
    dtg | txl-tokens | txl-trans) config=mini precision=no settings=(--set model.family="$1") ;;
    quarter-dtg) ;;
    quarter-eager) settings=(--set model.family=dtg-eager) ;;
    quarter-swift) settings=(--set model.family=dtg-swift) ;;
    quarter-arc) settings=(--set model.arc_representation=arc) ;;
    quarter-word) settings=(--set model.arc_representation=word) ;;
    quarter-parsed) prepare_parsed; corpus=corpus-parsed ;;
    quarter-trans) settings=(--set model.family=txl-trans) ;;
    quarter-tokens) settings=(--set model.family=txl-tokens --set training.warmup_share=0.2) ;;
    *) echo "There is no model $1; there are: $FULL $QUARTER $SEEDS $WARM" >&2; exit 2 ;;
  esac
  dtg train "$CONFIGS"/$config.toml "${settings[@]}" "${changed[@]}" --data "$WORK"/$corpus --out "$WORK"/runs/"$1" --threads 1 \
    --precision "$precision" \
    $([ -d "$WORK"/runs/"$1" ] && echo --resume)
}

# evaluation KIND NAME OPTIONS...: of what was trained, or else of the same model as it is bundled.
evaluation() {
  local start=(dtg) model=$WORK/runs/$2/best
  [ -d "$model" ] || case $2 in dtg) model=dtg-mini ;; txl-tokens) model=txl-mini ;; esac
  [ "$PROCESSES" = 1 ] || start=(torchrun --nproc-per-node "$PROCESSES" -m dtg)
  "${start[@]}" evaluate "$1" --model "$model" --name "$2" "${@:3}"
}

# A quarter's models are compared with each other, by beams and lists that take a third of the time (docs/results.md: what that costs).
# Other seeds and warm-ups are for how far these move perplexity and SyntaxGym.
evaluate() {
  local results=$WORK/evaluated/$1 sum=() items=(--beam 100) pairs=(--beam 50 --word-beam 10) trees=300
  case $1 in
    quarter-*)
      sum=(--by joint,beam --beam 20 --word-beam 7) items=(--beam 30 --word-beam 10) pairs=(--beam 10 --word-beam 5) trees=50 ;;
  esac
  evaluation ppl "$1" --conllu "$WORK"/heldout.conllu --roots first --sample 500 "${sum[@]}" --out "$results"/ppl
  evaluation sg "$1" "$DTG_DATA"/sg "${items[@]}" --out "$results"/sg
  case $1 in *-seed* | *-warm) return ;; esac
  evaluation blimp "$1" "$DTG_DATA"/blimp --limit 100 "${pairs[@]}" --out "$results"/blimp
  [[ $1 = *-tokens ]] || evaluation rerank "$1" "$DTG_DATA"/ud/en_ewt-ud-test.conllu --trees "$trees" --out "$results"/rerank
}

whole() {
  evaluation ppl "$1" --conllu "$WORK"/heldout.conllu --roots first --by joint,beam --beam 20 --word-beam 7 --out "$WORK"/whole/"$1"/ppl
}

beams() {
  local wide=$WORK/evaluated/dtg pair
  for pair in 20:7 10:5; do
    evaluation ppl dtg --conllu "$WORK"/heldout.conllu --roots first --sample 500 --by joint,beam --beam "${pair%:*}" --word-beam "${pair#*:}" \
      --out "$WORK"/beams/ppl-"${pair%:*}"
  done
  evaluation sg dtg "$DTG_DATA"/sg --beam 30 --word-beam 10 --against "$wide"/sg --out "$WORK"/beams/sg-30
  evaluation blimp dtg "$DTG_DATA"/blimp --limit 20 --beam 10 --word-beam 5 --against "$wide"/blimp --out "$WORK"/beams/blimp-10
}

bundle() {
  local pair
  prepare
  for pair in dtg:dtg-mini txl-tokens:txl-mini; do
    train "${pair%:*}"
    python "$(dirname "$0")"/bundle.py "$WORK"/runs/"${pair%:*}"/best "${pair#*:}"
  done
}

# report_of FOLDER NAME...: of those that were evaluated, each against the first.
report_of() {
  local name evaluated=() runs=()
  for name in "${@:2}"; do
    [ -d "$WORK"/evaluated/"$name" ] && evaluated+=("$WORK"/evaluated/"$name") && runs+=(--run "$name=$WORK/runs/$name")
  done
  [ ${#evaluated[@]} = 0 ] || dtg report "${evaluated[@]}" "${runs[@]}" --out "$1"
}

report() {
  report_of "$WORK"/report $FULL
  report_of "$WORK"/report-quarter $QUARTER
  report_of "$WORK"/report-seed1 $SEEDS
  report_of "$WORK"/report-warm $WARM
  sha256sum "$WORK"/runs/*/log.jsonl
}

case ${1:-} in
  prepare | beams | bundle | report) "$1" ;;
  train | evaluate | whole) "$1" "${2:?a name: $FULL $QUARTER $SEEDS $WARM}" ;;
  all)
    prepare
    for name in $FULL $QUARTER $SEEDS $WARM; do train "$name"; evaluate "$name"; done
    for name in dtg txl-tokens; do whole "$name"; done
    beams
    report
    ;;
  *) sed -n '2,13p' "$0"; exit 2 ;;
esac
