#include <boost/asio.hpp> // expect: third-party
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp> // expect: public-header
