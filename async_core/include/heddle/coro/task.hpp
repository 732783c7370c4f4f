// The coroutine type of heddle.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace heddle::coro {

/// The concrete executor of a shard's loop: type erasure costs a third of the calls per second.
using executor = boost::asio::io_context::executor_type;

/// A lazily started coroutine on one shard. Plain asio::awaitable: it resumes in a loop, so a
/// million ready awaits do not grow the native stack.
template <class T = void>
using task = boost::asio::awaitable<T, executor>;

using use_task_t = boost::asio::use_awaitable_t<executor>;
inline constexpr use_task_t use_task{};

/// Continues a coroutine that awaits an operation without a result. The one use of a name that Asio
/// does not document.
using task_handler = boost::asio::async_result<use_task_t, void()>::handler_type;

} // namespace heddle::coro
