#include <heddle/function_awaitable.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

namespace heddle::detail {

void spawn_function(std::shared_ptr<pending_call> pending, boost::asio::awaitable<void> body) {
    const call by = pending->by();
    boost::asio::co_spawn(
        by.executor(), std::move(body),
        boost::asio::bind_cancellation_slot(
            by.slot(), [pending = std::move(pending)](const std::exception_ptr& thrown) {
                if (thrown) pending->fail(thrown);
            }));
}

} // namespace heddle::detail
