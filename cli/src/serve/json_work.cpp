#include "serve/json_work.hpp"

#include "serve/json_response.hpp"

#include <heddle/ports/value_of_work.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace heddle::cli {

namespace {

/// A text of this size is parsed in about half a millisecond.
constexpr std::size_t large_bytes = 64 * 1024;
constexpr std::size_t bytes_of_a_value = 8; ///< with what separates it from the next
constexpr unsigned max_depth = 100;         ///< what is nested deeper counts as large

/// Measures data until a bound is exceeded, without memory of its own.
class size_bound {
public:
    explicit size_bound(std::size_t bytes) noexcept : left_(bytes) {}

    [[nodiscard]] bool holds(const json& data, unsigned depth) {
        if (depth == max_depth) return false;
        if (const auto* text = data.get_if<std::string>()) return take(text->size());
        if (const auto* items = data.get_if<json::array>()) {
            return take(items->size() * bytes_of_a_value) &&
                   std::all_of(items->begin(), items->end(),
                               [&](const json& each) { return holds(each, depth + 1); });
        }
        if (const auto* members = data.get_if<json::object>()) {
            return take(members->size() * bytes_of_a_value) &&
                   std::all_of(members->begin(), members->end(), [&](const json_member& each) {
                       return take(each.name.size()) && holds(each.value, depth + 1);
                   });
        }
        return true;
    }

private:
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        if (bytes > left_) return false;
        left_ -= bytes;
        return true;
    }
    std::size_t left_;
};

} // namespace

bool is_large(const json& data) {
    size_bound bound(large_bytes);
    return !bound.holds(data, 0);
}

template <class Value>
coro::task<result<Value>> json_work::perform(std::function<result<Value>()> work) const {
    // Without cancellation: the work may refer to what the caller holds.
    return ports::value_of_work<Value>(
        workers_, [work = std::move(work)](const std::atomic<bool>&) { return work(); },
        coro::call_context{&loop_, nullptr, {}});
}

template <class Data>
coro::task<result<std::string>> json_work::print_on_worker(
    Data data, std::string (*text_of)(const Data&)) const {
    const auto shared = std::make_shared<Data>(std::move(data));
    return perform<std::string>([shared, text_of]() -> result<std::string> {
        std::string text = text_of(*shared);
        *shared = Data(); // freed here: that takes as long
        return text;
    });
}

coro::task<result<json>> json_work::read(const http::server_request& request) const {
    if (request.body.size() <= large_bytes) co_return json_of(request);
    std::function<result<json>()> parse = [&request] { return json_of(request); };
    result<json> parsed = co_await perform(std::move(parse));
    co_return parsed;
}

coro::task<result<std::string>> json_work::print(json data) const {
    if (!is_large(data)) co_return data.to_string();
    result<std::string> text = co_await print_on_worker<json>(
        std::move(data), [](const json& all) { return all.to_string(); });
    co_return text;
}

coro::task<result<std::string>> json_work::text_of(answer said) const {
    if (said.value().get_if<std::string>() || !is_large(said.value())) co_return said.text();
    result<std::string> text = co_await print_on_worker<answer>(
        std::move(said), [](const answer& all) { return all.text(); });
    co_return text;
}

coro::task<void> json_work::send(http::response_writer& response, int status, json body,
                                 std::vector<http::response_field> fields) const {
    result<std::string> text = co_await print(std::move(body));
    if (!text) {
        status = 500;
        text = error_json(status, text.error().message()).to_string();
    }
    co_await send_text(response, status, *std::move(text), std::move(fields));
}

} // namespace heddle::cli
