#!/usr/bin/env bash
# ./dev bench http: whole workflows and the bare client beside the C floor, in one run.
#
# Needs a folder that is not part of heddle, with the mock service and the floor
# (heddle-check: allow dangling-path): mock/mock.sh and clients/epoll_floor.c. It is given as HEDDLE_BENCH_DIR, or is
# ../shared/bench next to the checkout. Also needs nginx with the lua module (Debian: nginx-core
# libnginx-mod-http-lua). Client on core 1, mock on core 0. Loopback only.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:-$root/build/release}
bench=${HEDDLE_BENCH_DIR:-$root/../shared/bench}
rounds=${HEDDLE_BENCH_ROUNDS:-5}

if [ ! -x "$bench/mock/mock.sh" ] && [ ! -f "$bench/mock/mock.sh" ]; then
    echo "bench http: no mock service; set HEDDLE_BENCH_DIR to a folder with mock/ and clients/" >&2
    exit 2
fi
command -v nginx >/dev/null || { echo "bench http: nginx is missing (apt-get install nginx-core libnginx-mod-http-lua)" >&2; exit 2; }

scratch=$(mktemp -d)
cp -r "$bench/mock" "$bench/clients" "$scratch/"
chmod -R u+w "$scratch"
stop() { bash "$scratch/mock/mock.sh" stop >/dev/null 2>&1 || true; rm -rf "$scratch"; }
trap stop EXIT
gcc -O2 -w -o "$scratch/floor" "$scratch/clients/epoll_floor.c"
# A client socket in TIME_WAIT may hold one of the mock's ports for a while.
for attempt in 1 2 3 4 5 6; do
    bash "$scratch/mock/mock.sh" start >"$scratch/start.log" 2>&1 || true
    [ -f "$scratch/mock/run/nginx.pid" ] && kill -0 "$(cat "$scratch/mock/run/nginx.pid")" 2>/dev/null && break
    [ "$attempt" -lt 6 ] || { cat "$scratch/start.log" >&2; exit 1; }
    sleep 10
done
ulimit -n "$(ulimit -Hn)"
on_client_core() { if command -v taskset >/dev/null && [ "$(nproc)" -gt 1 ]; then taskset -c 1 "$@"; else "$@"; fi; }

field() { sed -E "s/.*\"$1\":([0-9.]+).*/\1/"; }
median() { sort -g | awk '{v[NR]=$1} END {print v[int((NR+1)/2)]}'; }

# name, calls, file with one JSON line a round; prints medians
report() {
    local name=$1 calls=$2 file=$3 wall cpu err
    wall=$(field wall <"$file" | median)
    cpu=$(field cpu <"$file" | median)
    err=$(field err <"$file" | sort -g | tail -1)
    awk -v n="$name" -v w="$wall" -v c="$cpu" -v k="$calls" -v e="$err" 'BEGIN {
        printf "%-20s %9.0f calls/s %8.2f us CPU/call %8.3f s wall  %d errors\n", n, k / w, c / k * 1e6, w, e }'
}

compare() { # title, port, in flight, calls
    local title=$1 url=http://127.0.0.1:$2 in_flight=$3 calls=$4
    echo "== $title: $in_flight in flight, $calls calls, $rounds rounds in turn, medians"
    for _ in $(seq "$rounds"); do
        on_client_core "$scratch/floor" "$url" "$in_flight" "$calls" json >>"$scratch/floor.out"
        on_client_core "$build/bin/bench_http_client" "$url" "$in_flight" "$calls" >>"$scratch/client.out"
        on_client_core "$build/bin/bench_workflow" "$url" "$in_flight" "$calls" >>"$scratch/workflow.out"
    done
    report "C floor" "$calls" "$scratch/floor.out"
    report "bare heddle client" "$calls" "$scratch/client.out"
    report "whole workflow" "$calls" "$scratch/workflow.out"
    rm -f "$scratch"/*.out
}

memory() { # port, in flight: peak of that many calls at once, less that of one call
    local url=http://127.0.0.1:$1 in_flight=$2 one many
    one=$(on_client_core "$build/bin/bench_workflow" "$url" 1 1 drop | field peak_kb)
    many=$(on_client_core "$build/bin/bench_workflow" "$url" "$in_flight" "$in_flight" drop | field peak_kb)
    awk -v o="$one" -v m="$many" -v n="$in_flight" 'BEGIN {
        printf "memory: %.1f kB a call in flight (%d at once, result included)\n", (m - o) / n, n }'
}

# TLS 1.3: the floor speaks plain HTTP only and runs beside it on the plain port. OpenSSL takes the
# mock's certificate from SSL_CERT_FILE.
compare_tls() { # in flight, calls
    local in_flight=$1 calls=$2 cert=$scratch/mock/run/cert.pem
    echo "== TLS 1.3, handshakes included: $in_flight in flight, $calls calls, $rounds rounds in turn, medians"
    for _ in $(seq "$rounds"); do
        on_client_core "$scratch/floor" http://127.0.0.1:18080 "$in_flight" "$calls" json >>"$scratch/floor.out"
        on_client_core "$build/bin/bench_http_client" https://localhost:18443 "$in_flight" "$calls" json "$cert" >>"$scratch/client.out"
        SSL_CERT_FILE=$cert on_client_core "$build/bin/bench_workflow" https://localhost:18443 "$in_flight" "$calls" >>"$scratch/workflow.out"
    done
    report "C floor, plain" "$calls" "$scratch/floor.out"
    report "bare heddle client" "$calls" "$scratch/client.out"
    report "whole workflow" "$calls" "$scratch/workflow.out"
    rm -f "$scratch"/*.out
}

stream_events() { # port, in flight, streams
    local url=http://127.0.0.1:$1 in_flight=$2 streams=$3
    echo "== SSE, 22 events a stream on port $1: $in_flight in flight, $streams streams, $rounds rounds, medians"
    for _ in $(seq "$rounds"); do
        on_client_core "$build/bin/bench_http_client" "$url" "$in_flight" "$streams" sse >>"$scratch/client.out"
    done
    report "bare heddle client" "$streams" "$scratch/client.out"
    awk -v c="$(field cpu <"$scratch/client.out" | median)" -v n="$streams" \
        'BEGIN { printf "%-20s %.3f CPU s per 1,000 streams\n", "", c / n * 1000 }'
    rm -f "$scratch"/*.out
}

# Which parts to run: all, or some of: plain tls sse memory cancel responses
parts=${HEDDLE_BENCH_PARTS:-plain tls sse memory cancel responses}
has() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

if has plain; then
    compare "no delay" 18080 64 100000
    compare "200 ms" 18081 10000 30000
fi
if has tls; then compare_tls 256 10000; fi
if has sse; then
    stream_events 18085 1000 3000
    stream_events 18082 1000 3000
fi
if has memory; then memory 18081 10000; fi
if has cancel; then
    echo "== cancelling map over 1,000 calls in flight (1 s responses), then 10,000"
    on_client_core "$build/bin/bench_workflow" http://127.0.0.1:18083 1000 1000 500
    on_client_core "$build/bin/bench_workflow" http://127.0.0.1:18083 10000 10000 900
    echo "== cancelling 10,000 bare calls, each with a source of its own below one"
    "$build/bin/bench_http_cancel" 10000 "$rounds"
fi
if has responses; then
    echo "== reading one response, without sockets"
    on_client_core "$build/bin/bench_http_responses"
fi
