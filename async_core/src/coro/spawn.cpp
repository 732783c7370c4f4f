#include <heddle/coro/spawn.hpp>

#include <boost/asio/co_spawn.hpp>

namespace heddle::coro {

void spawn(event_loop& loop, task<void> work, std::function<void(std::exception_ptr)> done) {
    boost::asio::co_spawn(loop.get_executor(), std::move(work), std::move(done));
}

} // namespace heddle::coro
