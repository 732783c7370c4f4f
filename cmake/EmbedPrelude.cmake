# cmake -DOUTPUT=<cpp> -DINPUTS=<a.heddle;b.heddle> -P EmbedPrelude.cmake
#
# Writes the C++ file that holds the texts of the prelude, for lang/prelude/prelude_sources.hpp.
# As arrays of bytes: compilers limit the length of one string literal to 64 KiB.

set(tables "")
set(rows "")
set(index 0)
foreach(input IN LISTS INPUTS)
    get_filename_component(name "${input}" NAME_WE)
    file(READ "${input}" hex HEX)
    string(LENGTH "${hex}" hex_length)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    math(EXPR size "${hex_length} / 2")
    string(APPEND tables "constexpr char text_${index}[] = {${bytes}'\\0'};\n")
    string(APPEND rows
        "    prelude_source{\"${name}\", std::string_view(text_${index}, ${size})},\n")
    math(EXPR index "${index} + 1")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Made by cmake/EmbedPrelude.cmake out of async_core/src/lang/prelude/*.heddle.
#include "lang/prelude/prelude_sources.hpp"

namespace heddle::lang {
namespace {
@tables@
constexpr prelude_source sources[] = {
@rows@};
} // namespace

std::span<const prelude_source> prelude_sources() { return sources; }

} // namespace heddle::lang
]])
