// Functions of the host that return boost::asio::awaitable.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/function_binding.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace HEDDLE_PUBLIC heddle {
namespace detail {

/// Runs the coroutine on the executor of the call. Cancellation of the call cancels the operation
/// that the coroutine awaits. An exception fails the call.
void spawn_function(std::shared_ptr<pending_call> pending, boost::asio::awaitable<void> body);

/// Owns what the coroutine of the function refers to: the function itself and its arguments.
template <class T, class F, class Arguments>
boost::asio::awaitable<void> await_function(std::shared_ptr<pending_call> pending,
                                            std::shared_ptr<F> function, Arguments arguments) {
    boost::asio::awaitable<T> body =
        std::apply([&](auto&... each) { return (*function)(std::move(each)...); }, arguments);
    if constexpr (std::is_void_v<T>) {
        co_await std::move(body);
        pending->complete(json());
    } else {
        T value = co_await std::move(body);
        pending->complete(returned_value<result<T>>::result_of(std::move(value)));
    }
}
template <class T, class F, class Arguments>
boost::asio::awaitable<void> await_result(std::shared_ptr<pending_call> pending,
                                          std::shared_ptr<F> function, Arguments arguments) {
    boost::asio::awaitable<result<T>> body =
        std::apply([&](auto&... each) { return (*function)(std::move(each)...); }, arguments);
    result<T> outcome = co_await std::move(body);
    pending->complete(returned_value<result<T>>::result_of(std::move(outcome)));
}

template <class T>
struct returned_value<boost::asio::awaitable<T>> {
    using type = T;
    static constexpr bool later = true;
    template <class F, class... A>
    static void run(const std::shared_ptr<pending_call>& pending,
                    const std::shared_ptr<F>& function, A&&... arguments) {
        spawn_function(pending, await_function<T>(
                                    pending, function,
                                    std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)));
    }
};
template <class T>
struct returned_value<boost::asio::awaitable<result<T>>> {
    using type = T;
    static constexpr bool later = true;
    template <class F, class... A>
    static void run(const std::shared_ptr<pending_call>& pending,
                    const std::shared_ptr<F>& function, A&&... arguments) {
        spawn_function(pending, await_result<T>(
                                    pending, function,
                                    std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)));
    }
};

} // namespace detail
} // namespace heddle
