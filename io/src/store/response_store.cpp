#include <heddle/store/response_store.hpp>

#include "store/response_table.hpp"
#include "store/response_writer.hpp"

#include <heddle/ports/value_of_work.hpp>

#include <utility>

namespace heddle::store {

namespace {

/// One connection reads and another one writes, so that no look waits for a response that is
/// written.
struct connections {
    explicit connections(const response_store_options& options) : reads(options), writes(options) {}
    response_table reads;
    response_writer writes;
};

class sqlite_response_store final : public ports::response_store {
public:
    sqlite_response_store(ports::worker_port& workers, response_store_options options)
        : workers_(workers), options_(std::move(options)),
          file_(std::make_shared<connections>(options_)) {}

    coro::task<result<std::optional<ports::stored_response>>> find(
        std::string request, coro::call_context context) override {
        using found = std::optional<ports::stored_response>;
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        if (found waiting = file_->writes.waiting(request, now() - options_.keep_for.count())) {
            co_return waiting;
        }
        // Shared, as the work is copied.
        const auto sought = std::make_shared<const std::string>(std::move(request));
        std::function<result<found>(const std::atomic<bool>&)> look =
            [sought, file = file_](const std::atomic<bool>& abandoned) {
                return file->reads.find(*sought, &abandoned);
            };
        result<found> outcome =
            co_await ports::value_of_work<found>(workers_, std::move(look), context);
        if (!outcome && outcome.error().code() == make_error_code(errc::io_error)) reported_ = true;
        co_return outcome;
    }

    coro::task<result<void>> keep(std::string request, ports::stored_response response,
                                  coro::call_context context) override {
        if (response.body.size() > options_.max_bytes) co_return result<void>();
        bool added = file_->writes.add(request, response, now());
        if (!added) {
            struct waiting {
                std::string request;
                ports::stored_response response;
            };
            const auto mine =
                std::make_shared<waiting>(waiting{std::move(request), std::move(response)});
            const ports::worker_port::work job =
                [mine, file = file_](const std::atomic<bool>& abandoned) {
                    file->writes.wait_for_room(mine->request, mine->response, abandoned);
                };
            const result<void> ran = co_await workers_.run(job, context);
            if (!ran) co_return ran.error();
            added = file_->writes.add(mine->request, mine->response, now());
        }
        if (auto failure = file_->writes.take_failure()) {
            reported_ = true;
            co_return *std::move(failure);
        }
        if (!added) {
            reported_ = true;
            co_return error(errc::io_error, "response cache " + options_.file +
                                                ": too many responses wait to be written")
                .with_hint("another process keeps the file locked, or the disk is slow");
        }
        co_return result<void>();
    }

    coro::task<result<void>> flush(std::chrono::milliseconds limit,
                                   coro::call_context context) override {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        const ports::worker_port::work job = [limit,
                                              file = file_](const std::atomic<bool>& abandoned) {
            file->writes.wait_until_done(limit, abandoned);
        };
        // All workers may be at other work for long.
        const coro::deadline until(context.loop->now() + limit);
        [[maybe_unused]] const result<void> ran =
            co_await workers_.run(job, context.with_deadline(until));
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        // The number is that of those that are lost: none of them is written after it was reported.
        if (const std::size_t lost = file_->writes.drop_waiting(last_response_wait); lost != 0) {
            co_return error(errc::io_error, "response cache " + options_.file + ": " +
                                                std::to_string(lost) +
                                                " responses could not be written")
                .with_hint("another process keeps the file locked, or the disk is slow");
        }
        // That the file is unusable is reported once to each.
        if (auto failure = file_->writes.take_failure(); failure && !std::exchange(reported_, true))
            co_return *std::move(failure);
        co_return result<void>();
    }

    coro::task<result<ports::response_store_stats>> stats(coro::call_context context) override {
        return ports::value_of_work<ports::response_store_stats>(
            workers_,
            [file = file_](const std::atomic<bool>& abandoned) {
                file->writes.wait_until_done(max_wait, abandoned);
                return file->reads.stats();
            },
            context);
    }

    coro::task<result<std::uint64_t>> clear(std::optional<std::chrono::seconds> age,
                                            coro::call_context context) override {
        return ports::value_of_work<std::uint64_t>(
            workers_,
            [age, file = file_](const std::atomic<bool>& abandoned) {
                file->writes.wait_until_done(max_wait, abandoned);
                return file->reads.clear(age);
            },
            context);
    }

private:
    static constexpr std::chrono::milliseconds max_wait{10'000};
    /// For the one being written.
    static constexpr std::chrono::milliseconds last_response_wait{250};

    [[nodiscard]] std::int64_t now() const {
        return std::chrono::duration_cast<std::chrono::seconds>(options_.clock().time_since_epoch())
            .count();
    }

    ports::worker_port& workers_;
    response_store_options options_;
    std::shared_ptr<connections> file_;
    bool reported_ = false; ///< a call has returned why the file is unusable
};

} // namespace

std::unique_ptr<ports::response_store> make_response_store(ports::worker_port& workers,
                                                           response_store_options options) {
    return std::make_unique<sqlite_response_store>(workers, std::move(options));
}

} // namespace heddle::store
