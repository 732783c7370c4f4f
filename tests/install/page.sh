#!/usr/bin/env bash
# page.sh PREFIX LIBDIR COMPILER CMAKE PAGE WORK
#
# Does what docs/embedding/installing.md shows: writes its files, and runs its commands with the
# prefix of the tests.
set -euo pipefail
prefix=$1 libdir=$2 compiler=$3 cmake=$4 page=$5 work=$6
command -v pkg-config >/dev/null || { echo "pkg-config is not installed"; exit 77; }
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work"
awk '/^```[a-z]+ file=/ { sub(/.*file=/, ""); file = $0; next } /^```/ { file = "" } file { print > file }' "$page"
# The commands as they are, with the tools of the build under their usual names.
ln -s "$compiler" bin/c++
ln -s "$cmake" bin/cmake
export PATH=$work/bin:$PATH CXX=$compiler PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
export LD_LIBRARY_PATH=$prefix/$libdir CMAKE_PREFIX_PATH=$prefix
grep -E '^cmake -B build ' "$page" | sed 's, -DCMAKE_PREFIX_PATH=[^ ]*,,' >commands
grep -E '^build/sum$' "$page" >>commands
grep -E '^c\+\+ ' "$page" >>commands
echo ./sum >>commands
echo ./sum-static >>commands
[ "$(wc -l <commands)" = 6 ] || { echo "the page has other commands:"; cat commands; exit 1; }
bash -e commands >output 2>&1 || { cat output; exit 1; }
[ "$(grep -cx 3 output)" = 3 ] || { cat output; exit 1; }
