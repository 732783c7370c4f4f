#include "tasks/output/schema_number.hpp"

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/internal/adapter.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace heddle::tasks {

namespace {

constexpr double two_to_64 = 18446744073709551616.0;
constexpr std::uint64_t quiet_nan = 0x7FF8'0000'0000'0000U;
constexpr std::uint64_t nan_payload = 0x0007'FFFF'FFFF'FFFFU;

thread_local wide_numbers* current_wide = nullptr;

/// Ten times `rest`, modulo `divisor`, of which `rest` is one: no step leaves 64 bits.
[[nodiscard]] std::uint64_t ten_times(std::uint64_t rest, std::uint64_t divisor) noexcept {
    const auto sum = [divisor](std::uint64_t one, std::uint64_t other) {
        return one >= divisor - other ? one - (divisor - other) : one + other;
    };
    const std::uint64_t twice = sum(rest, rest);
    const std::uint64_t four = sum(twice, twice);
    return sum(sum(four, four), twice);
}

} // namespace

schema_number::schema_number(std::int64_t whole) noexcept
    : negative_(whole < 0), magnitude_(whole < 0 ? 0 - static_cast<std::uint64_t>(whole)
                                                 : static_cast<std::uint64_t>(whole)) {}

schema_number::schema_number(double number) noexcept {
    if (std::fabs(number) < two_to_64 && std::trunc(number) == number) {
        negative_ = number < 0;
        magnitude_ = static_cast<std::uint64_t>(std::fabs(number));
    } else {
        in_bits_ = false;
        number_ = number;
    }
}

schema_number schema_number::of(const valijson::adapters::Adapter& target) {
    if (target.isInteger()) return schema_number(target.asInteger());
    const double number = target.asDouble();
    const auto wide = wide_numbers::find(number);
    return wide ? schema_number(*wide) : schema_number(number);
}

bool schema_number::is_whole() const noexcept {
    return in_bits_ || std::fabs(number_) >= two_to_64;
}

schema_number::decimal schema_number::digits() const noexcept {
    if (in_bits_) return {magnitude_, 0};
    char text[40];
    const char* const end =
        std::to_chars(text, text + sizeof text, std::fabs(number_), std::chars_format::scientific)
            .ptr;
    decimal result;
    const char* at = text;
    bool fraction = false;
    for (; at != end && *at != 'e'; ++at) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        result.digits = result.digits * 10 + static_cast<std::uint64_t>(*at - '0');
        if (fraction) --result.exponent;
    }
    int power = 0;
    if (at != end) ++at; // the e
    if (at != end && *at == '+') ++at;
    std::from_chars(at, end, power);
    result.exponent += power;
    return result;
}

bool schema_number::is_multiple_of(const schema_number& divisor) const noexcept {
    if (!in_bits_ && std::isinf(number_)) return true; // written as more than a double holds
    if (!divisor.in_bits_ && std::isinf(divisor.number_)) return in_bits_ && magnitude_ == 0;
    const decimal mine = digits();
    decimal by = divisor.digits();
    if (mine.digits == 0) return true;
    for (; by.exponent > mine.exponent; --by.exponent) {
        if (by.digits > std::numeric_limits<std::uint64_t>::max() / 10) return false; // above mine
        by.digits *= 10;
    }
    std::uint64_t rest = mine.digits % by.digits;
    for (int more = mine.exponent - by.exponent; more > 0 && rest != 0; --more)
        rest = ten_times(rest, by.digits);
    return rest == 0;
}

std::string schema_number::text() const {
    if (in_bits_) return (negative_ ? "-" : "") + std::to_string(magnitude_);
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, number_).ptr};
}

std::weak_ordering operator<=>(const schema_number& one, const schema_number& other) noexcept {
    using order = std::weak_ordering;
    if (one.in_bits_ && other.in_bits_) {
        if (one.negative_ != other.negative_) return one.negative_ ? order::less : order::greater;
        const order size = one.magnitude_ <=> other.magnitude_;
        return one.negative_ ? 0 <=> size : size;
    }
    if (!one.in_bits_ && !other.in_bits_) {
        return one.number_ < other.number_   ? order::less
               : one.number_ > other.number_ ? order::greater
                                             : order::equivalent;
    }
    if (!one.in_bits_) return 0 <=> (other <=> one);
    // More than 64 bits, or no whole number: then the next below it is one of 64.
    if (std::fabs(other.number_) >= two_to_64)
        return other.number_ > 0 ? order::less : order::greater;
    return one <=> schema_number(std::floor(other.number_)) == order::greater ? order::greater
                                                                              : order::less;
}

wide_numbers::wide_numbers() noexcept : outer_(std::exchange(current_wide, this)) {}

wide_numbers::~wide_numbers() { current_wide = outer_; }

double wide_numbers::keep(std::uint64_t number) {
    if (!current_wide) throw std::logic_error("nothing keeps the numbers of a document");
    current_wide->kept_.push_back(number);
    return std::bit_cast<double>(quiet_nan | current_wide->kept_.size());
}

std::optional<std::uint64_t> wide_numbers::find(double in_document) noexcept {
    if (!current_wide || !std::isnan(in_document)) return std::nullopt;
    const std::uint64_t index = std::bit_cast<std::uint64_t>(in_document) & nan_payload;
    if (index == 0 || index > current_wide->kept_.size()) return std::nullopt;
    return current_wide->kept_[index - 1];
}

} // namespace heddle::tasks
