// A completion handler that waits for its result.
#pragma once

#include <heddle/posted_handler.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace heddle::embed {

/// The executor, which then never runs at once what it is given.
template <class Executor>
[[nodiscard]] boost::asio::any_completion_executor posting(const Executor& executor) {
    return boost::asio::require(executor, boost::asio::execution::blocking.never);
}

/// Keeps the executor of the handler running until it is completed, which posts it there. A handler
/// that is destroyed without is dropped, as Asio drops those of a context that ends.
/// Threads: one at a time.
template <class... Results>
class pending_handler {
public:
    using handler_type = boost::asio::any_completion_handler<void(Results...)>;

    pending_handler() = default;
    /// `otherwise`: where a handler without an executor of its own is completed; of posting().
    pending_handler(detail::posted_handler<Results...> handler,
                    boost::asio::any_completion_executor otherwise)
        : handler_(std::make_unique<handler_type>(std::move(handler).take())) {
        boost::asio::any_completion_executor home = handler.executor();
        if (!home) {
            if (handler.has_executor()) by_way_ = otherwise;
            home = boost::asio::get_associated_executor(*handler_, std::move(otherwise));
        }
        work_ =
            boost::asio::prefer(std::move(home), boost::asio::execution::outstanding_work.tracked);
    }

    [[nodiscard]] explicit operator bool() const noexcept { return handler_ != nullptr; }

    /// Calls `stop` when the operation is asked to end, on the thread that asks.
    template <class Stop>
    void on_cancel(Stop stop) {
        auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
        if (!slot.is_connected()) return;
        slot.assign([stop = std::move(stop)](boost::asio::cancellation_type_t type) mutable {
            if (type != boost::asio::cancellation_type::none) stop();
        });
    }

    /// Never calls the handler from inside. On return the executor of the handler has it, and this
    /// thread no longer uses that executor: it may go as soon as the handler is done.
    void complete(Results... results) {
        boost::asio::any_completion_executor work = std::move(work_);
        auto finish = [handler = std::move(handler_), work,
                       all = std::tuple<Results...>(std::move(results)...)]() mutable {
            std::apply([&](Results&... each) { std::move (*handler)(std::move(each)...); }, all);
        };
        if (!by_way_) {
            work.execute(std::move(finish));
            return;
        }
        by_way_.execute([work = std::move(work), finish = std::move(finish)]() mutable {
            work.execute(std::move(finish));
        });
    }

private:
    /// Of the runtime, for a handler whose executor may run it at once; else empty. Not one of the
    /// process: nothing would wait for what is on its way there.
    boost::asio::any_completion_executor by_way_;
    boost::asio::any_completion_executor work_;
    /// Never assigned: the move assignment of Boost 1.81 calls itself without end.
    std::unique_ptr<handler_type> handler_;
};

} // namespace heddle::embed
