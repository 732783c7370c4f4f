#!/usr/bin/env bash
# pkg_config.sh PREFIX LIBDIR COMPILER VERSION WORK NAME
#
# Compiles the consumer with what pkg-config prints for NAME (heddle or heddle-static) and runs it.
set -euo pipefail
prefix=$1 libdir=$2 compiler=$3 version=$4 work=$5 name=$6
here=$(dirname "${BASH_SOURCE[0]}")
if ! command -v pkg-config >/dev/null; then
    echo "pkg-config is not installed"
    exit 77
fi
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
found=$(pkg-config --modversion "$name")
[ "$found" = "$version" ] || { echo "pkg-config knows version $found"; exit 1; }
mkdir -p "$work"
read -ra cflags <<<"$(pkg-config --cflags "$name")"
read -ra libs <<<"$(pkg-config --libs "$name")"
launcher=()
[ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] || launcher=("$CMAKE_CXX_COMPILER_LAUNCHER")
"${launcher[@]}" "$compiler" -std=c++20 "-DCONSUMER_EXPECTS=\"$version\"" "${cflags[@]}" \
    -c "$here/consumer/main.cpp" -o "$work/main.o"
"$compiler" "$work/main.o" "${libs[@]}" -pthread -o "$work/consumer"
LD_LIBRARY_PATH=$prefix/$libdir "$work/consumer"
# Not through a pipe: grep -q ends at its first match, and ldd then fails where it still writes.
libraries=$(ldd "$work/consumer")
if [[ $libraries == *libheddle* ]]; then linked=heddle; else linked=heddle-static; fi
[ "$linked" = "$name" ] || { echo "pkg-config $name has linked $linked"; exit 1; }
