#include "tasks/run/kept_failure.hpp"

#include "tasks/run/kept_refusal.hpp"

#include <heddle/base/parse_number.hpp>
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

// A body is: version, levels, marks, the size of the error in four bytes, the error, the same of
// encode_refusal() where a budget or limit stopped the call, the same of the number of bytes that
// could not be read where a response was cut off, and what had arrived of a response.
// Journals up to layout 4 have the error alone, which begins with another version.
constexpr char version = 2;
constexpr std::size_t head_bytes = 3;
constexpr std::size_t size_bytes = 4;
constexpr unsigned max_levels = 255;

// Marks.
constexpr unsigned all_lost_mark = 1;
constexpr unsigned stopped_mark = 2;
constexpr unsigned unread_mark = 4;

struct parts_of_body {
    unsigned levels = 0;
    bool all_lost = false;
    std::string_view failure;
    std::optional<spent_budget> over;
    std::size_t unread = 0;
    std::string_view received; ///< empty: nothing
};

void append_sized(std::string& body, std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    for (unsigned k = 0; k < size_bytes; ++k) body += static_cast<char>(size >> (8 * k) & 0xFF);
    body += text;
}

/// Nothing: it is damaged.
[[nodiscard]] std::optional<std::string_view> take_sized(std::string_view& body) {
    if (body.size() < size_bytes) return std::nullopt;
    std::uint32_t size = 0;
    for (unsigned k = 0; k < size_bytes; ++k)
        size |= std::uint32_t{static_cast<unsigned char>(body[k])} << (8 * k);
    body.remove_prefix(size_bytes);
    if (size > body.size()) return std::nullopt;
    const std::string_view text = body.substr(0, size);
    body.remove_prefix(size);
    return text;
}

/// Nothing: it is damaged.
[[nodiscard]] std::optional<parts_of_body> parts_of(std::string_view body) {
    parts_of_body parts;
    if (body.empty() || body.front() != version) {
        parts.failure = body;
        return parts;
    }
    if (body.size() < head_bytes) return std::nullopt;
    parts.levels = static_cast<unsigned char>(body[1]);
    const unsigned marks = static_cast<unsigned char>(body[2]);
    parts.all_lost = (marks & all_lost_mark) != 0;
    body.remove_prefix(head_bytes);
    const auto failure = take_sized(body);
    if (!failure) return std::nullopt;
    parts.failure = *failure;
    if ((marks & stopped_mark) != 0) {
        const auto refusal = take_sized(body);
        if (refusal) parts.over = decode_refusal(*refusal);
        if (!parts.over) return std::nullopt;
    }
    if ((marks & unread_mark) != 0) {
        const auto unread = take_sized(body);
        const auto bytes = unread ? parse_number<std::size_t>(*unread) : std::nullopt;
        if (!bytes) return std::nullopt;
        parts.unread = *bytes;
    }
    parts.received = body;
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
    const stopped_call* stop = stopped_by(failure);
    unsigned marks = paid && paid->all_lost ? all_lost_mark : 0;
    if (stop) marks |= stopped_mark;
    const bool has_unread = paid && paid->unread != 0;
    if (has_unread) marks |= unread_mark;
    std::string body{version, static_cast<char>(std::min(*levels, max_levels)),
                     static_cast<char>(marks)};
    append_sized(body, encoded);
    if (stop) append_sized(body, encode_refusal(stop->over));
    if (has_unread) append_sized(body, std::to_string(paid->unread));
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
        paid->unread = parts->unread;
        if (parts->over) paid = std::make_shared<stopped_call>(*paid, *parts->over);
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
