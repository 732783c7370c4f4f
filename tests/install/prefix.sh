#!/usr/bin/env bash
# prefix.sh CMAKE BUILD PREFIX LIBDIR LIST
#
# Installs the build, and looks at what has come: the headers of LIST and no others.
set -euo pipefail
cmake=$1 build=$2 prefix=$3 libdir=$4 list=$5
rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
diff <(grep '^heddle/' "$list" | LC_ALL=C sort) \
    <(cd "$prefix/include" && find heddle -type f | LC_ALL=C sort) ||
    { echo "the installed headers are not those of $list"; exit 1; }
failed=0
for file in bin/heddle share/man/man1/heddle.1 share/bash-completion/completions/heddle \
    share/zsh/site-functions/_heddle share/fish/vendor_completions.d/heddle.fish \
    share/doc/heddle/LICENSE share/doc/heddle/docs/README.md \
    "$libdir/libheddle.a" "$libdir/libheddle.so" "$libdir/cmake/heddle/heddleConfig.cmake" \
    "$libdir/pkgconfig/heddle.pc"; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; failed=1; }
done
# An installation may be moved: no file names the folders of the build or of the sources.
if grep -rIl -e "$build" "$prefix/$libdir/cmake" "$prefix/$libdir/pkgconfig"; then
    echo "these files name the folder of the build"
    failed=1
fi
exit $failed
