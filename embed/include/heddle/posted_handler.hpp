// Completion handlers of the host, which are posted to their executors.
#pragma once

#include <heddle/base/visibility.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/any_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/require.hpp>

#include <type_traits>
#include <utility>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

/// A handler with its executor, which never runs the handler inline when the operation completes.
/// The executor is required to post while its type is known: any_completion_executor does not
/// support that requirement.
template <class... Results>
class posted_handler {
public:
    using handler_type = boost::asio::any_completion_handler<void(Results...)>;

    template <class Handler>
    requires(!std::is_same_v<std::decay_t<Handler>, posted_handler>)
        posted_handler(Handler handler) // NOLINT(google-explicit-constructor): a handler in itself
        : executor_(posting_executor_of(handler)), is_bound_(is_bound<Handler>),
          handler_(std::move(handler)) {}

    /// Empty for a handler without an associated executor, and for an any_completion_handler, whose
    /// executor may run it inline.
    [[nodiscard]] const boost::asio::any_completion_executor& executor() const noexcept {
        return executor_;
    }
    /// Whether the handler has an associated executor.
    [[nodiscard]] bool has_executor() const noexcept { return is_bound_; }
    [[nodiscard]] handler_type take() && { return std::move(handler_); }

private:
    using no_executor = boost::asio::execution::any_executor<>;
    template <class Handler>
    using executor_of = boost::asio::associated_executor_t<Handler, no_executor>;
    template <class Handler>
    static constexpr bool is_bound = !std::is_same_v<executor_of<Handler>, no_executor>;
    template <class Handler>
    static constexpr bool can_post =
        boost::asio::can_require_v<executor_of<Handler>,
                                   boost::asio::execution::blocking_t::never_t>;

    template <class Handler>
    [[nodiscard]] static boost::asio::any_completion_executor posting_executor_of(
        const Handler& handler) {
        if constexpr (is_bound<Handler> && can_post<Handler>) {
            return boost::asio::require(boost::asio::get_associated_executor(handler),
                                        boost::asio::execution::blocking.never);
        } else {
            return {};
        }
    }

    boost::asio::any_completion_executor executor_;
    bool is_bound_;
    handler_type handler_;
};

} // namespace detail
} // namespace heddle
