#!/usr/bin/env bash
# Make docs/results.md's numbers again, step by step; every step resumes where it was interrupted.
#
#   tools/results.sh prepare [CORPUS]        the corpus and the held-out sentences; or [BUDGET-]KIND: projected, spans, parsed, pretrained
#   tools/results.sh train NAME              one model
#   tools/results.sh evaluate NAME           perplexity, SyntaxGym, BLiMP, reranking
#   tools/results.sh bound NAME              how loose the bound on p(x) is: a much wider beam on 100 sentences (an eighth: 25)
#   tools/results.sh read NAME               reading times of Natural Stories, garden paths of SAP
#   tools/results.sh whole NAME              perplexity of all held-out sentences
#   tools/results.sh beams                   what narrower beams cost, on DTG
#   tools/results.sh bundle                  prepare and train the bundled models, and bundle them
#   tools/results.sh keep                    copy the logs and scores of what is evaluated, which are small, to KEPT
#   tools/results.sh report                  tables and figures of what there is, one report for each budget
#   tools/results.sh list                    the names of the table, and which are trained and evaluated
#   tools/results.sh all                     all of it
#
# A NAME is [BUDGET-]SYSTEM[-seedN][-rateR][-warm]: `dtg`, `tg-seed1`, `quarter-plm`, `sixteenth-tg-rate5e-4`.
#   BUDGET  none: every word once, with the paper's decoder; quarter, eighth, sixteenth: every fourth, eighth, ... sentence once,
#           with a modern one
#   SYSTEM  dtg, eager, swift, arc, word (what a row reads of an arc), trans, tokens, hybrid, on dependencies as they came;
#           parsed, pretrained: dtg on trees of our own parsers, BiLSTM and MiniLM;
#           tg, plm, plm-mask, pushdown: on phrases of our own parser; tg-projected and so on: on phrases made from the dependencies
#   -rateR  another peak rate; -warm: a warm-up of a fifth of the steps
#
# DTG_DATA is the folder of the data, WORK (default: results) the one to work in, PROCESSES (default: 1) how many share an evaluation,
# KEPT (default: docs/results/kept) the folder where results of this machine and of others last, so that a report has them all,
# PRETRAINED the folder of our own dependency parser with MiniLM, SPANS (default: parser-phrases) our own constituency parser.
set -euo pipefail
: "${DTG_DATA:?is to be the folder with ud/, amalgum/, blimp/ and sg/}"
WORK=${WORK:-results}
PROCESSES=${PROCESSES:-1}
PRETRAINED=${PRETRAINED:-$WORK/parsers/pretrained}
SPANS=${SPANS:-parser-phrases}
KEPT=${KEPT:-$(dirname "$0")/../docs/results/kept}
export OMP_NUM_THREADS=1

FULL="dtg tokens trans tg pushdown dtg-seed1 tokens-seed1 trans-seed1 tg-seed1 pushdown-seed1"
QUARTER="quarter-dtg quarter-trans quarter-tokens quarter-eager quarter-swift quarter-arc quarter-word quarter-parsed quarter-pretrained
 quarter-tg quarter-tg-projected quarter-plm quarter-plm-mask quarter-pushdown"
SEEDS="quarter-dtg-seed1 quarter-trans-seed1 quarter-tokens-seed1 quarter-eager-seed1 quarter-swift-seed1 quarter-parsed-seed1
 quarter-pretrained-seed1 quarter-tg-seed1 quarter-tg-projected-seed1 quarter-plm-seed1 quarter-plm-mask-seed1 quarter-pushdown-seed1"
EIGHTH="eighth-dtg eighth-trans eighth-tokens eighth-hybrid eighth-eager eighth-swift eighth-parsed eighth-pretrained
 eighth-tg eighth-plm eighth-plm-mask eighth-pushdown eighth-tg-projected
 eighth-dtg-seed1 eighth-trans-seed1 eighth-tokens-seed1 eighth-hybrid-seed1 eighth-tg-seed1 eighth-pushdown-seed1 eighth-tg-projected-seed1
 eighth-dtg-seed2 eighth-trans-seed2 eighth-tokens-seed2 eighth-hybrid-seed2"
