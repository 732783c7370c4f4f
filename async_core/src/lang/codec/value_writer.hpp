// Values to bytes.
#pragma once

#include "lang/value/window_table.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::lang::codec {

void put_number(std::string& out, std::uint64_t number);
void put_text(std::string& out, std::string_view text);

/// What becomes of a part that is not data.
enum class if_no_data : std::uint8_t { fail, describe };

/// Appends one value to bytes. Parts that several places share are written once. Complexity: linear
/// in the distinct windows of the value; the native stack does not grow.
class value_writer {
public:
    value_writer(std::string& out, std::size_t max_bytes, if_no_data policy)
        : out_(out), max_bytes_(max_bytes), policy_(policy) {}
    /// Errors: type, naming the part; limit, above `max_bytes` bytes.
    [[nodiscard]] result<void> write(const value& data);

private:
    /// A list or map whose parts are being written.
    struct frame {
        const value* whole;
        std::uint32_t next;
    };
    /// A part that can be referred to.
    struct known {
        std::uint64_t number;
        std::uint32_t offset;
        std::uint32_t length;
    };

    [[nodiscard]] result<void> put(const value& part);
    /// True: the part, or one that contains it, was there before.
    [[nodiscard]] bool put_again(const value& part);
    void put_mark(std::uint8_t mark, bool numbered);
    void put_string(const value& part);
    void note(const value& part);
    [[nodiscard]] error no_data(const value& part) const;
    [[nodiscard]] std::string path() const;

    std::string& out_;
    std::size_t max_bytes_;
    if_no_data policy_;
    std::vector<frame> open_;
    window_table<std::uint64_t> numbers_;
    std::unordered_map<const object*, known> longest_; ///< of each storage
    std::uint64_t next_number_ = 0;
};

} // namespace heddle::lang::codec
