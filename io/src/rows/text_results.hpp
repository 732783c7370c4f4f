// Results as lines of text.
#pragma once

#include <heddle/rows/result_writer.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

[[nodiscard]] result<std::unique_ptr<result_writer>> open_jsonl_results(
    const result_output& output);
[[nodiscard]] result<std::unique_ptr<result_writer>> open_delimited_results(
    const result_output& output, char separator);

/// "done", "failed", "rejected", "begun".
[[nodiscard]] std::string_view word_of(ports::row_status status) noexcept;

/// Appends valid JSON, on one line.
void append_one_line(std::string& out, std::string_view json);

} // namespace heddle::rows
