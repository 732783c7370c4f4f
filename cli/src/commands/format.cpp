// `heddle fmt`
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"
#include "source_diagnostics.hpp"

#include <heddle/lang/layout.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

exit_code format_file(const std::string& path, const format_request& asked, console& output) {
    auto text = read_input_file(path);
    if (!text) return tell_usage_error(text.error(), false, output);
    const std::string name = path == "-" ? "<stdin>" : path;
    source_map sources;
    const std::uint32_t position = sources.add(name, *text);
    lang::layout_options options;
    options.width = asked.width;
    auto made = lang::lay_out(*text, position, options);
    if (made && !lang::same_but_for_blanks(*text, *made)) {
        made = error(errc::internal, name + ": the layout would change the program")
                   .with_hint("the file is left as it was; please report this");
    }
    if (!made) {
        return tell_source_error(made.error(), sources, false, output);
    }
    const bool changes = *made != *text;
    if (asked.check) {
        if (changes) output.out_data(name + "\n");
        return changes ? exit_code::failed : exit_code::done;
    }
    if (path == "-") {
        output.out_data(*made);
        return exit_code::done;
    }
    if (!changes) return exit_code::done;
    if (auto written = replace_file(path, *made); !written) {
        return tell_usage_error(written.error(), false, output);
    }
    return exit_code::done;
}

} // namespace

exit_code format_files(const format_request& asked, console& output) {
    exit_code worst = exit_code::done;
    for (const std::string& path : asked.files) {
        worst = std::max(worst, format_file(path, asked, output));
    }
    return worst;
}

} // namespace heddle::cli
