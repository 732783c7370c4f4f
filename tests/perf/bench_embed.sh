#!/usr/bin/env bash
# What calls of workflows cost an embedding program. Usage: bench_embed.sh BUILD
set -euo pipefail

build=${1:-build/release}
"$build/bin/bench_embed"
