#include <heddle/setup/quantity.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>

#include <cstddef>

namespace heddle::setup {

std::optional<std::pair<double, std::string>> split_quantity(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (ascii::is_digit(text[end]) || text[end] == '.')) ++end;
    const auto number = parse_number<double>(text.substr(0, end));
    if (!number) return std::nullopt;
    while (end < text.size() && text[end] == ' ') ++end;
    return std::pair(*number, std::string(text.substr(end)));
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
    static constexpr std::pair<std::string_view, double> units[] = {
        {"", 1},      {"B", 1},         {"kB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
        {"TB", 1e12}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    const auto parts = split_quantity(text);
    if (!parts) return std::nullopt;
    for (const auto& [unit, factor] : units) {
        const double bytes = parts->first * factor;
        if (parts->second == unit && bytes >= 1 && bytes <= 1e15)
            return static_cast<std::uint64_t>(bytes);
    }
    return std::nullopt;
}

} // namespace heddle::setup
