#include "remote_processes.hpp"

#include <heddle/coro/run_on.hpp>

#include <utility>

namespace heddle::setup {

namespace {

class remote_processes final : public ports::process_port {
public:
    remote_processes(coro::loop_address home, ports::process_port& port)
        : home_(std::move(home)), port_(port) {}

    [[nodiscard]] coro::task<result<ports::process_result>> run(
        ports::process_request request, coro::call_context context) override {
        return coro::run_on(
            home_, context,
            [port = &port_, asked = std::move(request)](coro::call_context there) mutable {
                return port->run(std::move(asked), there);
            });
    }

private:
    coro::loop_address home_;
    ports::process_port& port_;
};

} // namespace

std::unique_ptr<ports::process_port> make_remote_processes(coro::loop_address home,
                                                           ports::process_port& port) {
    return std::make_unique<remote_processes>(std::move(home), port);
}

} // namespace heddle::setup
