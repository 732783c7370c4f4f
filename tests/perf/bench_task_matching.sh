#!/usr/bin/env bash
# What it costs to find the tasks that a text speaks of. Called by `./dev bench task_matching` with the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec "${1:-build/release}/bin/bench_task_matching"
