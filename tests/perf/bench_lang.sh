#!/usr/bin/env bash
# The language beside Lua, Guile and Python, and what a fiber costs: CPU seconds, medians of rounds
# in which everything takes its turn. Called by `./dev bench lang` with the release build.
#
#   bench_lang.sh BUILD [--rounds N] [--json] [WORKLOAD…]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=${1:-build/release}
[ $# -eq 0 ] || shift
bench=$build/bin/bench_lang
rounds=5
json=0
chosen=()
while [ $# -gt 0 ]; do
    case $1 in
        --rounds) rounds=$2; shift ;;
        --json) json=1 ;;
        -*) echo "usage: bench_lang.sh BUILD [--rounds N] [--json] [WORKLOAD…]" >&2; exit 2 ;;
        *) chosen+=("$1") ;;
    esac
    shift
done

here=tests/perf/lang
sizes=(fib:30 tak:50 loop:10000000 map:1000000 append:1000000 naive:100000 deep:1000000
    cons:1000000 rest:1000000)
fibers=100000

# The languages that are here. Python as it is called by a system, not by a version manager.
languages=(heddle)
python=$(command -v /usr/bin/python3 python3 | head -n 1 || true)
for language in lua5.4 guile-3.0 python3; do
    case $language in python3) found=$python ;; *) found=$(command -v $language || true) ;; esac
    if [ -n "$found" ]; then languages+=("$language")
    else echo "$language is not installed: left out" >&2; fi
done

run_one() { # run_one language workload size
    case $1 in
        heddle) "$bench" $here/workloads.heddle "$2" "$3" ;;
        lua5.4) lua5.4 $here/workloads.lua "$2" "$3" ;;
        guile-3.0) guile-3.0 -s $here/workloads.scm "$2" "$3" ;;
        python3) "$python" $here/workloads.py "$2" "$3" ;;
    esac
}

measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
export GUILE_AUTO_COMPILE=1
ulimit -s unlimited 2>/dev/null || true # for the recursion of the others

is_chosen() { [ ${#chosen[@]} -eq 0 ] || [[ " ${chosen[*]} " == *" $1 "* ]]; }

for ((round = 1; round <= rounds; ++round)); do
    for each in "${sizes[@]}"; do
        workload=${each%:*} size=${each#*:}
        is_chosen "$workload" || continue
        for language in "${languages[@]}"; do
            # What a language cannot do (recursion this deep) is a result too.
            line=$(run_one "$language" "$workload" "$size" 2>/dev/null | tail -n 1) || line="- -"
            echo "$workload $size $language $line" >>"$measured"
        done
        # Four times the size, for what should grow with it and no faster.
        case $workload in fib | tak) ;; *)
            line=$("$bench" $here/workloads.heddle "$workload" $((4 * size)))
            echo "$workload $size larger $line" >>"$measured"
        esac
    done
    if is_chosen fibers; then
        for where in machine session; do
            echo "fibers $fibers $("$bench" fibers $where $fibers)" >>"$measured"
        done
    fi
done

awk -v json=$json -v rounds="$rounds" -v languages="${languages[*]}" '
function median(list,    n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; --j) {
        t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
    }
    return n == 0 ? "" : n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function ratio(a, b) { return a == "" || b == "" || b == 0 ? "-" : sprintf("%.2f", a / b) }
$1 == "fibers" {
    create[$3] = create[$3] " " $4; resume[$3] = resume[$3] " " $5; bytes[$3] = bytes[$3] " " $6
    fibers = $2
    next
}
{
    if (!($1 in size)) { order[++count] = $1; size[$1] = $2 }
    if ($5 == "-") next
    seconds[$1, $3] = seconds[$1, $3] " " $5
    if ($3 == "larger") next
    if (!($1 in value)) value[$1] = $4
    else if (value[$1] != $4) {
        printf "%s: %s computes %s, another %s\n", $1, $3, $4, value[$1] > "/dev/stderr"
        wrong = 1
    }
}
END {
    n = split(languages, names, " ")
    if (json) {
        printf "{\"rounds\":%d,\"unit\":\"CPU seconds\",\"workloads\":[", rounds
        for (w = 1; w <= count; ++w) {
            printf "%s{\"name\":\"%s\",\"size\":%s", (w == 1 ? "" : ","), order[w], size[order[w]]
            for (k = 1; k <= n; ++k) {
                m = median(seconds[order[w], names[k]])
                printf ",\"%s\":%s", names[k], m == "" ? "null" : m
            }
            m = median(seconds[order[w], "larger"])
            printf ",\"heddle_at_4_times_the_size\":%s}", m == "" ? "null" : m
        }
        printf "],\"fibers\":{"
        separator = ""
        for (where in create) {
            printf "%s\"%s\":{\"count\":%d,\"create_us\":%s,\"resume_us\":%s,\"bytes\":%s}", separator,
                where, fibers, median(create[where]), median(resume[where]), median(bytes[where])
            separator = ","
        }
        print "}}"
        exit wrong
    }
    printf "%-8s %9s", "", "size"
    for (k = 1; k <= n; ++k) printf " %9s", names[k]
    printf "  heddle/Lua  heddle/Python  4 x the size\n"
    for (w = 1; w <= count; ++w) {
        name = order[w]
        printf "%-8s %9s", name, size[name]
        for (k = 1; k <= n; ++k) {
            m = median(seconds[name, names[k]])
            printf " %9s", m == "" ? "fails" : sprintf("%.4f", m)
        }
        own = median(seconds[name, "heddle"])
        printf "  %10s  %13s  %12s\n", ratio(own, median(seconds[name, "lua5.4"])),
            ratio(own, median(seconds[name, "python3"])), ratio(median(seconds[name, "larger"]), own)
    }
    if (fibers) {
        printf "\n%-24s %10s %10s %10s\n", fibers " fibers that wait", "create", "resume", "bytes"
        split("machine session", places, " ")
        for (k = 1; k <= 2; ++k)
            printf "%-24s %7.3f us %7.3f us %10.0f\n", places[k], median(create[places[k]]),
                median(resume[places[k]]), median(bytes[places[k]])
    }
    exit wrong
}' "$measured"
