#!/usr/bin/env bash
# What a batch costs besides the model: rows per second on the in-process model, what a step costs
# with each durability, disk for a row, and how soon a run of many rows goes on. Called by
# `./dev bench batch` with the release build.
#
#   bench_batch.sh BUILD [ROWS] [KNOWN_ROWS]
#
# HEDDLE_BENCH_PARTS chooses among: rows resume store. Instructions are counted with perf, where
# that is allowed: on a loaded machine they say more than seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
rows=${2:-20000}
known=${3:-100000}
heddle=$build/bin/heddle
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

counts=no
if perf stat -x, -e instructions:u true >/dev/null 2>&1; then counts=yes; fi

seconds() { date +%s.%N; }
# measure FILE COMMAND…: prints "SECONDS INSTRUCTIONS"; the output goes to FILE.
measure() {
    local to=$1 began ended instructions=0
    shift
    began=$(seconds)
    if [ $counts = yes ]; then
        perf stat -x, -o "$place/perf" -e instructions:u "$@" >"$to" 2>&1 || { cat "$to" >&2; return 1; }
        instructions=$(awk -F, '/instructions/ {print $1}' "$place/perf")
    else
        "$@" >"$to" 2>&1 || { cat "$to" >&2; return 1; }
    fi
    ended=$(seconds)
    awk -v a="$began" -v b="$ended" -v n="$instructions" 'BEGIN {printf "%.3f %.0f\n", b - a, n}'
}
make_rows() { # make_rows COUNT FILE
    awk -v n="$1" 'BEGIN {for (i = 0; i < n; ++i)
        printf "{\"id\": \"row-%d\", \"text\": \"a package that does the thing number %d\"}\n", i, i}' >"$2"
}
workflow() { # workflow STEPS: so many calls, one after the other
    local text='(get (ask text) (quote content))' i
    for ((i = 1; i < $1; ++i)); do text="(get (ask $text) (quote content))"; done
    printf '(defatom ask (params q) (instructions "{{q}}"))\n(define (main text) %s)\n' "$text"
}

rows_part() {
    local steps how took instructions bytes
    make_rows "$rows" "$place/rows.jsonl"
    echo '{"rules": [{"match": ".*", "text": "devel, with a reason of a few words"}]}' >"$place/rules.json"
    for steps in 1 5; do workflow $steps >"$place/$steps.heddle"; done
    printf '%-8s %5s %10s %12s %14s %16s\n' durability steps rows/s "disk/row" "ms/step" "instr/step"
    for how in none off group fsync; do
        local -A at=() instr=()
        for steps in 1 5; do
            local kept=(--durability "$how")
            [ "$how" = none ] && kept=(--no-journal)
            read -r took instructions < <(measure "$place/said" "$heddle" batch "$place/$steps.heddle" \
                --rows "$place/rows.jsonl" --id id --out "$place/$how-$steps.jsonl" \
                --model "scripted:$place/rules.json" --progress none "${kept[@]}")
            at[$steps]=$took
            instr[$steps]=$instructions
            bytes=0
            [ "$how" = none ] || bytes=$(du -sb "$place/$how-$steps.jsonl.run" | cut -f1)
            awk -v how="$how" -v steps=$steps -v n="$rows" -v t="$took" -v b="$bytes" \
                -v t1="${at[1]}" -v i1="${instr[1]}" -v i="$instructions" 'BEGIN {
                printf "%-8s %5d %10.0f %12.0f", how, steps, n / t, b / n
                if (steps > 1) printf " %14.4f %16.0f", 1000 * (t - t1) / n / (steps - 1), (i - i1) / n / (steps - 1)
                print ""}'
        done
        echo "$how $(awk -v a="${at[1]}" -v b="${at[5]}" 'BEGIN {print b - a}') \
$(awk -v a="${instr[1]}" -v b="${instr[5]}" 'BEGIN {print b - a}')" >>"$place/steps"
    done
    awk '$1 == "off" {t = $2; i = $3} {time[$1] = $2; instructions[$1] = $3}
        END {for (how in time) {
            printf "a step with %s: %.2f times the time of off", how, time[how] / t
            if (i > 0) printf ", %.2f times the instructions", instructions[how] / i
            print ""}}' "$place/steps" | sort
}

resume_part() {
    local took instructions began
    make_rows "$known" "$place/known.jsonl"
    echo '(define (main text) (now))' >"$place/known.heddle"
    local command=("$heddle" batch "$place/known.heddle" --id id --out "$place/known-results.jsonl"
        --progress none --durability off --rows "$place/known.jsonl")
    read -r took instructions < <(measure "$place/said" "${command[@]}")
    awk -v n="$known" -v t="$took" 'BEGIN {printf "%d rows that compute: %.0f rows/s\n", n, n / t}'
    echo '{"id": "new", "text": "new"}' >>"$place/known.jsonl"
    began=$(seconds)
    read -r took instructions < <(measure "$place/said" "${command[@]}")
    # The value of the new row, which is the last one, is the time when it ran.
    tail -n 1 "$place/known-results.jsonl" | sed -E 's/.*"value":([0-9.E+]+).*/\1/' |
        awk -v a="$began" -v t="$took" -v n="$known" -v i="$instructions" '{
            printf "goes on with %d known rows: the first new row after %.2f s, the end after %.2f s", n, $1 - a, t
            if (i > 0) printf " (%.0f instructions a known row)", i / n
            print ""}'
}

for part in ${HEDDLE_BENCH_PARTS:-rows resume store}; do
    echo "== $part"
    case $part in
        rows) rows_part ;;
        resume) resume_part ;;
        store) "$build/bin/bench_run_store" "$rows" ;;
        *) echo "no such part: $part" >&2; exit 2 ;;
    esac
done
