#include <heddle/tasks/template_files/template_report.hpp>

#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

[[nodiscard]] std::string_view name_of(lang::severity level) noexcept {
    return level == lang::severity::error ? "error" : "warning";
}

[[nodiscard]] json::object as_json(const lang::problem& found, const source_map& sources) {
    json::object members;
    const source_location begin = sources.locate(found.span);
    members["file"] = begin.file;
    members["line"] = begin.line;
    members["column"] = begin.column;
    if (found.span.known()) {
        const source_location end = sources.locate({found.span.end, found.span.end});
        members["end"] = {{"line", end.line}, {"column", end.column}};
    }
    members["severity"] = json::string(name_of(found.level));
    members["code"] = json::string(found.code);
    members["message"] = found.message;
    if (!found.hint.empty()) members["hint"] = found.hint;
    return members;
}

} // namespace

std::size_t template_report::errors() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        problems.begin(), problems.end(),
        [](const lang::problem& each) { return each.level == lang::severity::error; }));
}

std::size_t template_report::warnings() const noexcept { return problems.size() - errors(); }

std::string template_report::text(const diagnostic_style& style) const {
    std::string out;
    for (const lang::problem& each : problems) {
        error shown(errc::invalid_argument, each.message);
        shown = std::move(shown).with_span(each.span).with_hint(each.hint);
        out += render_diagnostic(name_of(each.level), shown, sources, style);
    }
    if (!problems.empty()) {
        out += counted(errors(), "error") + ", " + counted(warnings(), "warning") + "\n";
    }
    return out;
}

std::string template_report::json() const {
    json::array all;
    for (const lang::problem& each : problems) all.push_back(as_json(each, sources));
    // Names of files may be any bytes.
    return utf8::replace_invalid(json::serialize(json::object{
        {"errors", errors()}, {"warnings", warnings()}, {"problems", std::move(all)}}));
}

} // namespace heddle::tasks
