#include "rows/text_results.hpp"

#include "rows/json_members.hpp"
#include "rows/output_file.hpp"

#include <heddle/base/json_string.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace heddle::rows {

namespace {

constexpr std::string_view jsonl_beginning = "{\"id\":";
/// A quote after a letter is a part of the cell, or ends one that is open: the cell ends anyway.
constexpr std::string_view end_of_broken_record = "interrupted\"\n";

template <class Number>
void append_member(std::string& out, std::string_view name, Number number) {
    out += name;
    out += std::to_string(number);
}

bool is_unpriced(const ports::step_spending& spent) {
    return spent.unpriced != 0 && spent.cost_usd == 0;
}

void append_jsonl(std::string& out, const row_result& one) {
    const ports::row_end& end = one.end;
    out += jsonl_beginning;
    append_json_string(out, one.id);
    append_member(out, ",\"row\":", end.row);
    out += ",\"status\":\"";
    out += word_of(end.status);
    out += '"';
    if (!end.value_json.empty()) {
        out += ",\"value\":";
        append_one_line(out, end.value_json);
    }
    if (!end.error_json.empty()) {
        out += ",\"error\":";
        append_one_line(out, end.error_json);
    }
    append_member(out, ",\"usage\":{\"requests\":", end.spent.requests);
    append_member(out, ",\"input_tokens\":", end.spent.input_tokens);
    append_member(out, ",\"output_tokens\":", end.spent.output_tokens);
    if (end.spent.estimated) out += ",\"estimated\":true";
    out += "},\"cost_usd\":";
    if (is_unpriced(end.spent)) {
        out += "null";
    } else {
        append_usd(out, end.spent.cost_usd);
    }
    if (end.spent.unpriced != 0) append_member(out, ",\"unpriced_requests\":", end.spent.unpriced);
    append_member(out, ",\"attempts\":", end.attempts);
    append_member(out, ",\"duration_ms\":", end.duration_ms);
    if (end.maybe_paid) out += ",\"maybe_paid\":true";
    if (one.outdated) out += ",\"outdated\":true";
    out += "}\n";
}

class jsonl_results final : public result_writer {
public:
    explicit jsonl_results(output_file file) : file_(std::move(file)) {}
    result<void> write(std::span<const row_result> batch) override {
        std::string lines;
        for (const row_result& one : batch) append_jsonl(lines, one);
        return file_.append(lines);
    }
    result<void> flush() override { return file_.flush(); }
    bool marks_outdated() const noexcept override { return true; }
    std::string stream() const override { return file_.stream(); }
    std::uint64_t size() const noexcept override { return file_.size(); }

private:
    output_file file_;
};

/// Quotes a cell where RFC 4180 wants it, and where blanks at its ends would get lost.
void append_cell(std::string& out, std::string_view text, char separator) {
    const bool quoted = text.find_first_of("\"\r\n") != std::string_view::npos ||
                        text.find(separator) != std::string_view::npos ||
                        (!text.empty() && (text.front() == ' ' || text.back() == ' '));
    if (!quoted) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

std::string error_cell(const std::string& json) {
    if (json.empty()) return {};
    const auto cells = cells_of(json, {"kind", "message"});
    if (!cells[1]) return cell_of(json);
    return cells[0] ? *cells[0] + ": " + *cells[1] : *cells[1];
}

class delimited_results final : public result_writer {
public:
    delimited_results(output_file file, std::vector<std::string> columns, char separator)
        : file_(std::move(file)), columns_(std::move(columns)), separator_(separator) {}

    result<void> write(std::span<const row_result> batch) override {
        std::string lines;
        for (const row_result& one : batch) append(lines, one);
        return file_.append(lines);
    }
    result<void> flush() override { return file_.flush(); }
    std::string stream() const override { return file_.stream(); }
    std::uint64_t size() const noexcept override { return file_.size(); }

private:
    void append(std::string& out, const row_result& one) const {
        const ports::row_end& end = one.end;
        const auto cell = [&](std::string_view text) {
            append_cell(out, text, separator_);
            out += separator_;
        };
        cell(one.id);
        cell(std::to_string(end.row));
        cell(word_of(end.status));
        std::string value;
        append_one_line(value, end.value_json);
        cell(cell_of(value));
        for (const auto& member : cells_of(value, columns_)) cell(member ? *member : "");
        cell(error_cell(end.error_json));
        cell(std::to_string(end.spent.requests));
        cell(std::to_string(end.spent.input_tokens));
        cell(std::to_string(end.spent.output_tokens));
        std::string cost;
        if (!is_unpriced(end.spent)) append_usd(cost, end.spent.cost_usd);
        cell(cost);
        cell(std::to_string(end.attempts));
        cell(std::to_string(end.duration_ms));
        out += end.maybe_paid ? "true\n" : "false\n";
    }

    output_file file_;
    std::vector<std::string> columns_;
    char separator_;
};

} // namespace

std::string_view word_of(ports::row_status status) noexcept {
    switch (status) {
    case ports::row_status::done: return "done";
    case ports::row_status::failed: return "failed";
    case ports::row_status::rejected: return "rejected";
    case ports::row_status::begun: break;
    }
    return "begun";
}

void append_one_line(std::string& out, std::string_view json) {
    const std::size_t from = out.size();
    out += json;
    // In valid JSON line ends are between tokens only.
    for (std::size_t at = from; at < out.size(); ++at)
        if (out[at] == '\n' || out[at] == '\r') out[at] = ' ';
}

void append_usd(std::string& out, double cost) {
    if (!std::isfinite(cost)) {
        out += "null";
        return;
    }
    std::array<char, 400> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), cost,
                                   std::chars_format::fixed, 10);
    std::string_view text(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()));
    text = text.substr(0, text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.remove_suffix(1);
    out += text == "-0" ? "0" : text;
}

result<std::unique_ptr<result_writer>> open_jsonl_results(const result_output& output) {
    HEDDLE_TRY(output_file file, output_file::open(output.target, std::string(jsonl_beginning)));
    return std::unique_ptr<result_writer>(std::make_unique<jsonl_results>(std::move(file)));
}

result<std::unique_ptr<result_writer>> open_delimited_results(const result_output& output,
                                                              char separator) {
    std::string header;
    const auto name = [&](std::string_view column) {
        append_cell(header, column, separator);
        header += separator;
    };
    for (const std::string_view column : {"id", "row", "status", "value"}) name(column);
    for (const std::string& column : output.columns) name(column);
    for (const std::string_view column : {"error", "requests", "input_tokens", "output_tokens",
                                          "cost_usd", "attempts", "duration_ms"})
        name(column);
    header += "maybe_paid\n";
    HEDDLE_TRY(output_file file,
               output_file::open(output.target, std::move(header), end_of_broken_record));
    return std::unique_ptr<result_writer>(
        std::make_unique<delimited_results>(std::move(file), output.columns, separator));
}

} // namespace heddle::rows
