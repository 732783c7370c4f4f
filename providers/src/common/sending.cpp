#include "common/sending.hpp"

#include <heddle/ports/send_gate.hpp>

#include <utility>

namespace heddle::providers {

using ports::chat_request;

coro::task<result<std::unique_ptr<const chat_request>>> admit(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive the call
    const chat_request& request, const std::optional<error>& failed,
    const std::vector<ports::lost_request>& lost,
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    coro::call_context context) {
    std::vector<ports::lost_request> all = lost;
    if (failed) ports::add_lost(all, *failed);
    const result<ports::send_terms> terms =
        co_await request.sends->before_sending(request, all, context);
    if (!terms) co_return terms.error();
    const auto& most = terms->max_output_tokens;
    if (!most || (request.max_output_tokens && *request.max_output_tokens <= *most))
        co_return std::unique_ptr<const chat_request>();
    auto bounded = std::make_unique<chat_request>(request);
    bounded->max_output_tokens = most;
    co_return std::unique_ptr<const chat_request>(std::move(bounded));
}

} // namespace heddle::providers
