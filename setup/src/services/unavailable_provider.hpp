// A named service that cannot be used.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <string>
#include <string_view>

namespace heddle::setup {

/// Represents a service with invalid settings or without its key in a registry: a run that does not
/// call it is not affected, and a call fails with the reason.
class unavailable_provider final : public ports::llm_port {
public:
    /// `reason`: an error of llm_errc::configuration.
    unavailable_provider(std::string name, error reason)
        : name_(std::move(name)), reason_(std::move(reason)) {}

    std::string_view provider_name() const noexcept override { return name_; }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires it
    coro::task<result<ports::chat_response>> complete(const ports::chat_request&,
                                                      coro::call_context) override {
        co_return reason_;
    }
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    coro::task<result<ports::chat_response>> stream(const ports::chat_request&,
                                                    ports::chat_delta_sink,
                                                    coro::call_context) override {
        co_return reason_;
    }

private:
    std::string name_;
    error reason_;
};

} // namespace heddle::setup
