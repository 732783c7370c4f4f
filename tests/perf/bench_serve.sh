#!/usr/bin/env bash
# ./dev bench serve: servers with a workflow for each request, beside a Beast server that calls the
# same model by hand, in one run: requests/s, latency, errors and memory under 1,000 connections.
#
# Needs wrk, nginx with the lua module (Debian: wrk nginx-core libnginx-mod-http-lua), and a folder
# that is not part of heddle with the mock service (heddle-check: allow dangling-path):
# mock/mock.sh. It is given as HEDDLE_BENCH_DIR, or is ../shared/bench next to the checkout.
# The servers have core 1, the mock and wrk core 0. Loopback only.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(realpath "${1:-$root/build/release}") # it changes its directory
bench=${HEDDLE_BENCH_DIR:-$root/../shared/bench}
rounds=${HEDDLE_BENCH_ROUNDS:-1}
seconds=${HEDDLE_BENCH_SECONDS:-30}
connections=${HEDDLE_BENCH_CONNECTIONS:-1000}
model_delay=0.02

for tool in wrk nginx; do
    command -v "$tool" >/dev/null || { echo "bench serve: $tool is missing" >&2; exit 2; }
done
[ -f "$bench/mock/mock.sh" ] || { echo "bench serve: no mock service; set HEDDLE_BENCH_DIR" >&2; exit 2; }

scratch=$(mktemp -d)
server=
stop_server() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}
stop() {
    stop_server
    bash "$scratch/mock/mock.sh" stop >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap stop EXIT
cp -r "$bench/mock" "$scratch/"
chmod -R u+w "$scratch"
rm -rf "$scratch/mock/run"
sed -i "s/ngx.sleep(0.2)/ngx.sleep($model_delay)/" "$scratch/mock/nginx.conf.in"
bash "$scratch/mock/mock.sh" start >"$scratch/start.log" 2>&1 || { cat "$scratch/start.log" >&2; exit 1; }
ulimit -n "$(ulimit -Hn)"

export OPENAI_API_KEY=sk-mock OPENAI_BASE_URL=http://127.0.0.1:18081/v1 HOME=$scratch
unset HEDDLE_MODEL XDG_CONFIG_HOME
echo 'model = "openai:gpt-4o-mini"' >"$scratch/heddle.toml"
cat >"$scratch/flow.heddle" <<'EOF'
(defatom ask (params question) (instructions "Answer in one sentence: {{question}}"))
(define (answer question) (content (ask question)))
EOF
cat >"$scratch/post.lua" <<'EOF'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"question":"What does a heddle do?"}'
EOF
cd "$scratch"

port=18200
# On a port that nobody has: the mock lets the system choose ports from 1024 on for connections.
start_server() { # COMMAND…
    for _ in $(seq 5); do
        port=$((port + 1))
        taskset -c 1 "${@//@PORT@/$port}" >"$scratch/out" 2>"$scratch/err" &
        server=$!
        for _ in $(seq 100); do
            kill -0 "$server" 2>/dev/null || break
            (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
            sleep 0.1
        done
        stop_server
    done
    cat "$scratch/err" >&2
    exit 1
}

measure() { # NAME PATH COMMAND…
    local name=$1 path=$2
    shift 2
    start_server "$@"
    local url=http://127.0.0.1:$port$path memory=
    taskset -c 0 wrk -t1 -c"$connections" -d3s -s post.lua "$url" >/dev/null
    taskset -c 0 wrk -t1 -c"$connections" -d"${seconds}s" --timeout 10s --latency -s post.lua "$url" >wrk.out &
    local client=$!
    for _ in $(seq 6); do
        sleep $((seconds / 6))
        memory+=" $(awk '/^VmRSS/ {printf "%.1f", $2 / 1024}' "/proc/$server/status")"
    done
    wait "$client"
    awk -v name="$name" -v memory="$memory" '
        /^Requests\/sec/ {rate = $2} / 50%/ {half = $2} / 99%/ {late = $2}
        /Socket errors|Non-2xx/ {errors = errors " " $0}
        END {printf "%-14s %9.0f requests/s  p50 %9s  p99 %9s  MB:%s %s\n", name, rate, half, late, memory, errors}' wrk.out
    stop_server
}

echo "== $connections connections for $seconds s, model at 20 ms; memory while it runs"
for _ in $(seq "$rounds"); do
    measure "Beast by hand" /answer "$build/bin/bench_beast_server" @PORT@ 18081
    measure "example 5" /answer "$build/bin/example_5_http_server" @PORT@ heddle.toml
    measure "heddle serve" /v1/call/answer "$build/bin/heddle" serve flow.heddle \
        --config heddle.toml --listen 127.0.0.1:@PORT@
done
