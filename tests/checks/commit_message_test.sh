#!/usr/bin/env bash
# Runs the commit-msg hook on messages that it must accept and refuse. Argument: the hook.
set -euo pipefail
hook=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

check() { # check accept|refuse LINES MESSAGE
    local expected=$1 lines=$2 got=accept
    printf '%b' "$3" >"$folder/message"
    "$hook" "$folder/message" "$lines" 2>"$folder/errors" || got=refuse
    if [ "$got" != "$expected" ]; then
        printf 'expected to %s (%s lines): %b\n' "$expected" "$lines" "$3" >&2
        cat "$folder/errors" >&2
        failed=1
    fi
}

s72=$(printf 'x%.0s' {1..72})
check accept 5 'Mend the reader\n'
check accept 30 'Mend the reader\n'
check refuse 31 'Mend the reader\n'
check accept 31 'Mend the reader\n\nIt read past the end.\n'
check refuse 31 'Mend the reader\n\nSigned-off-by: A <a@example.com>\n'
check refuse 31 'Mend the reader\n\n# a comment of the editor\n'
check refuse 31 'Mend the reader\n# ------------------------ >8 ------------------------\ndiff --git a b\n+x\n'
check accept 5 "$s72\n"
check refuse 5 "${s72}x\n"
check refuse 5 '\n'
check refuse 5 'Mend the reader.\n'
check refuse 5 'Mend the reader; speed up the printer\n'
check refuse 5 'Mend the reader\nand more\n'
check refuse 5 "Merge branch 'main' into work\n"
check accept 500 "Merge branch 'work'\n"
check accept 500 'fixup! Mend the reader\n'

# As git runs it: the lines are those of the staged change.
export HOME=$folder GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git init -q "$folder/repository"
cd "$folder/repository"
mkdir hooks
cp "$hook" hooks/commit-msg
git config core.hooksPath hooks
seq 31 >numbers
git add numbers
if git commit -q -m 'Add numbers' 2>/dev/null; then
    echo 'git accepted a commit of 31 lines without a body' >&2
    failed=1
fi
git commit -q -m 'Add numbers' -m 'The tests count them.'

exit $failed