RATES=$(for system in dtg trans tokens tg pushdown; do for rate in 5e-4 1e-3 2e-3; do echo "sixteenth-$system-rate$rate"; done; done)
TRAINING=("$DTG_DATA"/amalgum/amalgum-train.conllu.gz "$DTG_DATA"/ud/en_ewt-ud-train.conllu "$DTG_DATA"/ud/en_gum-ud-train.conllu)
DEV=$DTG_DATA/ud/en_ewt-ud-dev.conllu

# prepare [BUDGET-]KIND: once for all corpora of a budget, the same words in the same order, split into the same subwords.
prepare() {
  local budget system seed changed files=() out
  read_name "${1:-corpus}"
  out=$(folder_of "$budget" "$system")
  mkdir -p "$WORK"
  if [ ! -d "$WORK"/corpus ]; then
    dtg prepare --train "${TRAINING[@]}" --dev "$DEV" --roots first --vocabulary 8192 --out "$WORK"/corpus
  fi
  if [ ! -f "$WORK"/heldout.conllu ]; then
    { cat "$DTG_DATA"/ud/en_ewt-ud-{dev,test}.conllu "$DTG_DATA"/ud/en_gum-ud-{dev,test}.conllu
      gunzip -c "$DTG_DATA"/amalgum/amalgum-{dev,test}.conllu.gz; } > "$WORK"/heldout.$$
    mv "$WORK"/heldout.$$ "$WORK"/heldout.conllu
  fi
  case $system in
    corpus | projected | parsed | pretrained | spans) ;;
    *) echo "There is no corpus $1; there are: corpus projected spans parsed pretrained" >&2; exit 2 ;;
  esac
  [ -d "$out" ] && return
  treebanks "$budget"
  case $system in
    corpus) as_they_came "$out" ;;
    projected) as_they_came "$out" --project head ;;
    parsed) parsed "$out" conllu parser-gum ;;
    pretrained) parsed "$out" conllu "$PRETRAINED" ;;
    spans) parsed "$out" ptb "$SPANS" ;;
  esac
}

# folder_of BUDGET KIND
folder_of() {
  local folder=$WORK/corpus
  [ "$1" = full ] || folder+=-$1
  [ "$2" = corpus ] || folder+=-$2
  echo "$folder"
}

# treebanks BUDGET: sets files. A smaller budget is every so manieth sentence, as long as it is the same for all.
treebanks() {
  local sample=$WORK/samples/$1.conllu each file
  files=("${TRAINING[@]}")
  case $1 in
    full) return ;;
    quarter) each=4 ;;
    eighth) each=8 ;;
    sixteenth) each=16 ;;
  esac
  files=("$sample")
  [ -f "$sample" ] && return
  mkdir -p "$WORK"/samples
  for file in "${TRAINING[@]}"; do zcat -f "$file"; echo; done | awk -v RS= -v ORS='\n\n' -v each=$each 'NR % each == 1' > "$sample".$$
  mv "$sample".$$ "$sample"
}

# as_they_came OUT OPTIONS...: the dependencies of the treebanks.
as_they_came() {
  dtg prepare --train "${files[@]}" --dev "$DEV" --roots first --tokenizer "$WORK"/corpus/tokenizer.model "${@:2}" --out "$1"
}

# parsed OUT ENDING PARSER: the same words with the parser's trees.
parsed() {
  local file tree trees=() folder=$WORK/trees/$system
  mkdir -p "$folder"
  for file in "${files[@]}" "$DEV"; do
    tree=$folder/$(basename "${file%.conllu*}").$2
    grep -qs '"finished": true' "$tree".meta.json ||
      dtg parse "$file" --parser "$3" --max-words 1000 --out "$tree" $([ -f "$tree" ] && echo --resume)
    trees+=("$tree")
  done
  dtg prepare --train "${trees[@]:0:${#files[@]}}" --dev "${trees[-1]}" --tokenizer "$WORK"/corpus/tokenizer.model --out "$1"
}

