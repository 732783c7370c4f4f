#include "lang/text/number_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/number_text.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace heddle::lang {

namespace {

[[nodiscard]] std::size_t skip_digits(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && ascii::is_digit(text[at])) ++at;
    return at;
}

} // namespace

bool starts_like_number(std::string_view text) noexcept {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (text.starts_with('.')) text.remove_prefix(1);
    return !text.empty() && ascii::is_digit(text.front());
}

parsed_number parse_number(std::string_view text) noexcept {
    if (text == "+inf.0") return std::numeric_limits<double>::infinity();
    if (text == "-inf.0") return -std::numeric_limits<double>::infinity();
    if (text == "+nan.0" || text == "-nan.0") return std::numeric_limits<double>::quiet_NaN();
    if (!starts_like_number(text)) return number_problem::not_a_number;
    std::string_view unsigned_text = text;
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+') unsigned_text.remove_prefix(1);

    std::size_t at = skip_digits(unsigned_text, 0);
    bool whole = true;
    if (at < unsigned_text.size() && unsigned_text[at] == '.') {
        whole = false;
        const std::size_t digits = at + 1;
        at = skip_digits(unsigned_text, digits);
        if (at == digits) return number_problem::not_a_number;
    }
    if (at < unsigned_text.size() && (unsigned_text[at] == 'e' || unsigned_text[at] == 'E')) {
        whole = false;
        ++at;
        if (at < unsigned_text.size() && (unsigned_text[at] == '+' || unsigned_text[at] == '-')) {
            ++at;
        }
        const std::size_t digits = at;
        at = skip_digits(unsigned_text, digits);
        if (at == digits) return number_problem::not_a_number;
    }
    if (at != unsigned_text.size()) return number_problem::not_a_number;

    if (!whole) {
        const double number = parse_decimal(text);
        if (std::isinf(number)) return number_problem::real_out_of_range;
        return number;
    }
    const std::string_view integer_text = negative ? text : unsigned_text;
    std::int64_t number = 0;
    const auto [end, ec] =
        std::from_chars(integer_text.data(), integer_text.data() + integer_text.size(), number);
    static_cast<void>(end);
    if (ec == std::errc::result_out_of_range) return number_problem::integer_out_of_range;
    return number;
}

std::string real_text(double number) {
    if (std::isnan(number)) return "+nan.0";
    if (std::isinf(number)) return number > 0 ? "+inf.0" : "-inf.0";
    std::string text = number_text(number);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

} // namespace heddle::lang
