#include "batch/threads/import_link.hpp"

#include <heddle/coro/run_on.hpp>

namespace heddle::cli {

coro::task<result<host::imported_source>> import_link::load(std::string path, std::string from,
                                                            coro::call_context context) {
    return coro::run_on(home_, context,
                        [port = &port_, path = std::move(path),
                         from = std::move(from)](coro::call_context there) mutable {
                            return port->load(std::move(path), std::move(from), there);
                        });
}

} // namespace heddle::cli
