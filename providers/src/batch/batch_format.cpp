#include "batch/batch_format.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>

#include <algorithm>

namespace heddle::providers {

namespace {

constexpr std::size_t max_name = 256;
constexpr std::size_t max_statuses = 1000;

/// The number in `text`, which has digits alone.
std::optional<int> digits_of(std::string_view text) noexcept {
    return text.starts_with('-') ? std::nullopt : parse_number<int>(text);
}

} // namespace

std::string_view to_string(batch_state state) noexcept {
    switch (state) {
    case batch_state::running: return "running";
    case batch_state::ended: return "ended";
    case batch_state::refused: return "refused";
    case batch_state::expired: return "expired";
    case batch_state::cancelled: return "cancelled";
    case batch_state::gone: return "gone";
    }
    return "running";
}

bool is_batch_name(std::string_view name) noexcept {
    // Dots alone would be a step to another folder.
    return !name.empty() && name.size() <= max_name && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return ascii::is_digit(c) || ascii::is_letter(c) || c == '-' || c == '_' ||
                      c == '.' || c == ':';
           });
}

result<std::vector<batch_status>> read_statuses(const batch_format& format,
                                                const json::array* list) {
    std::vector<batch_status> all;
    if (!list) return all;
    for (const json::value& each : *list) {
        if (all.size() == max_statuses) break;
        const json::object* one = each.if_object();
        if (!one) continue;
        HEDDLE_TRY(batch_status status, format.read_status(*one));
        all.push_back(std::move(status));
    }
    return all;
}

std::optional<std::int64_t> seconds_of(std::string_view time) noexcept {
    if (time.size() < 20 || time.back() != 'Z') return std::nullopt;
    const auto year = digits_of(time.substr(0, 4));
    const auto month = digits_of(time.substr(5, 2));
    const auto day = digits_of(time.substr(8, 2));
    const auto hour = digits_of(time.substr(11, 2));
    const auto minute = digits_of(time.substr(14, 2));
    const auto second = digits_of(time.substr(17, 2));
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

batch_response not_performed(std::string id, batch_response::fate what,
                             std::string_view provider_name) {
    const char* why = what == batch_response::fate::expired
                          ? ": the batch expired before the request was performed"
                          : ": the batch was cancelled before the request was performed";
    error failure(ports::make_error_code(ports::llm_errc::request_timeout),
                  std::string(provider_name) + why);
    return {std::move(id), what,
            std::move(failure).with_origin(error_origin::server).with_retryable(true)};
}

batch_response response_of(std::string id, int status, const json::value& body, chat_codec& codec,
                           batch_format::wall_time wall_now) {
    ports::http_response received;
    received.status = status;
    received.headers.emplace_back("content-type", "application/json");
    received.body = text_of_json(body);
    auto response = codec.decode(received, wall_now);
    const auto what = response ? batch_response::fate::answered : batch_response::fate::failed;
    return {std::move(id), what, std::move(response)};
}

} // namespace heddle::providers
