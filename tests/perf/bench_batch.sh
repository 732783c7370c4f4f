#!/usr/bin/env bash
# What a batch costs besides the model: rows per second, memory over time, disk for a row, how soon
# a run of many rows goes on, what a step costs with each durability, and how rows that compute scale
# with threads. Called by `./dev bench batch` with the release build.
#
#   bench_batch.sh BUILD [ROWS] [HTTP_ROWS] [STEP_ROWS] [THREAD_ROWS]
#
# ROWS: of five steps each, on the in-process model, and then continued with one row more;
# HTTP_ROWS: of one step, over HTTP; STEP_ROWS: for each durability; THREAD_ROWS: for each number of
# threads up to that of the processors. HEDDLE_BENCH_PARTS chooses
# among: rows http steps store threads. It fails above the bounds of the design: 0.2 ms for a step with
# group (HEDDLE_BENCH_STEP_MS), 200 MB (HEDDLE_BENCH_MB), and 10 s to continue (HEDDLE_BENCH_RESUME_S). Instructions are counted with perf, where that is allowed: on a
# loaded machine they say more than seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
rows=${2:-1000000}
http_rows=${3:-200000}
step_rows=${4:-20000}
thread_rows=${5:-2000}
heddle=$build/bin/heddle
place=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$place"' EXIT

failed=0
# bounded WHAT FIGURE BOUND UNIT: whether the figure is within its bound.
bounded() {
    awk -v figure="$2" -v bound="$3" 'BEGIN {exit !(figure > bound)}' || return 0
    echo "too much: $1: $2 $4, at most $3 $4" >&2
    failed=1
}

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
rules() { echo '{"rules": [{"match": ".*", "text": "devel, with a reason of a few words"}]}'; }

# watched FILE COMMAND…: runs it, and writes "SECONDS RSS_MB PEAK_MB" to FILE twice a second.
watched() {
    local to=$1 pid began
    shift
    began=$(seconds)
    "$@" >"$place/said" 2>&1 &
    pid=$!
    : >"$to"
    while kill -0 $pid 2>/dev/null; do
        awk -v at="$(seconds)" -v began="$began" '/^VmHWM/ {peak = $2} /^VmRSS/ {now = $2}
            END {if (now) printf "%.2f %.1f %.1f\n", at - began, now / 1024, peak / 1024}' \
            "/proc/$pid/status" >>"$to" 2>/dev/null || true
        sleep 0.5
    done
    wait $pid || { cat "$place/said" >&2; return 1; }
}

# batch_of NAME ROWS STEPS OPTION…: runs that many rows, prints its figures; then the same command
# with one row more.
batch_of() {
    local name=$1 count=$2 steps=$3 began took more
    shift 3
    make_rows "$count" "$place/$name.rows.jsonl"
    workflow "$steps" >"$place/$name.heddle"
    local command=("$heddle" batch "$place/$name.heddle" --rows "$place/$name.rows.jsonl" --id id
        --out "$place/$name.out.jsonl" --progress none "$@")
    began=$(seconds)
    watched "$place/$name.memory" "${command[@]}"
    took=$(awk -v a="$began" -v b="$(seconds)" 'BEGIN {print b - a}')
    awk -v n="$count" -v steps="$steps" -v t="$took" \
        -v journal="$(du -sb "$place/$name.out.jsonl.run" | cut -f1)" \
        -v results="$(stat -c %s "$place/$name.out.jsonl")" 'BEGIN {
        printf "%d rows of %d steps in %.1f s: %.0f rows/s, %.4f ms a step\n",
            n, steps, t, n / t, 1000 * t / n / steps
        printf "disk for a row: %.0f bytes of journal, %.0f of results\n", journal / n, results / n}'
    awk '{now[NR] = $2; if ($3 > peak) peak = $3}
        END {printf "memory in MB: peak %.1f; over time", peak
            for (i = 1; i <= 10; ++i) printf " %.1f", now[int(1 + (NR - 1) * i / 10)]
            print ""}' "$place/$name.memory"
    bounded "$name: memory" "$(awk '{if ($3 > peak) peak = $3} END {print peak + 0}' "$place/$name.memory")" \
        "${HEDDLE_BENCH_MB:-200}" MB
    [ "$(wc -l <"$place/$name.out.jsonl")" = "$count" ] || { echo "rows are missing" >&2; return 1; }
    echo '{"id": "new", "text": "new"}' >>"$place/$name.rows.jsonl"
    watched "$place/$name.again" "${command[@]}" # its end is seen half a second late at most
    read -r more _ < <(measure "$place/said" "$heddle" runs show "$place/$name.out.jsonl")
    awk -v n="$count" -v shown="$more" '{t = $1; if ($3 > peak) peak = $3}
        END {printf "goes on with %d known rows, and runs a new one: %.1f s, %.1f MB; runs show: %.2f s\n",
            n, t + 0.5, peak, shown}' "$place/$name.again"
    bounded "$name: continuing" "$(awk '{t = $1} END {print t + 0}' "$place/$name.again")" \
        "${HEDDLE_BENCH_RESUME_S:-10}" s
    bounded "$name: memory when it continues" \
        "$(awk '{if ($3 > peak) peak = $3} END {print peak + 0}' "$place/$name.again")" \
        "${HEDDLE_BENCH_MB:-200}" MB
    rm -rf "$place/$name".*
}