# read_name NAME: sets budget, system, seed and changed.
read_name() {
  local rest=$1
  budget=full seed=0 changed=()
  [[ $rest =~ ^(full|quarter|eighth|sixteenth)-(.*)$ ]] && budget=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
  [[ $rest =~ ^(.*)-warm$ ]] && rest=${BASH_REMATCH[1]} changed+=(--set training.warmup_share=0.2)
  [[ $rest =~ ^(.*)-rate([0-9.e-]+)$ ]] && rest=${BASH_REMATCH[1]} changed+=(--set training.peak_rate="${BASH_REMATCH[2]}")
  [[ $rest =~ ^(.*)-seed([0-9]+)$ ]] && rest=${BASH_REMATCH[1]} seed=${BASH_REMATCH[2]} changed+=(--set training.seed="${BASH_REMATCH[2]}")
  system=${rest#txl-}
}

train() {
  local budget system seed changed settings=() kind=corpus config=modern out=$WORK/runs/$1
  read_name "$1"
  case $system in
    dtg) ;;
    eager | swift | hybrid) settings=(--set model.family="dtg-$system") ;;
    arc | word) settings=(--set model.arc_representation="$system") ;;
    trans) settings=(--set model.family=txl-trans) ;;
    tokens) settings=(--set model.family=txl-tokens) ;;
    parsed | pretrained) kind=$system ;;
    tg | plm | plm-mask | pushdown) settings=(--set model.family="$system") kind=spans ;;
    tg-projected | plm-projected | plm-mask-projected | pushdown-projected)
      settings=(--set model.family="${system%-projected}") kind=projected ;;
    *) echo "There is no system $system (in $1); tools/results.sh without arguments lists them." >&2; exit 2 ;;
  esac
  [ "$budget" = full ] && config=mini
  prepare "$budget-$kind"
  dtg train $config "${settings[@]}" "${changed[@]}" --data "$(folder_of "$budget" "$kind")" --out "$out" --threads 1 \
    --precision "${PRECISION:-auto}" $([ -d "$out" ] && echo --resume)
}

# evaluation KIND NAME OPTIONS...: of what was trained, or else of the same model as it is bundled.
evaluation() {
  local start=(dtg) model=$WORK/runs/$2/best
  [ -d "$model" ] || case $2 in dtg) model=dtg-mini ;; tokens | txl-tokens) model=txl-mini ;; esac
  [ "$PROCESSES" = 1 ] || start=(torchrun --nproc-per-node "$PROCESSES" -m dtg)
  "${start[@]}" evaluate "$1" --model "$model" --name "$2" "${@:3}"
}

# One accuracy for all of a budget; trees are drawn from the parser whose trees the model was trained on. At an eighth further seeds
# are for SyntaxGym, BLiMP and the beam's perplexity alone.
evaluate() {
  local budget system seed changed results=$WORK/evaluated/$1 parser=parser-gum trees=300 project=() accuracy=() sentences=500 pairs=100 gold=() sums
  read_name "$1"
  [ "$budget" = eighth ] && accuracy=(--accuracy fast) sentences=100 pairs=10 gold=(--sample 150)
  case $system in
    pretrained) parser=$PRETRAINED ;;
    tg | plm | plm-mask | pushdown) parser=$SPANS ;;
    *-projected) project=(--project head) ;;
  esac
  if [ "$budget" = eighth ] && [ "$seed" != 0 ]; then
    sums=(--by beam)
  else
    sums=(--parser "$parser" --trees $trees $(by_of "$system") "${project[@]}")
  fi
  evaluation ppl "$1" --conllu "$WORK"/heldout.conllu --roots first --sample $sentences "${sums[@]}" "${accuracy[@]}" --out "$results"/ppl
  evaluation sg "$1" "$DTG_DATA"/sg --boundary own "${accuracy[@]}" --out "$results"/sg
  evaluation blimp "$1" "$DTG_DATA"/blimp --limit $pairs "${accuracy[@]}" --out "$results"/blimp
  [ "$budget" = eighth ] && [ "$seed" != 0 ] && return
  case $system in
    tokens | pushdown-projected) ;;
    tg | plm | plm-mask | pushdown)
      evaluation rerank "$1" "$DTG_DATA"/const/gum-test.ptb.gz --parser "$parser" --trees $trees "${gold[@]}" --out "$results"/rerank ;;
    *)
      evaluation rerank "$1" "$DTG_DATA"/ud/en_ewt-ud-test.conllu --parser "$parser" --trees $trees "${project[@]}" "${gold[@]}" \
        --out "$results"/rerank ;;
  esac
}

