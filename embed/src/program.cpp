#include <heddle/program.hpp>

#include "job_state.hpp"
#include "program_handle.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/failure.hpp>

#include <boost/asio/system_executor.hpp>

namespace heddle {

namespace {

using embed::call_listener;
using embed::pending_handler;
using embed::piece_buffer;
using embed::posting;
using embed::running_call;

error no_program() {
    return error(runtime_errc::no_function, "there is no program")
        .with_hint("load one with runtime::load");
}

/// Completes the handler of program::call.
class handler_listener final : public call_listener {
public:
    explicit handler_listener(pending_handler<result<answer>> handler)
        : handler_(std::move(handler)) {}
    void on_end(result<answer> ended) override { handler_.complete(std::move(ended)); }
    pending_handler<result<answer>>& handler() noexcept { return handler_; }

private:
    pending_handler<result<answer>> handler_;
};

} // namespace

std::string program::name() const { return handle_ ? handle_->latest()->name() : std::string(); }

std::vector<function_signature> program::functions() const {
    if (!handle_) return {};
    return handle_->latest()->content().functions;
}

std::vector<std::string> program::tasks() const {
    if (!handle_) return {};
    return handle_->latest()->content().tasks;
}

void program::start_call(std::shared_ptr<embed::program_handle> handle, std::string function,
                         json input, const call_options& options,
                         detail::posted_handler<result<answer>> handler) {
    if (!handle) {
        pending_handler<result<answer>>(std::move(handler), posting(boost::asio::system_executor()))
            .complete(no_program());
        return;
    }
    embed::runtime_core& core = handle->core();
    auto listener = std::make_shared<handler_listener>(
        pending_handler<result<answer>>(std::move(handler), core.handler_executor()));
    std::shared_ptr<running_call> call;
    try {
        embed::call_request wanted{handle->current(), std::move(function), std::move(input),
                                   options, std::string(options.tag)};
        call = std::make_shared<running_call>(handle->shared_core(), std::move(wanted), listener,
                                              nullptr);
        listener->handler().on_cancel([weak = std::weak_ptr(call)] {
            if (const auto running = weak.lock()) running->cancel(cancel_reason::user);
        });
    } catch (...) { // no memory: the handler is there
        return listener->on_end(error_of_exception("a call"));
    }
    core.submit(call);
}

job program::start(std::string function, json input, const call_options& options) const {
    auto state = std::make_shared<embed::job_state>();
    // Weak both ways: each side may end first.
    auto slot = std::make_shared<std::weak_ptr<running_call>>();
    const std::size_t room = handle_ ? handle_->core().options().piece_buffer : 0;
    auto pieces = std::make_shared<piece_buffer>(room, [slot] {
        if (const auto running = slot->lock()) running->reopen();
    });
    if (!handle_) {
        state->watch(nullptr, nullptr, pieces);
        pieces->close();
        state->on_end(no_program());
        return job(std::move(state));
    }
    embed::call_request wanted{handle_->current(), std::move(function), std::move(input), options,
                               std::string(options.tag)};
    auto call =
        std::make_shared<running_call>(handle_->shared_core(), std::move(wanted), state, pieces);
    *slot = call;
    state->watch(handle_->shared_core(), call, pieces);
    handle_->core().submit(call);
    return job(std::move(state));
}

} // namespace heddle
