#include "parking/parking_names.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/base/time_text.hpp>
#include <heddle/ports/llm_port.hpp>

#include <charconv>
#include <random>
#include <system_error>

namespace heddle::cli {

namespace {

constexpr std::string_view looked_for = "looked for since ";

} // namespace

std::string batch_title(const store::parked_batch& batch) {
    return "batch " + (batch.id.empty() ? std::to_string(batch.number) : batch.id) + " of " +
           batch.service;
}

std::string parked_call_id(const store::parked_call& call) {
    return "c" + std::to_string(call.number) + "-" + hex_text(call.content.low).substr(8);
}

std::string new_batch_mark() {
    std::random_device random;
    std::string mark = "heddle-";
    for (int part = 0; part < 3; ++part) mark += hex_text(random()).substr(8);
    return mark;
}

std::string looked_for_state(std::int64_t since) {
    return std::string(looked_for) + utc_text(since);
}

std::optional<std::int64_t> looked_for_since(std::string_view state) {
    if (!state.starts_with(looked_for)) return std::nullopt;
    return seconds_of_utc(state.substr(looked_for.size()));
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
