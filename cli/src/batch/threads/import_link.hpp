// Imports of programs on the loop of another thread.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/host/import_port.hpp>

#include <string>
#include <utility>

namespace heddle::cli {

/// Imports through `port` on its loop `home`, so that all loops get the same texts. Threads: any.
class import_link final : public host::import_port {
public:
    /// `port` outlives it.
    import_link(coro::loop_address home, host::import_port& port)
        : home_(std::move(home)), port_(port) {}

    [[nodiscard]] coro::task<result<host::imported_source>> load(
        std::string path, std::string from, coro::call_context context) override;

private:
    coro::loop_address home_;
    host::import_port& port_;
};

} // namespace heddle::cli
