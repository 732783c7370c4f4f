// A text of JSON as a row.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::rows {

struct json_problem {
    std::string what;
    std::string hint;
    std::size_t offset = 0; ///< in the text
    bool placed = false;    ///< `offset` is known
};

enum class id_state : std::uint8_t { missing, not_scalar, found };

/// Reads texts of JSON, one after the other; keeps its buffers. Threads: one.
class json_row_reader {
public:
    json_row_reader(std::string id_field, std::size_t max_depth);
    ~json_row_reader();
    json_row_reader(const json_row_reader&) = delete;
    json_row_reader& operator=(const json_row_reader&) = delete;

    /// Whether `text`, which is valid UTF-8, is one value of JSON without duplicate keys. Then the
    /// functions below are about it, until the next call.
    [[nodiscard]] std::optional<json_problem> read(std::string_view text);
    /// On one line without blanks. A value v that is not an object has become {"value": v}.
    [[nodiscard]] std::string_view canonical() const noexcept;
    [[nodiscard]] id_state id() const noexcept;
    [[nodiscard]] const std::string& id_text() const noexcept;

private:
    /// `is_bounded`: its exponents are such that the parser takes them.
    [[nodiscard]] std::optional<json_problem> read(std::string_view text, bool is_bounded);

    struct state;
    std::unique_ptr<state> state_;
};

} // namespace heddle::rows
