#include "rows/row_pass.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace heddle::rows {

namespace {

constexpr std::size_t max_id_bytes = 1024;

bool is_delimited(row_format format) {
    return format == row_format::csv || format == row_format::tsv;
}

std::string first_digits(const ports::digest128& digest) {
    return hex_text(digest.high >> 16).substr(4); // the first twelve
}

/// Without what the end of a line consists of.
std::string_view without_line_end(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

} // namespace

row_pass::row_pass(const row_input& input, const interruption& stop,
                   std::atomic<std::uint64_t>* bytes_read)
    : input_(input), stop_(stop), bytes_read_(bytes_read), json_(input.id_field, input.max_depth) {}

error row_pass::file_error(std::uint64_t line, const std::string& what) const {
    std::string message = shown_file(*name_);
    if (line != 0) message += ", line " + std::to_string(line);
    return {errc::invalid_argument, message + ": " + what};
}

result<bool> row_pass::open_file() {
    file_.reset();
    if (next_file_ == input_.files.size()) return false;
    const std::string& path = input_.files[next_file_++];
    name_ = std::make_shared<const std::string>(path);
    HEDDLE_TRY(const input_kind kind, examine_input(path, input_.standard_input));
    HEDDLE_TRY(format_, resolved_format(path, input_.format, kind.regular));
    HEDDLE_TRY(input_file opened,
               input_file::open(path, input_.standard_input, stop_, bytes_read_));
    file_.emplace(std::move(opened));
    block_ = {};
    line_ = 1;
    file_begins_ = true;
    fields_.reset();
    if (is_delimited(format_)) {
        fields_.emplace(format_ == row_format::csv ? ',' : '\t', input_.max_row_bytes);
        HEDDLE_CHECK(read_header());
    } else if (format_ == row_format::lines) {
        HEDDLE_CHECK(check_columns(0, {"line"}));
    }
    return true;
}

result<row_pass::piece> row_pass::next_piece() {
    if (block_.empty()) {
        HEDDLE_TRY(block_, file_->next());
        if (block_.empty()) return piece{};
    }
    const void* const found = std::memchr(block_.data(), '\n', block_.size());
    const std::size_t size =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - block_.data()) + 1
              : block_.size();
    const piece taken{block_.substr(0, size), found != nullptr};
    block_.remove_prefix(size);
    if (taken.ends_line) ++line_;
    return taken;
}

void row_pass::keep(std::string_view bytes) {
    raw_bytes_ += bytes.size();
    const std::size_t most = input_.max_row_bytes + 2; // and the end of its line
    raw_.append(bytes.substr(0, most - std::min(most, raw_.size())));
}

/// The next record that is not an empty line; its bytes are in `raw_` then.
result<std::optional<row_pass::record>> row_pass::next_record() {
    for (;;) {
        raw_.clear();
        raw_bytes_ = 0;
        if (fields_) fields_->begin();
        record read;
        read.line = line_;
        bool ended = false;
        while (!ended) {
            HEDDLE_TRY(piece taken, next_piece());
            if (taken.bytes.empty()) {
                if (raw_bytes_ == 0) return std::optional<record>();
                if (fields_) {
                    read.unterminated = fields_->inside_quotes();
                    fields_->finish();
                }
                break;
            }
            keep(taken.bytes);
            ended = fields_ ? fields_->take(taken.bytes) : taken.ends_line;
        }
        if (file_begins_) {
            file_begins_ = false;
            if (raw_.starts_with(utf8::byte_order_mark)) {
                const std::size_t mark = utf8::byte_order_mark.size();
                raw_.erase(0, mark);
                raw_bytes_ -= mark;
                if (fields_) { // with the mark, a first quote was none
                    fields_->begin();
                    if (!fields_->take(raw_)) {
                        // The record may go on in further lines.
                        for (bool whole = false; !whole;) {
                            HEDDLE_TRY(piece taken, next_piece());
                            if (taken.bytes.empty()) {
                                read.unterminated = fields_->inside_quotes();
                                fields_->finish();
                                break;
                            }
                            keep(taken.bytes);
                            whole = fields_->take(taken.bytes);
                        }
                    }
                }
            }
        }
        const std::string_view text = without_line_end(raw_);
        read.too_long = raw_bytes_ - (raw_.size() - text.size()) > input_.max_row_bytes;
        const bool blank = format_ == row_format::jsonl
                               ? text.find_first_not_of(" \t\r") == std::string_view::npos
                               : text.empty();
        if (!blank || read.too_long) return std::optional<record>(read);
    }
}

