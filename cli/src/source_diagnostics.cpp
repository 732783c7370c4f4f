#include "source_diagnostics.hpp"

#include "render.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

namespace heddle::cli {

namespace {

std::string_view name_of(lang::severity level) noexcept {
    return level == lang::severity::error ? "error" : "warning";
}

} // namespace

exit_code report_source_error(const error& failure, const source_map& sources, bool json,
                              console& output) {
    if (json) {
        output.err_data(render_error_json(failure, sources, exit_code::usage, {}));
        return exit_code::usage;
    }
    diagnostic_style style;
    style.colour = output.err_in_colour();
    output.err_styled(render_diagnostic(lang::error_kind_name(failure), failure, sources, style));
    return exit_code::usage;
}

std::string render_problem(const lang::problem& found, const source_map& sources,
                           const console& output) {
    diagnostic_style style;
    style.colour = output.traits().out_is_terminal && output.traits().colour;
    error shown(errc::invalid_argument, found.message);
    shown = std::move(shown).with_span(found.span).with_hint(found.hint);
    return render_diagnostic(name_of(found.level), shown, sources, style);
}

std::string problem_as_json(const lang::problem& found, const source_map& sources) {
    boost::json::object line;
    const source_location begin = sources.locate(found.span);
    line["file"] = begin.file;
    line["line"] = begin.line;
    line["column"] = begin.column;
    if (found.span.known()) {
        const source_location end = sources.locate({found.span.end, found.span.end});
        line["end"] = {{"line", end.line}, {"column", end.column}};
    }
    line["severity"] = boost::json::string(name_of(found.level));
    line["code"] = boost::json::string(found.code);
    line["message"] = found.message;
    if (!found.hint.empty()) line["hint"] = found.hint;
    return setup::json_line(line);
}

} // namespace heddle::cli
