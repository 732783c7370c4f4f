#include <heddle/providers/cassette/cassette.hpp>

#include "cassette/cassette_line.hpp"

#include <heddle/ports/forwarding_llm_port.hpp>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

class recording_provider final : public ports::forwarding_llm_port {
public:
    recording_provider(cassette_recorder& recorder, ports::llm_port& inner)
        : forwarding_llm_port(inner), recorder_(recorder) {}

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires it
    task<result<chat_response>> complete(const chat_request& request,
                                         call_context context) override {
        result<chat_response> outcome = co_await inner_.complete(request, context);
        keep(request, outcome, {});
        co_return outcome;
    }

    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
    task<result<chat_response>> stream(const chat_request& request, ports::chat_delta_sink on_delta,
                                       call_context context) override {
        std::vector<std::size_t> pieces;
        ports::chat_delta_sink noting = [&pieces, &on_delta](std::string_view piece) {
            pieces.push_back(piece.size());
            return on_delta ? on_delta(piece) : result<void>();
        };
        result<chat_response> outcome = co_await inner_.stream(request, std::move(noting), context);
        keep(request, outcome, pieces);
        co_return outcome;
    }

private:
    void keep(const chat_request& request, const result<chat_response>& outcome,
              const std::vector<std::size_t>& pieces) {
        if (!outcome && outcome.error().is_cancelled()) return;
        // No call: a look into the cache that found nothing.
        if (!outcome && request.scheduling.cache == ports::cache_use::kept) return;
        recorder_.add(cassette_call(provider_name(), request, outcome, pieces));
        ++recorder_.recorded_;
    }

    cassette_recorder& recorder_;
};

cassette_recorder::cassette_recorder(sink lines, std::string_view default_model,
                                     std::vector<secret> keys)
    : lines_(std::move(lines)), secrets_(std::move(keys), "[redacted]") {
    add(cassette_header(default_model));
}

std::unique_ptr<ports::llm_port> cassette_recorder::record(ports::llm_port& inner) {
    return std::make_unique<recording_provider>(*this, inner);
}

void cassette_recorder::add(std::string line) {
    if (failure_) return;
    if (auto written = lines_(without_secrets(std::move(line), secrets_)); !written)
        failure_ = std::move(written).error();
}

} // namespace heddle::providers
