#!/usr/bin/env bash
# run.sh HEDDLE_PROGRAM [DIRECTORY]: reviews the sources below DIRECTORY (default: this project).
#
# Without a key a scripted model is started as a separate process on the loopback interface and ends
# with this script. With OPENAI_API_KEY set (and, if you like, OPENAI_BASE_URL and HEDDLE_MODEL) the
# real service is asked, about a few files only: HEDDLE_REVIEW_LIMIT is their number.
set -euo pipefail

heddle=${1:?usage: run.sh HEDDLE_PROGRAM [DIRECTORY]}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=${2:-$(cd "$here/../.." && pwd)}
scratch=$(mktemp -d)
server=

finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*"; }
fail() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

arguments=(run "$here/review.heddle" --workspace "$project")
if [ -n "${OPENAI_API_KEY:-}" ]; then
    limit=${HEDDLE_REVIEW_LIMIT:-12}
    say "Reviewing $limit files of $project with ${HEDDLE_MODEL:-the default model} …"
    arguments+=(--input "limit:=$limit")
else
    "$heddle" model serve --rules "$here/rules.json" --port 0 --print-port "$scratch/port" \
        >"$scratch/server.out" 2>"$scratch/server.err" &
    server=$!
    for _ in $(seq 200); do
        [ ! -s "$scratch/port" ] || break
        kill -0 "$server" 2>/dev/null || { cat "$scratch/server.err" >&2; fail "the model did not start"; }
        sleep 0.05
    done
    [ -s "$scratch/port" ] || fail "the model did not open its port within 10 seconds"
    url=http://127.0.0.1:$(cat "$scratch/port")/v1
    say "Reviewing the sources of $project with a scripted model at $url …"
    export OPENAI_API_KEY=sk-scripted-models-take-any-key
    arguments+=(--model openai:scripted-reviewer --base-url "$url")
    if [ -n "${HEDDLE_REVIEW_LIMIT:-}" ]; then arguments+=(--input "limit:=$HEDDLE_REVIEW_LIMIT"); fi
fi

started=$(date +%s.%N)
"$heddle" "${arguments[@]}"
seconds=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')

if [ -n "$server" ]; then
    # The run has ended: nothing of it may be left at the server, which reports that when it ends.
    sleep 0.3
    kill "$server" || fail "the model ended before the run did"
    wait "$server" || fail "the model failed"
    server=
    grep -q ' 0 of them still open' "$scratch/server.err" || { cat "$scratch/server.err" >&2; fail "connections leak"; }
    printf '\nThe model %s.\n' "$(cat "$scratch/server.err")"
fi

cat <<TEXT

Done in $seconds s. What to try next:
  $here/run.sh $heddle DIRECTORY              # review another project
  $heddle run $here/review.heddle --workspace $project \\
      --model scripted:$here/rules.json --input rows:=30 --json   # as JSON, no server
  OPENAI_API_KEY=… $here/run.sh $heddle       # a real model (OPENAI_BASE_URL, HEDDLE_MODEL)
  and read $here/review.heddle: the whole workflow is one page
TEXT
