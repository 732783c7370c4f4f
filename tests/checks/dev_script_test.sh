#!/usr/bin/env bash
# The sources that `./dev lint` gives to clang-tidy, in a repository of its own.
# Usage: dev_script_test.sh PATH-OF-DEV
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/dev"
cd "$work"
# Neither settings nor hooks of whoever runs this.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q .
commit() {
    git add -A
    git -c user.name=test -c user.email=test@localhost commit -qm "$1"
}
failed=0
expect() { # expect WHAT SOURCES
    local found
    # A shell of its own, for the options of the script: a failure inside ends it, as in `./dev lint`.
    found=$(bash -c '. ./dev; found=$(sources HEAD~1); echo "found: $found"' 2>&1) || true
    if [ "$found" != "found: $2" ]; then
        printf '%s: expected "found: %s", not "%s"\n' "$1" "$2" "$found"
        failed=1
    fi
}

echo 'int one;' >one.cpp
echo 'text' >README.md
commit 'Begin'
echo 'more text' >>README.md
commit 'Change no source'
expect 'a commit without a source' ''

echo 'int two;' >two.cpp
mkdir -p tests/checks/samples
echo 'int bad;' >tests/checks/samples/bad.cpp
commit 'Add a source and a sample'
expect 'a commit with a source' 'two.cpp'

git rm -q one.cpp
commit 'Remove a source'
expect 'a commit that removes one' ''
exit $failed
