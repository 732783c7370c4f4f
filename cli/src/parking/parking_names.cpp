#include "parking/parking_names.hpp"

#include <heddle/ports/llm_port.hpp>

#include <charconv>
#include <ctime>
#include <random>
#include <system_error>

namespace heddle::cli {

namespace {

constexpr std::string_view looked_for = "looked for since ";
constexpr const char* time_format = "%Y-%m-%dT%H:%M:%SZ";

} // namespace

std::string batch_title(const store::parked_batch& batch) {
    return "batch " + (batch.id.empty() ? std::to_string(batch.number) : batch.id) + " of " +
           batch.service;
}

std::string parked_call_id(const store::parked_call& call) {
    std::string id = "c" + std::to_string(call.number) + "-";
    constexpr std::string_view digits = "0123456789abcdef";
    for (int shift = 28; shift >= 0; shift -= 4)
        id += digits[static_cast<std::size_t>(call.content.low >> shift & 15U)];
    return id;
}

std::string new_batch_mark() {
    std::string mark = "heddle-";
    std::random_device random;
    constexpr std::string_view digits = "0123456789abcdef";
    for (int part = 0; part < 3; ++part) {
        const unsigned bits = random();
        for (unsigned shift = 0; shift < 32; shift += 4) mark += digits[bits >> shift & 15U];
    }
    return mark;
}

std::string looked_for_state(std::int64_t since) {
    const std::time_t seconds = since;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, time_format, &parts);
    return std::string(looked_for) + text;
}

std::optional<std::int64_t> looked_for_since(std::string_view state) {
    if (!state.starts_with(looked_for)) return std::nullopt;
    const std::string text(state.substr(looked_for.size()));
    std::tm parts{};
    if (!::strptime(text.c_str(), time_format, &parts)) return std::nullopt;
    return ::timegm(&parts);
}

ports::digest128 refusal_key(const ports::digest128& request) noexcept {
    constexpr std::uint64_t other = 0x7265667573656421; // another content than the request's
    return {request.high ^ other, request.low + 1};
}

std::string refusal_text(const error& failure) {
    const bool is_of_model = failure.code().category() == ports::llm_category();
    const int code =
        is_of_model ? failure.code().value() : static_cast<int>(ports::llm_errc::server);
    return std::to_string(code) + "\n" + failure.message();
}

error refusal_in(std::string_view text) {
    int code = static_cast<int>(ports::llm_errc::server);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), code);
    if (failed == std::errc()) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('\n')) text.remove_prefix(1);
    const bool known = code > 0 && code <= static_cast<int>(ports::llm_errc::configuration);
    const auto kind = known ? static_cast<ports::llm_errc>(code) : ports::llm_errc::server;
    return error(ports::make_error_code(kind), std::string(text))
        .with_origin(error_origin::server)
        .with_retryable(false)
        .with_attempts(0);
}

} // namespace heddle::cli
