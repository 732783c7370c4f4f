// `heddle dump`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"
#include "json_line.hpp"
#include "source_diagnostics.hpp"
#include "still_world.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/dump.hpp>

namespace heddle::cli {

exit_code dump_program(const dump_request& asked, console& output) {
    auto text = read_input_file(asked.file);
    if (!text) return tell_usage_error(text.error(), asked.json, output);
    auto world = still_world::create();
    if (!world) return tell_usage_error(world.error(), asked.json, output);
    lang::realm& realm = (*world)->realm();
    const std::uint32_t position =
        realm.sources().add(asked.file == "-" ? "<stdin>" : asked.file, *text);
    const auto format = asked.json ? lang::dump_format::json : lang::dump_format::text;
    const auto made = asked.what == dump_kind::ast ? lang::dump_ast(realm, *text, position, format)
                                                   : lang::dump_code(realm, *text, position);
    if (!made) {
        return tell_source_error(made.error(), realm.sources(), asked.json, output);
    }
    output.out(format == lang::dump_format::json ? json_line(ascii::trim(*made)) : *made);
    return exit_code::done;
}

} // namespace heddle::cli
