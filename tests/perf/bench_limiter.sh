#!/usr/bin/env bash
# How near to a quota the limiter comes, what it does with small and odd quotas, and what it costs.
# Called by `./dev bench limiter` with the release build. Fails when a row misses.
#
#   bench_limiter.sh BUILD [SEEDS]
#
# HEDDLE_BENCH_PARTS chooses among: services simulated sockets (all by default; the last takes three
# minutes, most of which it waits).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
seeds=${2:-5}
for part in ${HEDDLE_BENCH_PARTS:-services simulated sockets}; do
    echo "== $part"
    case $part in
        services) "$build/bin/bench_limiter_simulation" "$seeds" ;;
        simulated) "$build/bin/bench_limiter_cases" simulated "$seeds" ;;
        sockets) "$build/bin/bench_limiter_cases" sockets ;;
        *) echo "no such part: $part" >&2; exit 2 ;;
    esac
done
