// JSON as text: writing numbers, checking texts to be inserted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::providers {

void append_json_number(std::string& out, std::int64_t value);
/// Appends the shortest form that is read back as the same number; infinities and NaN become null.
void append_json_number(std::string& out, double value);

enum class json_kind : std::uint8_t { none, object, array, string, number, boolean, null };

/// The kind of the JSON value in `text`, or none if it is not JSON or is nested deeper than
/// `max_depth`. Does not check that strings are UTF-8. Linear; no allocation; no recursion.
[[nodiscard]] json_kind check_json(std::string_view text, std::size_t max_depth = 64) noexcept;

/// Remembers the last few texts that check_json found to be objects: a schema is checked once, and
/// not for each call.
class json_memo {
public:
    /// True if `text` is a JSON object in UTF-8.
    [[nodiscard]] bool is_object(std::string_view text);

private:
    std::array<std::string, 8> known_;
    std::size_t next_ = 0;
};

} // namespace heddle::providers
