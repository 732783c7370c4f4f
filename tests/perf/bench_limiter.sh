#!/usr/bin/env bash
# How near to a quota the limiter comes, and what it costs. Called by `./dev bench limiter` with the
# release build.
#
#   bench_limiter.sh BUILD [SEEDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
[ $# -eq 0 ] || shift
exec "$build/bin/bench_limiter_simulation" "$@"
