#!/usr/bin/env bash
# What calls of workflows cost an embedding program, and how soon those of clients that hang up end.
# Usage: bench_embed.sh BUILD
set -euo pipefail

build=${1:-build/release}
"$build/bin/bench_embed"
export OPENAI_API_KEY=sk-mock
"$build/bin/bench_hang_up" "example 5" /answer "$build/bin/example_5_http_server" @PORT@ @DIR@/heddle.toml
"$build/bin/bench_hang_up" "heddle serve" /v1/call/answer "$build/bin/heddle" serve @DIR@/flow.heddle \
    --config @DIR@/heddle.toml --listen 127.0.0.1:@PORT@