result<void> row_pass::read_header() {
    names_.clear();
    keys_.clear();
    id_column_.reset();
    HEDDLE_TRY(const std::optional<record> header, next_record());
    if (!header)
        return file_error(0, "the file is empty")
            .with_hint("its first line must have the names of the columns");
    if (header->too_long || header->unterminated || fields_->broken_quote() ||
        !utf8::is_valid(raw_) || raw_.find('\0') != std::string::npos)
        return file_error(header->line, "the header is not a line of UTF-8 text in this format")
            .with_hint(
                "the first line must have the names of the columns; write the file as "
                "UTF-8");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields_->size(); ++i) names_.emplace_back(fields_->field(i));
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string& name = names_[i];
        if (name.empty())
            return file_error(header->line, "column " + std::to_string(i + 1) + " has no name")
                .with_hint("each column needs a name in the first line");
        if (name.find('\r') != std::string::npos)
            return file_error(header->line, "column " + std::to_string(i + 1) +
                                                " has a carriage return in its name")
                .with_hint("lines end with LF or CR LF, not with CR alone: convert the file");
        if (!seen.insert(name).second)
            return file_error(header->line,
                              "two columns have the name " + json_string(utf8::shortened(name, 80)))
                .with_hint("rename one of them");
        keys_.push_back(json_string(name) + ":");
        if (!input_.id_field.empty() && name == input_.id_field) id_column_ = i;
    }
    if (!input_.id_field.empty() && !id_column_)
        return file_error(header->line, "no column has the name " + json_string(input_.id_field))
            .with_hint("the id must be one of the columns");
    return check_columns(header->line, names_);
}

result<void> row_pass::check_columns(std::uint64_t line,
                                     const std::vector<std::string>& columns) const {
    if (!input_.check_columns) return {};
    auto fits = input_.check_columns(columns);
    if (fits) return {};
    return file_error(line, fits.error().message()).with_hint(fits.error().info().hint);
}

result<std::optional<row_item>> row_pass::next() {
    for (;;) {
        if (!file_) {
            HEDDLE_TRY(const bool opened, open_file());
            if (!opened) return std::optional<row_item>();
        }
        HEDDLE_TRY(const std::optional<record> read, next_record());
        if (!read) {
            file_.reset();
            continue;
        }
        std::optional<row_item> item(item_of(*read));
        ++number_;
        return item;
    }
}

row_origin row_pass::origin(const record& read, ports::digest128 content,
                            std::optional<std::string_view> id) {
    row_origin from;
    from.number = number_;
    from.file = name_;
    from.line = read.line;
    from.content = content;
    from.id = id ? std::string(*id) : std::to_string(number_) + ":" + first_digits(content);
    from.id_digest = digester_.digest(id_purpose, from.id);
    return from;
}

bad_row row_pass::bad(const record& read, const std::string& what, std::string hint,
                      std::size_t column) {
    const std::string_view text = without_line_end(raw_);
    bad_row refused;
    refused.raw.assign(text, 0, input_.max_raw_bytes); // as it came, whatever its encoding
    refused.raw_cut = raw_bytes_ - (raw_.size() - text.size()) > refused.raw.size();
    static_cast<row_origin&>(refused) =
        origin(read, digester_.digest(content_purpose, refused.raw), std::nullopt);
    std::string place = "line " + std::to_string(read.line);
    if (column != 0) place += ", column " + std::to_string(column);
    refused.problem = error(read.too_long ? errc::limit_exceeded : errc::invalid_argument,
                            shown_file(*name_) + ", " + place + ": " + what)
                          .with_hint(std::move(hint));
    return refused;
}

row row_pass::good(const record& read, std::string json, std::optional<std::string_view> id) {
    row accepted;
    static_cast<row_origin&>(accepted) = origin(read, digester_.digest(content_purpose, json), id);
    accepted.json = std::move(json);
    return accepted;
}

