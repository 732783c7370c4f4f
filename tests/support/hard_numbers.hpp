// Floats that a parser of JSON may miss by a bit.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::testing {

/// Where halves, exponents and signs are lost, and 400 at random, which are the same in every run.
[[nodiscard]] inline std::vector<double> hard_numbers() {
    std::vector<double> all{0.1 + 0.2,
                            0.1 + 0.7,
                            1e23,
                            9e22,
                            5e-324,
                            2.2250738585072011e-308,
                            2.2250738585072014e-308,
                            1.7976931348623157e308,
                            9007199254740993.0,
                            -0.0};
    std::mt19937_64 random(20260806);
    while (all.size() < 210) {
        const double number = std::bit_cast<double>(random());
        if (std::isfinite(number)) all.push_back(number);
    }
    while (all.size() < 410) all.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
    return all;
}

/// The shortest digits of each, with a point or an exponent: "[1e+23,-0.0]".
[[nodiscard]] inline std::string json_of_numbers(const std::vector<double>& numbers) {
    std::string text;
    for (const double number : numbers) {
        char digits[40];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        std::string written(digits, end);
        if (written.find_first_of(".e") == std::string::npos) written += ".0";
        text += (text.empty() ? "[" : ",") + written;
    }
    return text + "]";
}

[[nodiscard]] inline std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
    std::vector<std::uint64_t> bits;
    bits.reserve(numbers.size());
    for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
    return bits;
}

/// The bits of the numbers in the first list of `json` that begins with a number. However they are
/// written; strtod finds the nearest double.
[[nodiscard]] inline std::vector<std::uint64_t> bits_in(std::string_view json) {
    std::size_t begin = 0;
    do {
        begin = std::min(json.find('[', begin), json.size() - 1) + 1;
    } while (begin < json.size() &&
             std::string_view("-0123456789").find(json[begin]) == std::string_view::npos);
    const std::string list(json.substr(begin, json.find(']', begin) - begin));
    std::vector<double> numbers;
    for (const char* at = list.c_str(); *at != '\0';) {
        char* end = nullptr;
        numbers.push_back(std::strtod(at, &end));
        if (end == at) break;
        at = *end == ',' ? end + 1 : end;
    }
    return bits_of(numbers);
}

} // namespace heddle::testing
