#!/usr/bin/env bash
# deb.sh CPACK BUILD WORK COMPILER VERSION
#
# Makes the packages, installs them by dpkg into a root that has nothing but the essential packages
# of Debian and what the packages depend on, and runs there the program and a consumer that was
# compiled against that root. Skipped (77) where changing the root is not allowed.
set -euo pipefail
cpack=$1 build=$2 work=$3 compiler=$4 version=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$work/root
soversion=${version%.*}
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

for tool in dpkg-query dpkg-deb dpkg-shlibdeps file; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
as_root=()
if [ "$(id -u)" != 0 ] || ! chroot / true 2>/dev/null; then
    as_root=(unshare --map-root-user)
    "${as_root[@]}" chroot / true 2>/dev/null || { echo "changing the root is not allowed"; exit 77; }
fi

rm -rf "$work"
mkdir -p "$work" "$root"

echo "== packages"
"$cpack" --config "$build/CPackConfig.cmake" -G DEB -B "$work/packages" \
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$work/cpack.log" 2>&1 ||
    { cat "$work/cpack.log"; exit 1; }
packages=("$work"/packages/*.deb)
[ ${#packages[@]} = 3 ] || { echo "not three packages: ${packages[*]}"; exit 1; }
for package in "${packages[@]}"; do
    echo "$(basename "$package"): $(dpkg-deb -f "$package" Depends)"
done

echo "== a root of Debian"
# Names of packages of Depends and Pre-Depends, the first alternative that is installed here.
depends() { # depends FIELDS
    tr ',' '\n' <<<"$1" | while IFS='|' read -ra alternatives; do
        for name in "${alternatives[@]}"; do
            name=$(sed -E 's/[ (:].*//' <<<"${name# }")
            name=$(provider "${name:-none}")
            if [ -n "$name" ]; then echo "$name"; break; fi
        done
    done
}
provider() { # the installed package of that name, or one that provides it
    if [ -n "${status[$1]:-}" ]; then echo "$1"; else echo "${provides[$1]:-}"; fi
}
declare -A status=() provides=() fields=() wanted=()
essential=()
while IFS=$'\t' read -r name state is_essential offered needed; do
    [ "$state" = installed ] || continue
    status[$name]=$state
    fields[$name]=$needed
    [ "$is_essential" != yes ] || essential+=("$name")
    IFS=',' read -ra offers <<<"$offered"
    for offer in "${offers[@]}"; do
        offer=$(cut -d' ' -f1 <<<"${offer# }")
        provides[$offer]=$name
    done
done < <(dpkg-query -W -f '${Package}\t${db:Status-Status}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n' |
    awk -F'\t' 'BEGIN { OFS = "\t" } { for (i = 1; i <= NF; ++i) if ($i == "") $i = "-"; print }')
queue=("${essential[@]}")
for package in "${packages[@]}"; do
    while read -r name; do queue+=("$name"); done < <(depends "$(dpkg-deb -f "$package" Depends)")
done
while [ ${#queue[@]} -gt 0 ]; do
    next=()
    for name in "${queue[@]}"; do
        [ -z "${wanted[$name]:-}" ] || continue
        wanted[$name]=1
        while read -r other; do next+=("$other"); done < <(depends "${fields[$name]:-}")
    done
    queue=("${next[@]}")
done
echo "${#wanted[@]} packages"

mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,dev,tmp,root,var/lib/dpkg/{info,updates,triggers}}
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
# Without documentation and translations, as small images of Debian are.
for name in "${!wanted[@]}"; do
    dpkg-query -L "$name" 2>/dev/null
done | grep -vE '^/usr/share/(doc|man|locale|info|lintian|i18n)/' | sort -u | while read -r path; do
    if [ -L "$path" ] || [ -f "$path" ]; then echo ".$path"; fi
done >"$work/files"
tar -C / --create --no-recursion --files-from "$work/files" | tar -C "$root" --extract
for name in "${!wanted[@]}"; do
    dpkg-query -s "$name"
    echo
    for file in /var/lib/dpkg/info/"$name".* /var/lib/dpkg/info/"$name":*; do
        [ ! -f "$file" ] || cp "$file" "$root/var/lib/dpkg/info/"
    done
done >"$root/var/lib/dpkg/status"
cp /var/lib/dpkg/info/format "$root/var/lib/dpkg/info/" 2>/dev/null || true
cp /var/lib/dpkg/triggers/{File,Unincorp,ldconfig} "$root/var/lib/dpkg/triggers/" 2>/dev/null || true
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
: >"$root/dev/null"
rm -f "$root/etc/ld.so.cache"

echo "== dpkg --install"
"${as_root[@]}" dpkg --root="$root" --log=/dev/null --force-not-root --install "${packages[@]}" \
    >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; exit 1; }
in_root() { "${as_root[@]}" chroot "$root" "$@"; }
[ "$(in_root heddle eval '(+ 1 2)')" = 3 ]
in_root heddle --version | grep -F "$version"
in_root ldconfig -p | grep -F "libheddle.so.$soversion" || { echo "ldconfig has not run"; exit 1; }
[ -s "$root/usr/share/doc/libheddle-dev/copyright" ]

echo "== a consumer, compiled against that root"
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
flags=(--sysroot="$root" -std=c++20 "-DCONSUMER_EXPECTS=\"$version\"")
"$compiler" "${flags[@]}" "$here/consumer/main.cpp" -lheddle -pthread -o "$root/tmp/consumer"
in_root /tmp/consumer
# What find_package reads is where Debian wants it, and names no folder of the build.
[ -f "$root/usr/lib/$triplet/cmake/heddle/heddleConfig.cmake" ]
[ -f "$root/usr/lib/$triplet/pkgconfig/heddle.pc" ]

echo "== dpkg --remove"
"${as_root[@]}" dpkg --root="$root" --log=/dev/null --force-not-root --purge heddle libheddle-dev \
    "libheddle$soversion" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; exit 1; }
left=$(find "$root/usr" -name '*heddle*' -print)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
rm -rf "$root"
