#!/usr/bin/env bash
# real_provider.sh HEDDLE_PROGRAM EXAMPLE: the example calls a service on the loopback interface,
# over HTTP, with the configuration of a heddle.toml.
set -euo pipefail

heddle=${1:?} example=${2:?}
scratch=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
fail() { printf 'real_provider.sh: %s\n' "$*" >&2; exit 1; }

echo '{"rules": [{"match": "heddle", "text": "A heddle lifts the warp."}]}' >"$scratch/rules.json"
echo 'model = "openai:gpt-4o-mini"' >"$scratch/heddle.toml"
"$heddle" model serve --rules "$scratch/rules.json" --port 0 --print-port "$scratch/port" \
    >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
for _ in $(seq 200); do
    [ ! -s "$scratch/port" ] || break
    sleep 0.05
done
[ -s "$scratch/port" ] || fail "the model did not open its port within 10 seconds"
OPENAI_BASE_URL=http://127.0.0.1:$(cat "$scratch/port")/v1
export OPENAI_BASE_URL OPENAI_API_KEY=sk-scripted-models-take-any-key HOME=$scratch
unset HEDDLE_MODEL XDG_CONFIG_HOME
(cd "$scratch" && "$example" heddle.toml) >"$scratch/out" || fail "the example failed"
grep -qx 'A heddle lifts the warp.' "$scratch/out" || fail "printed: $(cat "$scratch/out")"
grep -q '"requests":1' "$scratch/out" || fail "printed: $(cat "$scratch/out")"
grep -q '"cost_usd":0\.0' "$scratch/out" || fail "the cost is not known: $(cat "$scratch/out")"
