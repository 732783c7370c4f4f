#include "tasks/run/kept_failure.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>
#include <heddle/ports/response_codec.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace heddle::tasks {

namespace {

// A body is: version, levels, whether all requests were lost, the size of the error in four bytes,
// the error, and what had arrived of a response. Journals up to layout 4 have the error alone,
// which begins with another version.
constexpr char version = 2;
constexpr std::size_t head_bytes = 7;
constexpr unsigned max_levels = 255;

struct parts_of_body {
    unsigned levels = 0;
    bool all_lost = false;
    std::string_view failure;
    std::string_view received; ///< empty: nothing
};

/// Nothing: it is damaged.
[[nodiscard]] std::optional<parts_of_body> parts_of(std::string_view body) {
    parts_of_body parts;
    if (body.empty() || body.front() != version) {
        parts.failure = body;
        return parts;
    }
    if (body.size() < head_bytes) return std::nullopt;
    parts.levels = static_cast<unsigned char>(body[1]);
    parts.all_lost = body[2] != 0;
    std::uint32_t size = 0;
    for (unsigned k = 0; k < 4; ++k)
        size |= std::uint32_t{static_cast<unsigned char>(body[3 + k])} << (8 * k);
    body.remove_prefix(head_bytes);
    if (size > body.size()) return std::nullopt;
    parts.failure = body.substr(0, size);
    parts.received = body.substr(size);
    return parts;
}

} // namespace

std::optional<std::string> encode_failure(const error& failure, const task_time& time) {
    std::optional<unsigned> levels = 0;
    if (failure.is_cancelled()) levels = time.levels_over(failure);
    else if (lang::extent_of(failure)) levels.reset();
    if (!levels) return std::nullopt;
    const std::string encoded = lang::encode_error(failure);
    const auto* paid = dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    std::string body{version, static_cast<char>(std::min(*levels, max_levels)),
                     static_cast<char>(paid && paid->all_lost ? 1 : 0)};
    const auto size = static_cast<std::uint32_t>(encoded.size());
    for (unsigned k = 0; k < 4; ++k) body += static_cast<char>(size >> (8 * k) & 0xFF);
    body += encoded;
    if (paid) body += ports::encode_response(paid->so_far);
    return body;
}

error decode_failure(lang::heap& memory, std::string_view body, const task_time& time) {
    const error damaged(errc::io_error, "the recorded failure of a step is damaged");
    const auto parts = parts_of(body);
    if (!parts) return damaged;
    result<lang::value> read = lang::decode_answer(memory, parts->failure, ports::find_category);
    if (read) return damaged;
    error failure = std::move(read).error();
    if (!parts->received.empty()) {
        auto received = ports::decode_response(parts->received);
        if (!received) return damaged;
        auto paid = std::make_shared<ports::partial_response>(*std::move(received));
        paid->all_lost = parts->all_lost;
        failure = std::move(failure).with_payload(std::move(paid));
    }
    if (!failure.is_cancelled()) return failure;
    return time.ended(std::move(failure), parts->levels);
}

result<lang::value> decode_outcome(lang::heap& memory, std::string_view body,
                                   const task_time& time) {
    if (!body.empty() && body.front() == version) return decode_failure(memory, body, time);
    return lang::decode_answer(memory, body, ports::find_category);
}

} // namespace heddle::tasks
