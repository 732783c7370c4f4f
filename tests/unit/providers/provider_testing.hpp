// What the tests of the providers share.
#pragma once

#include "test_paths.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <hang_guard.hpp>

#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::filesystem::path wire_data(const std::string& name) {
    return std::filesystem::path(heddle::test_paths::data_folder()) / "wire" / "openai-chat" / name;
}

inline std::filesystem::path source_file(const std::string& name) {
    return std::filesystem::path(heddle::test_paths::source_folder()) / name;
}

/// A loop of its own for one test. run() gives up at the guard against hangs.
struct test_loop {
    explicit test_loop(coro::event_loop::time passes = coro::event_loop::time::real)
        : loop(io, passes) {}

    boost::asio::io_context io{1};
    coro::event_loop loop;

    coro::call_context context(coro::cancel_source* cancel = nullptr, coro::deadline until = {}) {
        return {&loop, cancel, until};
    }

    /// Runs the loop until `work` has ended and returns its value.
    template <class T>
    T run(coro::task<T> work) {
        std::optional<T> value;
        std::exception_ptr thrown;
        bool ended = false;
        coro::spawn(loop, keep(std::move(work), value), [&](std::exception_ptr failure) {
            thrown = failure;
            ended = true;
        });
        io.restart();
        if (loop.passes() == coro::event_loop::time::virtual_) {
            loop.run();
        } else {
            const auto give_up = coro::clock::now() + hang_guard::limit;
            while (!ended && io.run_one_until(give_up) != 0) {}
        }
        if (thrown) std::rethrow_exception(thrown);
        if (!ended) throw std::runtime_error("the work of this test does not end");
        return std::move(*value);
    }

private:
    template <class T>
    static coro::task<void> keep(coro::task<T> work, std::optional<T>& value) {
        T result = co_await std::move(work);
        value.emplace(std::move(result));
    }
};

/// Keeps every line.
class recording_log final : public log_port {
public:
    bool enabled(log_level) const noexcept override { return true; }
    void write(log_level, std::string_view, std::string_view message) noexcept override {
        text += message;
        text += '\n';
    }
    std::string text;
};

class fake_origin final : public ports::http_origin {
public:
    explicit fake_origin(std::string name) : name_(std::move(name)) {}
    const std::string& name() const noexcept override { return name_; }

private:
    std::string name_;
};

/// Answers from a list, and keeps the requests.
class fake_http final : public ports::http_port {
public:
    struct response {
        ports::http_response head_and_body;
        std::size_t piece = 0;          ///< size of the pieces of a stream; 0: all at once
        std::optional<error> ends_with; ///< after the body
        std::uint32_t resent = 0;       ///< how often the client reports that it sent again
        bool sent = true;               ///< false: it ends before, with `ends_with`
    };

    result<std::shared_ptr<ports::http_origin>> origin(std::string_view url) override {
        return std::shared_ptr<ports::http_origin>(std::make_shared<fake_origin>(std::string(url)));
    }
    coro::task<result<ports::http_response>> exchange(ports::http_request request,
                                                      coro::call_context) override {
        requests.push_back(std::move(request));
        response next = take();
        if (requests.back().resent != nullptr) *requests.back().resent += next.resent;
        if (!next.sent) co_return *std::move(next.ends_with);
        if (requests.back().sent != nullptr) requests.back().sent->on_sent();
        if (next.ends_with) {
            if (requests.back().received != nullptr)
                *requests.back().received = next.head_and_body.body.size();
            co_return *std::move(next.ends_with);
        }
        co_return std::move(next.head_and_body);
    }
    coro::task<result<ports::http_response>> stream(ports::http_request request,
                                                    ports::http_head_sink on_head,
                                                    ports::http_body_sink on_piece,
                                                    coro::call_context) override {
        requests.push_back(std::move(request));
        response next = take();
        if (requests.back().resent != nullptr) *requests.back().resent += next.resent;
        if (!next.sent) co_return *std::move(next.ends_with);
        if (requests.back().sent != nullptr) requests.back().sent->on_sent();
        const std::string body = std::exchange(next.head_and_body.body, {});
        result<void> taken = on_head(next.head_and_body);
        const std::size_t step =
            next.piece == 0 ? std::max<std::size_t>(body.size(), 1) : next.piece;
        for (std::size_t at = 0; taken && at < body.size(); at += step) {
            // A copy of the right size: reading past a piece shows under a sanitizer.
            const std::string piece = body.substr(at, step);
            taken = on_piece(piece);
        }
        if (!taken) co_return std::move(taken).error();
        if (next.ends_with) co_return *std::move(next.ends_with);
        co_return std::move(next.head_and_body);
    }
    coro::task<void> close() override { co_return; }
    ports::http_counters counters() const noexcept override { return {}; }

    void reply(int status, std::string body,
               std::vector<std::pair<std::string, std::string>> headers = {
                   {"content-type", "application/json"}}) {
        response next;
        next.head_and_body.status = status;
        next.head_and_body.headers = std::move(headers);
        next.head_and_body.body = std::move(body);
        responses.push_back(std::move(next));
    }

    std::deque<response> responses;
    std::vector<ports::http_request> requests;

private:
    response take() {
        if (responses.empty()) throw std::logic_error("the fake has no response left");
        response next = std::move(responses.front());
        responses.pop_front();
        return next;
    }
};

inline ports::chat_request user_request(std::string text, std::string model = "gpt-4.1-mini") {
    ports::chat_request request;
    request.model = std::move(model);
    request.messages.push_back({ports::chat_role::user, std::move(text), {}, {}, {}});
    return request;
}

} // namespace heddle::testing
