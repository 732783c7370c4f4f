// A completion handler that waits for its result.
#pragma once

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace heddle::embed {

/// Keeps the executor of the handler running until it is completed, which posts it there. A handler
/// that is destroyed without is dropped, as Asio drops those of a context that ends.
/// Threads: one at a time.
template <class... Results>
class pending_handler {
public:
    using handler_type = boost::asio::any_completion_handler<void(Results...)>;

    pending_handler() = default;
    /// `otherwise`: where a handler without an executor of its own is completed.
    pending_handler(handler_type handler, boost::asio::any_completion_executor otherwise)
        : handler_(std::make_unique<handler_type>(std::move(handler))) {
        const boost::asio::any_completion_executor home =
            boost::asio::get_associated_executor(*handler_, std::move(otherwise));
        constexpr auto tracked = boost::asio::execution::outstanding_work.tracked;
        if (const auto* loop = home.template target<boost::asio::io_context::executor_type>())
            loop_ = boost::asio::prefer(boost::asio::any_io_executor(*loop), tracked);
        else work_ = boost::asio::prefer(home, tracked);
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

    /// Never calls the handler from inside.
    void complete(Results... results) {
        auto finish = [handler = std::move(handler_), work = work_,
                       all = std::tuple<Results...>(std::move(results)...)]() mutable {
            std::apply([&](Results&... each) { std::move (*handler)(std::move(each)...); }, all);
        };
        if (loop_) return boost::asio::post(std::exchange(loop_, {}), std::move(finish));
        // An any_completion_executor may run it at once, inside of the operation that completes it.
        boost::asio::any_completion_executor work = std::move(work_);
        boost::asio::post(boost::asio::system_executor(),
                          [work = std::move(work), finish = std::move(finish)]() mutable {
                              work.execute(std::move(finish));
                          });
    }

private:
    boost::asio::any_io_executor loop_;         ///< of an io_context: it is posted there at once
    boost::asio::any_completion_executor work_; ///< in place of it
    /// Never assigned: the move assignment of Boost 1.81 calls itself without end.
    std::unique_ptr<handler_type> handler_;
};

} // namespace heddle::embed
