// `heddle fmt`
#include "command_line/command.hpp"
#include "report_error.hpp"
#include "source_diagnostics.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/layout.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

struct format_request {
    std::vector<std::string> files; ///< "-": standard input, to standard output
    bool check = false;             ///< write nothing, name what would change
    bool json = false;
    std::size_t width = 100;
};

/// Adds a file that --check finds to `changed`.
exit_code format_file(const std::string& path, const format_request& asked, console& output,
                      boost::json::array& changed) {
    auto text = setup::read_input_file(path);
    if (!text) return report_usage_error(text.error(), asked.json, output);
    const std::string name = path == "-" ? "<stdin>" : path;
    source_map sources;
    const std::uint32_t position = sources.add(name, *text);
    lang::layout_options options;
    options.width = asked.width;
    auto result = lang::lay_out(*text, position, options);
    if (result && !lang::same_but_for_blanks(*text, *result)) {
        result = error(errc::internal, name + ": the layout would change the program")
                     .with_hint("the file is left as it was; please report this");
    }
    if (!result) {
        return report_source_error(result.error(), sources, asked.json, output);
    }
    const bool changes = *result != *text;
    if (asked.check) {
        if (changes && asked.json) changed.emplace_back(utf8::replace_invalid(name));
        else if (changes) output.out_data(name + "\n");
        return changes ? exit_code::failed : exit_code::done;
    }
    if (path == "-") {
        output.out_data(*result);
        return exit_code::done;
    }
    if (!changes) return exit_code::done;
    if (auto written = setup::replace_file(path, *result); !written) {
        return report_usage_error(written.error(), asked.json, output);
    }
    return exit_code::done;
}

} // namespace

static exit_code format_files(const format_request& asked, console& output) {
    exit_code worst = exit_code::done;
    boost::json::array changed;
    for (const std::string& path : asked.files) {
        worst = std::max(worst, format_file(path, asked, output, changed));
    }
    if (asked.json) output.out_data(setup::json_line(boost::json::object{{"changed", changed}}));
    return worst;
}

namespace {

class format_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.files,
                    "Files to format in place; - for standard input to standard output")
            .required();
        to.flag(
            "--check", asked_.check,
            "Write nothing; list the files that would change, and exit with 1 if there are any");
        to.option("--width", asked_.width, "Maximum length of a line in characters")
            .show_default()
            .value("N")
            .range(20, 1000);
        to.flag("--json", asked_.json,
                "With --check, print the files that would change as a JSON object");
    }
    std::optional<std::string> mistake() override {
        if (asked_.json && !asked_.check) return "--json requires --check";
        return std::nullopt;
    }
    exit_code run(command_context context) override { return format_files(asked_, context.output); }

private:
    format_request asked_;
};

constexpr command_row rows[] = {{
    .name = "fmt",
    .summary = "Format source files in the canonical layout",
    .details =
        R"(Only white space changes: comments, blank lines and spelling stay, so the program keeps its meaning.
A file that is not a program is left unchanged.

Examples:
  heddle fmt review.heddle
  heddle fmt --check examples/*/*.heddle
  heddle fmt - < review.heddle

Exit codes: 0 success, 1 --check found files that would change, 2 usage or syntax error.)",
    .group = command_group::write,
    .make = &make_command<format_work>,
}};

} // namespace

std::span<const command_row> format_commands() noexcept { return rows; }

} // namespace heddle::cli
