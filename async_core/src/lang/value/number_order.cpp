#include "lang/value/number_order.hpp"

#include <cmath>
#include <cstdint>

namespace heddle::lang {

namespace {

[[nodiscard]] int order(double left, double right) noexcept {
    if (std::isnan(left) || std::isnan(right)) return 2;
    return left < right ? -1 : left > right ? 1 : 0;
}

/// Without rounding the integer to a double.
[[nodiscard]] int order(std::int64_t left, double right) noexcept {
    if (std::isnan(right)) return 2;
    if (right >= 9223372036854775808.0) return -1;
    if (right < -9223372036854775808.0) return 1;
    const double whole = std::trunc(right);
    const auto truncated = static_cast<std::int64_t>(whole);
    if (left != truncated) return left < truncated ? -1 : 1;
    return right > whole ? -1 : right < whole ? 1 : 0;
}

} // namespace

std::optional<int> compare_numbers(const value& left, const value& right) noexcept {
    if (!counts_as_number(left) || !counts_as_number(right)) return std::nullopt;
    if (left.is_real()) {
        if (right.is_real()) return order(left.as_real(), right.as_real());
        const int opposite = order(right.as_integer(), left.as_real());
        return opposite == 2 ? 2 : -opposite;
    }
    if (right.is_real()) return order(left.as_integer(), right.as_real());
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    return a < b ? -1 : a > b ? 1 : 0;
}

} // namespace heddle::lang