# by_of SYSTEM: the treebank's own trees can be scored by models of dependencies alone. Pushdown's trees are made binary from
# those that were drawn, so that it is not known how probable it was to draw them.
by_of() {
  case $1 in
    tg | plm | plm-mask) echo --by proposal,estimate,beam ;;
    pushdown) echo --by proposal,beam ;;
  esac
}

bound() {
  local budget system seed changed beam sentences=100
  read_name "$1"
  [ "$budget" = eighth ] && sentences=25
  for beam in "--accuracy default" "--beam 1000 --word-beam 1000"; do
    evaluation ppl "$1" --conllu "$WORK"/heldout.conllu --roots first --sample $sentences --by beam $beam \
      --out "$WORK"/bound/"$1${beam//[- ]/}"/ppl
  done
}

read_times() {
  local budget system seed changed accuracy=()
  read_name "$1"
  [ "$budget" = eighth ] && accuracy=(--accuracy fast)
  evaluation reading "$1" "$DTG_DATA"/rt/naturalstories.csv "${accuracy[@]}" --out "$WORK"/evaluated/"$1"/reading
  evaluation garden-paths "$1" "$DTG_DATA"/rt/sap_classic_gp.csv "${accuracy[@]}" --out "$WORK"/evaluated/"$1"/garden-paths
}

whole() {
  evaluation ppl "$1" --conllu "$WORK"/heldout.conllu --roots first --by joint,beam --accuracy fast --out "$WORK"/whole/"$1"/ppl
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

# Both models of `models/` were trained in float32.
bundle() {
  local pair PRECISION=no
  for pair in dtg:dtg-mini tokens:txl-mini; do
    train "${pair%:*}"
    python "$(dirname "$0")"/bundle.py "$WORK"/runs/"${pair%:*}"/best "${pair#*:}" --not-free
  done
}

# report_of FOLDER NAME...: of those that were evaluated, here or where they were kept, each against the first.
report_of() {
  local name evaluated=() runs=()
  for name in "${@:2}"; do
    if [ -d "$WORK"/evaluated/"$name" ]; then
      evaluated+=("$WORK"/evaluated/"$name") runs+=(--run "$name=$WORK/runs/$name")
    elif [ -d "$KEPT/$name" ]; then
      evaluated+=("$KEPT/$name") runs+=(--run "$name=$KEPT/$name")
    fi
  done
  [ ${#evaluated[@]} = 0 ] || dtg report "${evaluated[@]}" "${runs[@]}" --out "$1"
}

report() {
  local logs=("$WORK"/runs/*/log.jsonl)
  report_of "$WORK"/report $FULL
  report_of "$WORK"/report-quarter $QUARTER $SEEDS
  report_of "$WORK"/report-eighth $EIGHTH
  [ ! -f "${logs[0]}" ] || sha256sum "${logs[@]}"
}

list() {
  local name
  for name in $RATES $FULL $QUARTER $SEEDS $EIGHTH; do
    printf '%-32s%-10s%s\n' "$name" "$([ -d "$WORK"/runs/"$name"/best ] && echo trained)" \
      "$(ls "$WORK"/evaluated/"$name" 2> /dev/null | xargs)$([ -d "$KEPT/$name" ] && echo ' (kept)')"
  done
}

case ${1:-} in
  prepare) prepare "${2:-corpus}" ;;
  beams | bundle | report | list) "$1" ;;
  keep) python "$(dirname "$0")"/keep.py "$WORK" "$KEPT" ;;
  read) read_times "${2:?a name; tools/results.sh list shows those of the table}" ;;
  train | evaluate | bound | whole) "$1" "${2:?a name; tools/results.sh list shows those of the table}" ;;
  all)
    for name in $RATES; do train "$name"; done
    for name in $FULL $QUARTER $SEEDS $EIGHTH; do train "$name"; evaluate "$name"; bound "$name"; read_times "$name"; done
    for name in dtg tokens; do whole "$name"; done
    beams
    report
    ;;
  *) sed -n '2,27p' "$0"; exit 2 ;;
esac
