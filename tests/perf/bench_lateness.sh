#!/usr/bin/env bash
# How late a timer fires beside each builtin on a million elements or 50 MB, every call that was more
# than 5 ms late, and whether any was more than 10 ms late. Called by `./dev bench lateness` with the
# release build.
#
#   bench_lateness.sh BUILD [SIZE] [NAME…]
set -euo pipefail

build=${1:-build/release}
[ $# -eq 0 ] || shift
exec "$build/bin/bench_lateness" "$@"