/// What no format allows.
std::optional<bad_row> row_pass::unreadable(const record& read) {
    if (read.unterminated)
        return bad(read,
                   "the quote that opens field " + std::to_string(fields_->broken_field()) +
                       " is not closed before the end of the file",
                   "a field that begins with a quote ends with one; quotes in it are doubled");
    if (read.too_long)
        return bad(
            read,
            "the row has " + std::to_string(raw_bytes_) + " bytes; the limit is " +
                std::to_string(input_.max_row_bytes),
            "check that lines end with a line feed; a larger text belongs in a file that the "
            "row names");
    const std::string_view text = without_line_end(raw_);
    const auto column = [&](std::size_t at) { return utf8::count(text.substr(0, at)) + 1; };
    if (const auto at = utf8::find_invalid(text); at != std::string_view::npos)
        return bad(read, "invalid UTF-8", "convert the file: iconv -f LATIN1 -t UTF-8 FILE",
                   column(at));
    if (const auto at = text.find('\0'); at != std::string_view::npos)
        return bad(read, "a NUL byte",
                   "text has none; if every other byte is one: iconv -f UTF-16 -t UTF-8 FILE",
                   column(at));
    return std::nullopt;
}

std::optional<row_item> row_pass::bad_id(const record& read, std::string_view id) {
    const std::string field = "the id field " + json_string(utf8::shortened(input_.id_field, 80));
    if (id.empty()) return bad(read, field + " is empty", "each row needs an id");
    if (id.size() > max_id_bytes)
        return bad(read, field + " has more than " + std::to_string(max_id_bytes) + " bytes",
                   "choose a shorter field");
    return std::nullopt;
}

row_item row_pass::item_of(const record& read) {
    if (auto problem = unreadable(read)) return *std::move(problem);
    if (fields_) return from_fields(read);
    const std::string_view text = without_line_end(raw_);
    if (format_ == row_format::jsonl) return from_json(read, text);
    std::string json = "{\"line\":";
    append_json_string(json, text);
    json += '}';
    if (input_.id_field.empty()) return good(read, std::move(json), std::nullopt);
    if (input_.id_field != "line")
        return bad(read, "rows of plain lines have one field, \"line\"",
                   "leave the id field out, or use JSONL or CSV");
    if (auto problem = bad_id(read, text)) return *std::move(problem);
    return good(read, std::move(json), text);
}

row_item row_pass::from_json(const record& read, std::string_view text) {
    if (const auto problem = json_.read(text)) {
        const std::size_t column =
            problem->placed ? utf8::count(text.substr(0, problem->offset)) + 1 : 0;
        return bad(read, problem->what, problem->hint, column);
    }
    std::string json(json_.canonical());
    if (input_.id_field.empty()) return good(read, std::move(json), std::nullopt);
    const std::string field = json_string(utf8::shortened(input_.id_field, 80));
    switch (json_.id()) {
    case id_state::missing:
        return bad(read, "the row has no field " + field, "each row needs an id");
    case id_state::not_scalar:
        return bad(read, "the id field " + field + " is not a string or a number",
                   "use a field with a string or a number");
    case id_state::found: break;
    }
    if (auto problem = bad_id(read, json_.id_text())) return *std::move(problem);
    return good(read, std::move(json), json_.id_text());
}

row_item row_pass::from_fields(const record& read) {
    if (fields_->broken_quote())
        return bad(
            read,
            "text after the closing quote of field " + std::to_string(fields_->broken_field()),
            "a quote inside of a quoted field is written as two quotes");
    if (fields_->size() != names_.size())
        return bad(read,
                   "expected " + counted(names_.size(), "column") + " but found " +
                       std::to_string(fields_->size()),
                   "put fields with separators or line feeds in quotes");
    std::string json = "{";
    json.reserve(raw_.size() + raw_.size() / 2);
    for (std::size_t i = 0; i < names_.size(); ++i) {
        if (i != 0) json += ',';
        json += keys_[i];
        append_json_string(json, fields_->field(i));
    }
    json += '}';
    if (!id_column_) return good(read, std::move(json), std::nullopt);
    const std::string_view id = fields_->field(*id_column_);
    if (auto problem = bad_id(read, id)) return *std::move(problem);
    return good(read, std::move(json), id);
}

} // namespace heddle::rows
