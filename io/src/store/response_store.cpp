#include <heddle/store/response_store.hpp>

#include "store/response_table.hpp"

namespace heddle::store {

namespace {

class sqlite_response_store final : public ports::response_store {
public:
    sqlite_response_store(ports::worker_port& workers, response_store_options options)
        : workers_(workers), table_(std::make_shared<response_table>(std::move(options))) {}

    coro::task<result<std::optional<ports::stored_response>>> find(
        std::string request, coro::call_context context) override {
        using answer = result<std::optional<ports::stored_response>>;
        struct work {
            std::string request;
            std::optional<answer> found;
        };
        const auto mine = std::make_shared<work>(work{std::move(request), {}});
        // What the worker uses is its own: the call may have ended before it.
        const ports::worker_port::work job = [mine,
                                              table = table_](const std::atomic<bool>& abandoned) {
            mine->found = table->find(mine->request, &abandoned);
        };
        const result<void> ran = co_await workers_.run(job, context);
        if (!ran) co_return ran.error();
        co_return std::move(*mine->found);
    }

    coro::task<result<void>> keep(std::string request, ports::stored_response answer,
                                  coro::call_context context) override {
        struct work {
            std::string request;
            ports::stored_response answer;
            result<void> outcome;
        };
        const auto mine = std::make_shared<work>(work{std::move(request), std::move(answer), {}});
        const ports::worker_port::work job = [mine, table = table_](const std::atomic<bool>&) {
            mine->outcome = table->keep(mine->request, mine->answer);
        };
        const result<void> ran = co_await workers_.run(job, context);
        if (!ran) co_return ran.error();
        co_return std::move(mine->outcome);
    }

    coro::task<result<ports::response_store_stats>> stats(coro::call_context context) override {
        const auto mine = std::make_shared<std::optional<result<ports::response_store_stats>>>();
        const ports::worker_port::work job = [mine, table = table_](const std::atomic<bool>&) {
            *mine = table->stats();
        };
        const result<void> ran = co_await workers_.run(job, context);
        if (!ran) co_return ran.error();
        co_return std::move(**mine);
    }

    coro::task<result<std::uint64_t>> clear(std::optional<std::chrono::seconds> age,
                                            coro::call_context context) override {
        const auto mine = std::make_shared<std::optional<result<std::uint64_t>>>();
        const ports::worker_port::work job = [mine, age, table = table_](const std::atomic<bool>&) {
            *mine = table->clear(age);
        };
        const result<void> ran = co_await workers_.run(job, context);
        if (!ran) co_return ran.error();
        co_return std::move(**mine);
    }

private:
    ports::worker_port& workers_;
    std::shared_ptr<response_table> table_;
};

} // namespace

std::unique_ptr<ports::response_store> make_response_store(ports::worker_port& workers,
                                                           response_store_options options) {
    return std::make_unique<sqlite_response_store>(workers, std::move(options));
}

} // namespace heddle::store
