#!/usr/bin/env bash
# Give trees to the shards of a corpus that `python -m tools.corpus` built, in the order of its order.txt: any beginning of it
# has about the same share of every source. Interrupt it at any time; the same command goes on where it stopped.
#
#   tools/parse_shards.sh CORPUS PARSER [COUNT]     COUNT: stop once so many shards are parsed
#
# Trees are in CORPUS/parsed; DTG may say how dtg is called ("python -m dtg").
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
corpus=$1 parser=$2 count=${3:-}
if [ ! -f "$corpus/order.txt" ]; then
  echo "$corpus has no order.txt: a folder of python -m tools.corpus is expected." >&2
  exit 1
fi
mkdir -p "$corpus/parsed"
total=$(wc -l < "$corpus/order.txt") done=0
while IFS= read -r -u 3 shard; do
  if [ -n "$count" ] && [ "$done" -ge "$count" ]; then
    break
  fi
  out=$corpus/parsed/$shard
  if ! grep -qs '"finished": true' "$out.meta.json"; then
    echo "shard $((done + 1)) of $total: $shard ($(date '+%F %T'))"
    ${DTG:-dtg} parse "$corpus/shards/$shard" --parser "$parser" --out "$out" --resume
  fi
  done=$((done + 1))
done 3< "$corpus/order.txt"
echo "$done of $total shards are parsed."
