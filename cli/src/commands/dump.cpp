// `heddle dump`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"
#include "source_diagnostics.hpp"
#include "still_world.hpp"

#include <heddle/lang/dump.hpp>

namespace heddle::cli {

exit_code dump_program(const dump_request& asked, console& output) {
    auto text = read_input_file(asked.file);
    if (!text) return tell_usage_error(text.error(), false, output);
    auto world = still_world::create();
    if (!world) return tell_usage_error(world.error(), false, output);
    lang::realm& realm = (*world)->realm();
    const std::uint32_t position =
        realm.sources().add(asked.file == "-" ? "<stdin>" : asked.file, *text);
    const auto format = asked.json ? lang::dump_format::json : lang::dump_format::text;
    const auto made = asked.what == dump_kind::ast ? lang::dump_ast(realm, *text, position, format)
                                                   : lang::dump_code(realm, *text, position);
    if (!made) {
        tell_source_error(made.error(), realm.sources(), output);
        return exit_code::usage;
    }
    output.out(*made);
    return exit_code::done;
}

} // namespace heddle::cli
