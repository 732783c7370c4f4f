#!/usr/bin/env bash
# run.sh HEDDLE_PROGRAM: mends the broken program of project/ in a scratch copy, which it shows at the
# end as a difference and then removes.
#
# Without a key a scripted model answers. With OPENAI_API_KEY set (and, if you like, OPENAI_BASE_URL
# and HEDDLE_MODEL) the real service is asked.
set -euo pipefail

heddle=${1:?usage: run.sh HEDDLE_PROGRAM}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$here"/project/* "$scratch"

arguments=(run "$here/coding-loop.heddle" --workspace "$scratch" --allow-shell)
if [ -z "${OPENAI_API_KEY:-}" ]; then
    arguments+=(--model "scripted:$here/rules.json")
fi
"$heddle" "${arguments[@]}"

printf '\nWhat was changed:\n'
diff -u --label before --label after "$here/project/text.cpp" "$scratch/text.cpp" || true
