#!/usr/bin/env bash
# http_server.sh EXAMPLE: the server of the example answers, streams, notices clients that go away,
# and lets requests in progress end.
set -euo pipefail

example=${1:?}
scratch=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        kill -KILL "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
fail() { printf 'http_server.sh: %s\n' "$*" >&2; exit 1; }

"$example" 0 >"$scratch/out" 2>"$scratch/err" &
server=$!
for _ in $(seq 200); do
    [ ! -s "$scratch/out" ] || break
    sleep 0.05
done
port=$(sed -n 's,^http://127\.0\.0\.1:,,p' "$scratch/out")
[ -n "$port" ] || fail "it did not open its port within 10 seconds: $(cat "$scratch/err")"

# request BODY [FIELD…]: sends POST /answer on the descriptor 3, which it opens
request() {
    local body=$1 fields=
    shift
    for field in "$@"; do fields+="$field"$'\r\n'; done
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST /answer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s' \
        "$fields" "${#body}" "$body" >&3
}
response() { timeout 20 cat <&3; exec 3<&- 3>&-; }
metric() {
    exec 4<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&4
    timeout 20 cat <&4 | sed -n "s/^$1 //p"
    exec 4<&- 4>&-
}
wait_for_metric() { # NAME VALUE
    for _ in $(seq 200); do
        [ "$(metric "$1")" != "$2" ] || return 0
        sleep 0.05
    done
    fail "$1 did not become $2 within 10 seconds"
}
expect() { # TEXT PART
    [[ $1 == *"$2"* ]] || fail "expected '$2' in: $1"
}

request '{"question": "What does a heddle do?"}'
seen=$(response)
expect "$seen" 'HTTP/1.1 200'
expect "$seen" '"value":"A heddle lifts the warp."'

request '{"question": "What?"}' 'Accept: text/event-stream'
seen=$(response)
expect "$seen" $'event: piece\ndata: "'
expect "$seen" $'event: result\ndata: {"value":"A heddle lifts the warp."'

request '{"question": "Please wait."}' 'X-Timeout: 0.05'
expect "$(response)" 'HTTP/1.1 504'
request '{"question"'
expect "$(response)" 'HTTP/1.1 400'
request '{"query": "What?"}'
expect "$(response)" 'HTTP/1.1 422'

# A last chunk in two packets.
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'POST /answer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n' >&3
sleep 0.2
printf '\r' >&3
sleep 0.2
printf '\n' >&3
expect "$(response)" 'HTTP/1.1 400'

# Clients that go away end their workflows.
for accept in '*/*' text/event-stream; do
    request '{"question": "Please wait."}' "Accept: $accept"
    wait_for_metric calls_running 1
    exec 3<&- 3>&-
    wait_for_metric calls_running 0
done

# Also behind a request that they have sent ahead.
request '{"question": "Please wait."}'
printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3
wait_for_metric calls_running 1
exec 3<&- 3>&-
wait_for_metric calls_running 0

# A request in progress ends by itself, and then the server.
request '{"question": "Please wait."}' 'X-Timeout: 1'
wait_for_metric calls_running 1
kill -TERM "$server"
expect "$(response)" 'HTTP/1.1 504'
code=0
wait "$server" || code=$?
server=
[ "$code" -eq 0 ] || fail "it ended with $code: $(cat "$scratch/err")"
