#include <heddle/base/time_text.hpp>

#include <array>
#include <ctime>

namespace heddle {

namespace {

constexpr const char* utc_format = "%Y-%m-%dT%H:%M:%SZ"; // digits only, whatever the locale

} // namespace

std::string utc_text(std::int64_t seconds) {
    const std::time_t since_1970 = seconds;
    std::tm parts{};
    if (!::gmtime_r(&since_1970, &parts)) return "1970-01-01T00:00:00Z";
    std::array<char, 40> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), utc_format, &parts);
    return {text.data(), size};
}

std::string utc_text(std::chrono::system_clock::time_point when) {
    return utc_text(std::int64_t{std::chrono::system_clock::to_time_t(when)});
}

std::optional<std::int64_t> seconds_of_utc(std::string_view text) {
    const std::string given(text);
    std::tm parts{};
    const char* const end = ::strptime(given.c_str(), utc_format, &parts);
    if (!end || *end != '\0') return std::nullopt;
    return ::timegm(&parts);
}

std::string whole_seconds_text(std::chrono::nanoseconds span) {
    return std::to_string(std::chrono::ceil<std::chrono::seconds>(span).count()) + " s";
}

} // namespace heddle
