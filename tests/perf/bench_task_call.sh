#!/usr/bin/env bash
# What a task call costs besides the model. Called by `./dev bench task_call` with the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec "${1:-build/release}/bin/bench_task_call"
