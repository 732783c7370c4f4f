#include "render.hpp"

#include "cost_report.hpp"
#include "table.hpp"

#include <heddle/base/cancel_reason_name.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <heddle/tasks/output/task_result.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::cli {

namespace {

using lang::kind;
using lang::value;

bool is_table(const value& content) {
    if (!content.is(kind::list) || content.length() == 0) return false;
    const auto rows = lang::list_items(content);
    return std::all_of(rows.begin(), rows.end(),
                       [](const value& row) { return row.is(kind::map) && row.length() != 0; });
}

bool is_task_result(const value& content) {
    if (!content.is(kind::map)) return false;
    const value* status = lang::map_find(content, "status");
    const value* text = lang::map_find(content, "content");
    return status && status->is(kind::string) && text && text->is(kind::string) &&
           lang::map_find(content, "notes");
}

std::string with_line_end(std::string_view text) {
    std::string out(text);
    if (!out.empty() && out.back() != '\n') out += '\n';
    return out;
}

/// Small data may hold one part at many places and so has a text without end.
constexpr std::size_t max_parts_bytes = std::size_t{64} << 20;

error result_too_long() {
    return error(lang::errc::limit, "the result is longer than " +
                                        std::to_string(max_parts_bytes >> 20) + " MiB as text")
        .with_hint("return a part of it, write it to files, or take it as JSON with --json");
}

/// Writes a result of many parts. All that is written takes from one bound.
class parts_text {
public:
    explicit parts_text(unsigned columns) : columns_(columns) {}

    void add_member(std::string_view name, const value& content);
    void add_table(const value& rows);
    void add_written_form(const value& content);
    /// The text. Errors: LimitError when it would be too long.
    [[nodiscard]] result<std::string> text() &&;

private:
    static constexpr std::size_t max_cells = std::size_t{4} << 20; ///< of a table

    /// A value within a line: text without quotes, lists and maps as JSON. Empty when it is too
    /// long.
    [[nodiscard]] std::string cell(const value& content);
    [[nodiscard]] std::string written_form(const value& content, bool display);
    /// The same text, when it still fits.
    [[nodiscard]] std::string taken(std::string text);
    void add(std::string_view text);

