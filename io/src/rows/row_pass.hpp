// All rows of an input, once.
#pragma once

#include "rows/delimited_record.hpp"
#include "rows/digester.hpp"
#include "rows/input_file.hpp"
#include "rows/json_row.hpp"

#include <heddle/rows/row_reader.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

/// The format of a file. Errors: invalid_argument (unknown extension).
[[nodiscard]] result<row_format> resolved_format(const std::string& file, row_format wanted,
                                                 bool regular);

/// Without limits and samples. Threads: one. What the constructor takes by reference outlives it.
class row_pass {
public:
    row_pass(const row_input& input, const interruption& stop,
             std::atomic<std::uint64_t>* bytes_read);

    /// As row_reader::next, but after an error it must not be called again.
    [[nodiscard]] result<std::optional<row_item>> next();
    /// Bytes of the files that are read, and belong to further rows.
    [[nodiscard]] std::uint64_t unused() const noexcept {
        return file_ ? file_->unused(block_.size()) : 0;
    }

private:
    struct piece {
        std::string_view bytes; ///< up to a line feed, inclusive, or to the end of a block
        bool ends_line = false;
    };
    struct record {
        std::uint64_t line = 0; ///< at which it begins
        bool too_long = false;
        bool unterminated = false; ///< a quote is open
    };

    [[nodiscard]] result<bool> open_file(); ///< false: there is no further one
    [[nodiscard]] result<void> read_header();
    [[nodiscard]] result<void> check_columns(std::uint64_t line,
                                             const std::vector<std::string>& columns) const;
    [[nodiscard]] result<piece> next_piece(); ///< empty at the end of the file
    [[nodiscard]] result<std::optional<record>> next_record();
    void keep(std::string_view bytes);

    [[nodiscard]] row_item item_of(const record& read);
    [[nodiscard]] row_item from_json(const record& read, std::string_view text);
    [[nodiscard]] row_item from_fields(const record& read);
    [[nodiscard]] std::optional<bad_row> unreadable(const record& read);
    [[nodiscard]] row good(const record& read, std::string json,
                           std::optional<std::string_view> id);
    [[nodiscard]] bad_row bad(const record& read, const std::string& what, std::string hint,
                              std::size_t column = 0);
    [[nodiscard]] std::optional<row_item> bad_id(const record& read, std::string_view id);
    [[nodiscard]] row_origin origin(const record& read, ports::digest128 content,
                                    std::optional<std::string_view> id);
    [[nodiscard]] error file_error(std::uint64_t line, const std::string& what) const;

    const row_input& input_;
    const interruption& stop_;
    std::atomic<std::uint64_t>* bytes_read_;
    std::uint64_t number_ = 0;

    std::size_t next_file_ = 0;
    std::shared_ptr<const std::string> name_;
    std::optional<input_file> file_;
    row_format format_ = row_format::jsonl;
    std::string_view block_;
    bool file_begins_ = false;
    std::uint64_t line_ = 1;

    std::string raw_;           ///< the bytes of the record, at most as many as it may have
    std::size_t raw_bytes_ = 0; ///< that it has
    std::optional<delimited_record> fields_;
    std::vector<std::string> names_; ///< columns
    std::vector<std::string> keys_;  ///< columns as JSON
    std::optional<std::size_t> id_column_;
    json_row_reader json_;
    digester digester_;
};

} // namespace heddle::rows
