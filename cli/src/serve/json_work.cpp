#include "serve/json_work.hpp"

#include "serve/json_response.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace heddle::cli {

namespace {

/// A text of this size is parsed in about half a millisecond.
constexpr std::size_t large_bytes = 64 * 1024;
constexpr std::size_t bytes_of_a_value = 8; ///< with what separates it from the next

} // namespace

bool is_large(const json& data) {
    std::size_t left = large_bytes;
    const auto take = [&](std::size_t bytes) {
        if (bytes > left) return false;
        left -= bytes;
        return true;
    };
    std::vector<const json*> rest{&data};
    while (!rest.empty()) {
        const json& each = *rest.back();
        rest.pop_back();
        if (const auto* text = each.get_if<std::string>()) {
            if (!take(text->size())) return true;
        } else if (const auto* items = each.get_if<json::array>()) {
            if (!take(items->size() * bytes_of_a_value)) return true;
            for (const json& item : *items) rest.push_back(&item);
        } else if (const auto* members = each.get_if<json::object>()) {
            if (!take(members->size() * bytes_of_a_value)) return true;
            for (const json_member& member : *members) {
                if (!take(member.name.size())) return true;
                rest.push_back(&member.value);
            }
        }
    }
    return false;
}

coro::task<result<void>> json_work::perform(std::function<void()> work) const {
    // Without cancellation: the work may refer to what the caller holds.
    const coro::call_context context{&loop_, nullptr, {}};
    ports::worker_port::work job = [work = std::move(work)](const std::atomic<bool>&) { work(); };
    result<void> done = co_await workers_.run(std::move(job), context);
    co_return done;
}

coro::task<result<json>> json_work::read(const http::server_request& request) const {
    if (request.body.size() <= large_bytes) co_return json_of(request);
    const auto parsed = std::make_shared<std::optional<result<json>>>();
    std::function<void()> work = [parsed, &request] { parsed->emplace(json_of(request)); };
    const result<void> done = co_await perform(std::move(work));
    if (!done) co_return done.error();
    co_return *std::move(*parsed);
}

coro::task<result<std::string>> json_work::print(json data) const {
    if (!is_large(data)) co_return data.to_string();
    struct parts {
        json data;
        std::string text;
    };
    const auto shared = std::make_shared<parts>();
    shared->data = std::move(data);
    std::function<void()> work = [shared] {
        shared->text = shared->data.to_string();
        shared->data = json(); // freed here: that takes as long
    };
    const result<void> done = co_await perform(std::move(work));
    if (!done) co_return done.error();
    co_return std::move(shared->text);
}

coro::task<result<std::string>> json_work::text_of(answer said) const {
    if (said.value().get_if<std::string>() || !is_large(said.value())) co_return said.text();
    struct parts {
        answer said;
        std::string text;
    };
    const auto shared = std::make_shared<parts>();
    shared->said = std::move(said);
    std::function<void()> work = [shared] {
        shared->text = shared->said.text();
        shared->said = answer();
    };
    const result<void> done = co_await perform(std::move(work));
    if (!done) co_return done.error();
    co_return std::move(shared->text);
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
