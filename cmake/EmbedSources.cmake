# cmake -DOUTPUT=<cpp> -DINPUTS=<a.heddle;b.heddle> -DHEADER=<header> -DTYPE=<type> -DFUNCTION=<name>
#       [-DNAMESPACE=<name>] -P EmbedSources.cmake
#
# Writes the C++ file that holds the texts of the inputs as a table: FUNCTION() returns a span of TYPE,
# a struct of the name (that of the file, without its extension) and the text; HEADER declares both.
# As arrays of bytes: compilers limit the length of one string literal to 64 KiB.

if(NOT NAMESPACE)
    set(NAMESPACE heddle::lang)
endif()
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
    string(APPEND rows "    ${TYPE}{\"${name}\", std::string_view(text_${index}, ${size})},\n")
    math(EXPR index "${index} + 1")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Made by cmake/EmbedSources.cmake.
#include "@HEADER@"

namespace @NAMESPACE@ {
namespace {
@tables@
constexpr @TYPE@ sources[] = {
@rows@};
} // namespace

std::span<const @TYPE@> @FUNCTION@() { return sources; }

} // namespace @NAMESPACE@
]])
