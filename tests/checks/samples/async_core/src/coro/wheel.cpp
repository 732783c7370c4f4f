#include <boost/asio/experimental/parallel_group.hpp>
#include <heddle/coro/task.hpp>
void start() { co_spawn(loop, work(), detached); }
