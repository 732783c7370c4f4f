// JSON of any size beside the loop.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/http/response_writer.hpp>
#include <heddle/http/server_request.hpp>
#include <heddle/json.hpp>
#include <heddle/ports/tree_port.hpp>

#include <functional>
#include <string>
#include <vector>

namespace heddle::cli {

/// Parses and prints JSON: what is small at once, what is large on a worker, so that one request
/// does not delay the others.
/// The calls are not cancelled: how long they take follows from the largest body.
/// Lifetime: `workers` and `loop` outlive it. Threads: the loop's only.
class json_work {
public:
    json_work(ports::worker_port& workers, coro::event_loop& loop) noexcept
        : workers_(workers), loop_(loop) {}

    /// As json_of. The request outlives the call. Errors: also internal, without memory.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<result<json>> read(const http::server_request& request) const;
    /// In one line. Errors: internal, without memory.
    [[nodiscard]] coro::task<result<std::string>> print(json data) const;
    /// answer::text. Errors: internal, without memory.
    [[nodiscard]] coro::task<result<std::string>> text_of(answer said) const;
    /// As heddle::cli::send_json.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): awaited at once
    [[nodiscard]] coro::task<void> send(http::response_writer& response, int status, json body,
                                        std::vector<http::response_field> fields = {}) const;

private:
    template <class Value>
    [[nodiscard]] coro::task<result<Value>> perform(std::function<result<Value>()> work) const;
    /// Prints the data, which is freed on the worker.
    template <class Data>
    [[nodiscard]] coro::task<result<std::string>> print_on_worker(
        Data data, std::string (*text_of)(const Data&)) const;

    ports::worker_port& workers_;
    coro::event_loop& loop_;
};

/// Whether the text of the data, or what it consists of, is too much for the loop. Bounded work.
[[nodiscard]] bool is_large(const json& data);

} // namespace heddle::cli
