#!/usr/bin/env bash
# What a session costs. Called by `./dev bench session` with the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec "${1:-build/release}/bin/bench_session"