    const unsigned columns_;
    std::string text_;
    std::size_t left_ = max_parts_bytes;
    bool too_long_ = false;
};

std::string parts_text::taken(std::string text) {
    too_long_ = too_long_ || text.size() > left_;
    if (too_long_) return {};
    left_ -= text.size();
    return text;
}

void parts_text::add(std::string_view text) {
    if (!too_long_) text_ += text;
}

std::string parts_text::written_form(const value& content, bool display) {
    if (too_long_) return {};
    lang::print_options options;
    options.display = display;
    options.max_bytes = left_ + 1;
    return taken(lang::print_value(content, options));
}

std::string parts_text::cell(const value& content) {
    if (content.is_nil() || too_long_) return {};
    if (content.is(kind::string)) {
        if (content.length() > left_) too_long_ = true;
        return too_long_ ? std::string() : taken(utf8::printable_line(lang::string_bytes(content)));
    }
    if (content.is(kind::list) || content.is(kind::map)) {
        lang::json_write_options bound;
        bound.max_bytes = left_;
        const auto json = lang::value_to_json(content, bound);
        if (json) return utf8::printable_line(taken(*json));
    }
    return utf8::printable_line(written_form(content, true));
}

void parts_text::add_table(const value& rows) {
    table result;
    std::size_t count = 0;
    for (const value& row : lang::list_items(rows)) {
        std::vector<std::string> cells(result.columns().size());
        for (const lang::map_entry& entry : lang::map_entries(row)) {
            const std::size_t column =
                result.column(utf8::printable_line(lang::string_bytes(entry.key)));
            if (column >= cells.size()) cells.resize(column + 1);
            cells[column] = cell(entry.item);
        }
        result.add(std::move(cells));
        too_long_ = too_long_ || ++count * result.columns().size() > max_cells;
        if (too_long_) return;
    }
    const auto text = result.text(columns_, max_parts_bytes);
    too_long_ = !text;
    if (text) add(*text);
}

void parts_text::add_written_form(const value& content) {
    add(written_form(content, false));
    add("\n");
}

/// A member of a map: a table or a list below its name, everything else beside it.
void parts_text::add_member(std::string_view name, const value& content) {
    const std::string label = taken(utf8::printable_line(name));
    const bool container = content.is(kind::list) || content.is(kind::map);
    if (container && content.length() == 0) return add(label + ": none\n");
    if (is_table(content)) {
        add("\n" + label + ":\n\n");
        add_table(content);
        return add("\n");
    }
    if (content.is(kind::list)) {
        add(label + ":\n");
        for (const value& item : lang::list_items(content)) {
            add("  - " + cell(item) + "\n");
            if (too_long_) return;
        }
        return;
    }
    if (content.is(kind::string)) {
        const std::string_view text = lang::string_bytes(content);
        if (text.find('\n') != std::string_view::npos) {
            return add(label + ":\n" + with_line_end(taken(std::string(text))));
        }
    }
    add(label + ": " + cell(content) + "\n");
}

result<std::string> parts_text::text() && {
    if (!too_long_) return std::move(text_);
    return result_too_long();
}

/// A value as JSON. Parts without a JSON form become strings, their printed forms. A value that is
/// too deep, or longer than `max_bytes`, becomes one string, cut at that length.
boost::json::value json_of(const value& content, std::size_t max_bytes) {
    constexpr std::size_t max_depth = 256;
    lang::json_write_options bound;
    bound.max_bytes = max_bytes;
    bound.max_depth = max_depth;
    bound.writes_all = true;
    if (const auto text = lang::value_to_json(content, bound)) {
        boost::system::error_code failed;
        boost::json::value read = parse_json(*text, failed, max_depth + 1);
        if (!failed) return read;
    }
    lang::print_options options;
    options.max_bytes = max_bytes;
    return boost::json::value(utf8::replace_invalid(lang::print_value(content, options)));
}

/// The arguments of (error "…" argument…).
std::optional<boost::json::value> data_of(const error& failure) {
    constexpr std::size_t max_bytes = 64 * 1024;
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    if (!script || !script->data.is(kind::list) || script->data.length() == 0) return std::nullopt;
    return json_of(script->data, max_bytes);
}

boost::json::object place_of(const source_location& place) {
    return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

boost::json::object json_of(const call_counts& counts) {
    boost::json::object calls{{"done", counts.done},
                              {"from_cache", counts.kept},
                              {"failed", counts.failed},
                              {"cancelled", counts.cancelled},
                              {"input_tokens", counts.input_tokens},
                              {"output_tokens", counts.output_tokens},
                              {"cost_usd", cost_json(counts.cost_usd, counts.unpriced)},
                              {"unpriced", counts.unpriced},
                              {"estimated", counts.estimated}};
    if (counts.replayed) calls["replayed"] = true;
    return calls;
}

} // namespace

const value* failed_result_in(const error& failure) noexcept {
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    return script && tasks::is_failed_result(script->result) ? &script->result : nullptr;
}

std::string said_in_failure(const value& failed) {
    const value* content = lang::map_find(failed, "content");
    if (!content || !content->is(kind::string)) return {};
    const value* notes = lang::map_find(failed, "notes");
    const value* what = notes && notes->is(kind::map) ? lang::map_find(*notes, "error") : nullptr;
    const value* message = what && what->is(kind::map) ? lang::map_find(*what, "message") : nullptr;
    const std::string_view said = lang::string_bytes(*content);
    const bool is_message =
        message && message->is(kind::string) && lang::string_bytes(*message) == said;
    return is_message ? std::string() : with_line_end(said);
}

result<std::string> render_result(const value& content, unsigned columns) {
    if (content.is_nil()) return std::string();
    if (content.is(kind::string)) return with_line_end(lang::string_bytes(content));
    if (is_task_result(content)) {
        return with_line_end(lang::string_bytes(*lang::map_find(content, "content")));
    }
    parts_text parts(columns);
    if (is_table(content)) {
        parts.add_table(content);
    } else if (content.is(kind::map) && content.length() != 0) {
        for (const lang::map_entry& entry : lang::map_entries(content))
            parts.add_member(lang::string_bytes(entry.key), entry.item);
    } else {
        parts.add_written_form(content);
    }
    return std::move(parts).text();
}

result<std::string> render_written_form(const value& content) {
    lang::print_options bound;
    if (!content.is(kind::string)) bound.max_bytes = max_parts_bytes + 1;
    std::string written = lang::print_value(content, bound);
    if (written.size() > max_parts_bytes && !content.is(kind::string)) return result_too_long();
    written += '\n';
    return written;
}

std::string render_error_json(const error& failure, const source_map& sources, exit_code code,
                              const call_counts& counts, std::string_view recording,
                              const value* unwritten) {
    const error_info& info = failure.info();
    boost::json::object described;
    described["kind"] = boost::json::string(lang::error_kind_name(failure));
    described["message"] = info.message;
    if (const auto* script = dynamic_cast<const lang::script_payload*>(info.payload.get());
        script && !script->reason.empty()) {
        described["reason"] = script->reason;
    }
    if (auto data = data_of(failure)) described["data"] = *std::move(data);
    if (failure.is_cancelled()) {
        described["cancelled_because"] = boost::json::string(name_of(failure.cancelled_because()));
    }
    if (!info.hint.empty()) described["hint"] = info.hint;
    if (const source_location place = sources.locate(info.span); place.line != 0) {
        described["place"] = place_of(place);
    }
    boost::json::array trace;
    for (const trace_entry& entry : info.trace) {
        boost::json::object line{{"what", entry.what}};
        const source_location place = sources.locate(entry.where);
        if (place.line != 0) line["place"] = place_of(place);
        trace.push_back(std::move(line));
    }
    described["trace"] = std::move(trace);
    boost::json::array causes;
    constexpr std::size_t max_causes = 64;
    for (const error* cause = info.cause.get(); cause && causes.size() < max_causes;
         cause = cause->info().cause.get()) {
        causes.push_back(boost::json::string(cause->message()));
    }
    if (!causes.empty()) described["causes"] = std::move(causes);
    const value* const shown = unwritten ? unwritten : failed_result_in(failure);
    if (shown) described["result"] = json_of(*shown, max_parts_bytes);
    boost::json::object members{{"error", std::move(described)},
                                {"exit_code", static_cast<int>(code)},
                                {"calls", json_of(counts)}};
    if (!recording.empty()) members["recording"] = recording;
    return setup::json_line(members);
}

std::string render_counts_json(const call_counts& counts, exit_code code) {
    return setup::json_line(
        boost::json::object{{"exit_code", static_cast<int>(code)}, {"calls", json_of(counts)}});
}

std::string render_progress_json(const call_counts& counts, const lang::map_progress* maps,
                                 double seconds, double rate, std::string_view event) {
    boost::json::object members{{"event", event}, {"seconds", std::round(seconds * 10) / 10}};
    if (maps) {
        members["total"] = nullptr;
        if (maps->total != 0) members["total"] = maps->total;
        members["ended"] = maps->ended;
        members["failed"] = maps->failed;
        members["per_second"] = std::round(rate * 100) / 100;
        members["seconds_left"] = nullptr;
        if (rate > 0 && maps->ended < maps->total) {
            const auto left = static_cast<double>(maps->total - maps->ended);
            members["seconds_left"] = std::round(left / rate);
        }
    }
    boost::json::object calls = json_of(counts);
    calls["running"] = counts.running;
    calls["waiting_for_budget"] = counts.waiting;
    calls["waiting_for_limit"] = counts.limited;
    members["calls"] = std::move(calls);
    return setup::json_line(members);
}

} // namespace heddle::cli