rows_part() {
    rules >"$place/rules.json"
    batch_of rows "$rows" 5 --model "scripted:$place/rules.json"
}

http_part() {
    rules >"$place/rules.json"
    "$heddle" model serve --rules "$place/rules.json" --print-port "$place/port" >/dev/null 2>&1 &
    server=$!
    for _ in $(seq 100); do [ -s "$place/port" ] && break; sleep 0.1; done
    batch_of http "$http_rows" 1 --model openai:gpt-4o-mini \
        --base-url "http://127.0.0.1:$(cat "$place/port")/v1"
    kill "$server"
    server=
}

steps_part() {
    local steps how took instructions bytes
    make_rows "$step_rows" "$place/rows.jsonl"
    rules >"$place/rules.json"
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
            awk -v how="$how" -v steps=$steps -v n="$step_rows" -v t="$took" -v b="$bytes" \
                -v t1="${at[1]}" -v i1="${instr[1]}" -v i="$instructions" 'BEGIN {
                printf "%-8s %5d %10.0f %12.0f", how, steps, n / t, b / n
                if (steps > 1) printf " %14.4f %16.0f", 1000 * (t - t1) / n / (steps - 1), (i - i1) / n / (steps - 1)
                print ""}'
            rm -rf "$place/$how-$steps".*
        done
        echo "$how $(awk -v a="${at[1]}" -v b="${at[5]}" 'BEGIN {print b - a}') \
$(awk -v a="${instr[1]}" -v b="${instr[5]}" 'BEGIN {print b - a}')" >>"$place/steps"
    done
    awk -v n="$step_rows" '{time[$1] = $2; instructions[$1] = $3}
        END {for (how in time) {
            printf "a step with %s: %.2f times the time of off, %.4f ms more than without a journal",
                how, time[how] / time["off"], 1000 * (time[how] - time["none"]) / n / 4
            if (instructions["off"] > 0)
                printf ", %.2f times the instructions of off", instructions[how] / instructions["off"]
            print ""}}' "$place/steps" | sort
    bounded "a step with group" "$(awk -v n="$step_rows" '{time[$1] = $2}
        END {printf "%.4f", 1000 * (time["group"] - time["none"]) / n / 4}' "$place/steps")" \
        "${HEDDLE_BENCH_STEP_MS:-0.2}" ms
}

threads_part() {
    local threads took one=
    make_rows "$thread_rows" "$place/rows.jsonl"
    {
        echo '(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))'
        echo '(define (main text) (fib 22))'
    } >"$place/fib.heddle"
    printf '%7s %10s %8s\n' threads rows/s speed-up
    for ((threads = 1; threads <= $(nproc); threads *= 2)); do
        read -r took _ < <(measure "$place/said" "$heddle" batch "$place/fib.heddle" \
            --rows "$place/rows.jsonl" --id id --out "$place/fib.jsonl" --threads "$threads" \
            --progress none)
        [ "$(wc -l <"$place/fib.jsonl")" = "$thread_rows" ] || { echo "rows are missing" >&2; return 1; }
        one=${one:-$took}
        awk -v threads=$threads -v n="$thread_rows" -v t="$took" -v one="$one" \
            'BEGIN {printf "%7d %10.0f %8.2f\n", threads, n / t, one / t}'
        rm -rf "$place"/fib.jsonl*
    done
}

for part in ${HEDDLE_BENCH_PARTS:-rows http steps store threads}; do
    echo "== $part"
    case $part in
        rows) rows_part ;;
        http) http_part ;;
        steps) steps_part ;;
        threads) threads_part ;;
        store) "$build/bin/bench_run_store" "$step_rows" ;;
        *) echo "no such part: $part" >&2; exit 2 ;;
    esac
done
exit $failed
