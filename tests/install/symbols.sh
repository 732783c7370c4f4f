#!/usr/bin/env bash
# symbols.sh LIBRARY SONAME NM
#
# libheddle.so shows no function or object of an internal namespace, and nothing of the libraries
# that it uses.
set -euo pipefail
library=$1 soname=$2 nm=$3
failed=0

shown=$("$nm" --dynamic --defined-only --demangle "$library" | cut -d' ' -f3-)
internal=$(grep -E '(^|vtable for |typeinfo for |typeinfo name for |guard variable for )heddle::(lang|coro|ports|memory|host|tasks|setup|io|http|providers|scripted|embed)::' <<<"$shown" || true)
if [ -n "$internal" ]; then
    echo "symbols that no public header declares:"
    head -20 <<<"$internal"
    failed=1
fi
others=$(grep -vE '^(heddle::|typeinfo (name )?for heddle::|vtable for heddle::)' <<<"$shown" || true)
if [ -n "$others" ]; then
    echo "symbols of other libraries, which would meet those of the program:"
    head -20 <<<"$others"
    failed=1
fi
for wanted in 'heddle::version()' 'heddle::runtime::runtime(' 'typeinfo for heddle::error_exception'; do
    grep -qF "$wanted" <<<"$shown" || { echo "not shown: $wanted"; failed=1; }
done
real=$(readelf -d "$library" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
[ "$real" = "$soname" ] || { echo "the soname is $real, not $soname"; failed=1; }
echo "$(wc -l <<<"$shown") symbols shown, $(grep -c '^heddle::' <<<"$shown") functions of heddle"
exit $failed
