#!/usr/bin/env bash
# run.sh HEDDLE_PROGRAM [QUESTION [DIRECTORY]]: answers three questions about this project, or one of
# yours about the files of a directory.
#
# Without a key a scripted model answers, which knows the three questions only. With OPENAI_API_KEY set
# (and, if you like, OPENAI_BASE_URL and HEDDLE_MODEL) the real service is asked.
set -euo pipefail

heddle=${1:?usage: run.sh HEDDLE_PROGRAM [QUESTION [DIRECTORY]]}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)

arguments=(run "$here/ask-repo.heddle" --json)
if [ -n "${3:-}" ]; then
    arguments+=(--workspace "$3")
else
    arguments+=(--workspace "$project")
    for folder in async_core io providers cli; do arguments+=(--index "$project/$folder"); done
fi
if [ -n "${2:-}" ]; then arguments+=(--input "question=$2"); fi
if [ -z "${OPENAI_API_KEY:-}" ]; then arguments+=(--model "scripted:$here/rules.json"); fi
"$heddle" "${arguments[@]}"
