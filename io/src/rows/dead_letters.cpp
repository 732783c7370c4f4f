#include <heddle/rows/dead_letters.hpp>

#include "rows/output_file.hpp"
#include "rows/text_results.hpp"

#include <heddle/base/json_string.hpp>

#include <utility>

namespace heddle::rows {

struct dead_letter_writer::state {
    output_file file;
};

dead_letter dead_letter_of(const bad_row& bad) {
    dead_letter letter;
    letter.number = bad.number;
    letter.id = bad.id;
    letter.file = *bad.file;
    letter.line = bad.line;
    const error_info& info = bad.problem.info();
    letter.error_json = "{\"kind\":\"RowError\",\"message\":";
    append_json_string(letter.error_json, info.message);
    if (!info.hint.empty()) {
        letter.error_json += ",\"hint\":";
        append_json_string(letter.error_json, info.hint);
    }
    letter.error_json += '}';
    letter.raw = bad.raw;
    letter.raw_cut = bad.raw_cut;
    return letter;
}

dead_letter_writer::dead_letter_writer(std::unique_ptr<state> own) : state_(std::move(own)) {}
dead_letter_writer::~dead_letter_writer() = default;

result<std::unique_ptr<dead_letter_writer>> dead_letter_writer::open(output_target target) {
    // A run that goes on keeps what others have written between its letters, or before them.
    const bool goes_on = target.start == output_start::after_last_line;
    HEDDLE_TRY(output_file file, output_file::open(target, goes_on ? "" : "{\"id\":"));
    return std::unique_ptr<dead_letter_writer>(
        new dead_letter_writer(std::make_unique<state>(state{std::move(file)})));
}

result<void> dead_letter_writer::write(std::span<const dead_letter> batch) {
    std::string lines;
    for (const dead_letter& one : batch) {
        lines += "{\"id\":";
        append_json_string(lines, one.id);
        lines += ",\"row\":" + std::to_string(one.number) + ",\"file\":";
        append_json_string(lines, one.file);
        lines += ",\"line\":" + std::to_string(one.line) + ",\"error\":";
        append_one_line(lines, one.error_json.empty() ? "null" : one.error_json);
        if (one.row_json.empty()) {
            lines += ",\"raw\":";
            append_json_string(lines, one.raw);
        } else {
            lines += ",\"input\":";
            append_one_line(lines, one.row_json);
        }
        if (one.raw_cut) lines += ",\"raw_cut\":true";
        lines += "}\n";
    }
    return state_->file.append(lines);
}

result<void> dead_letter_writer::flush() { return state_->file.flush(); }
std::uint64_t dead_letter_writer::size() const noexcept { return state_->file.size(); }

} // namespace heddle::rows
