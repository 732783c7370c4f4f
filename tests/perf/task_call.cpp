// What a task call costs besides the model: binding, prompt, result, over the real session.
//
//   bench_task_call [CALLS]
#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace heddle;

/// Answers at once.
class instant_llm final : public ports::llm_port {
public:
    std::string_view provider_name() const noexcept override { return "instant"; }
    coro::task<result<ports::chat_response>> complete(const ports::chat_request&,
                                                      coro::call_context) override {
        ports::chat_response response;
        response.model = "instant-1";
        response.text =
            "{\"verdict\": \"good\", \"score\": 7, \"reasons\": [\"short\", \"clear\"]}";
        response.usage = ports::token_usage{100, 20, 0, 0};
        co_return response;
    }
    coro::task<result<ports::chat_response>> stream(const ports::chat_request& request,
                                                    ports::chat_delta_sink,
                                                    coro::call_context context) override {
        return complete(request, context);
    }
};

coro::task<void> evaluate(host::session* session, std::string text, bool* good) {
    result<lang::value> ended = co_await session->evaluate("bench", std::move(text));
    *good = ended.has_value();
    if (!ended) std::fputs(session->render(ended.error()).c_str(), stderr);
}

/// Nanoseconds of one round of the loop `body`.
double measure(const char* definition, const std::string& body, long calls) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    instant_llm llm;
    tasks::model_registry models;
    models.add(llm);
    if (!models.set_default("test")) std::abort();
    tasks::task_system_parts parts;
    parts.models = &models;
    host::engine_parts host_parts;
    host_parts.operators = tasks::operators(parts);
    host::engine engine(loop, std::move(host_parts));
    auto session = engine.new_session().value();
    const std::string text =
        std::string(definition) + "(loop " + std::to_string(calls) + " " + body + ")";
    bool good = false;
    const auto began = std::chrono::steady_clock::now();
    coro::spawn(loop, evaluate(session.get(), text, &good), [](std::exception_ptr) {});
    io.run();
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - began;
    if (!good) std::abort();
    return span.count() / static_cast<double>(calls);
}

} // namespace

int main(int count, char** arguments) {
    const long calls = count > 1 ? std::atol(arguments[1]) : 300'000;
    const std::string row =
        "(define text \"a row of some eighty bytes, as they come out of a file "
        "with many of them\") ";
    const std::string remembered = row +
                                   "(defatom t (params row style) (instructions \"Judge {{row}} "
                                   "in a {{style}} manner.\") (system \"Be brief.\")";
    const std::string alone = ") ";
    const std::string reported =
        " (history_config ((use_session_history true) (record_in_session_history true)))) ";
    const std::string plain = remembered + alone;
    const std::string parsed = row +
                               "(defatom t (params row style) (instructions \"Judge {{row}} "
                               "in a {{style}} manner.\") (output_format ((type \"json\") "
                               "(schema \"object\")))" +
                               alone;
    const std::string held =
        row +
        "(defatom t (params row style) (instructions \"{{row}} {{style}}\") (output_format "
        "((type \"json\") (schema ((type \"object\") (required (\"verdict\")) (properties "
        "((verdict ((type \"string\"))) (score ((type \"integer\")))))))))" +
        alone;
    const std::string call = "(t (row text) (style \"short\"))";
    const double nothing = measure(plain.c_str(), "(sleep 0)", calls);
    std::printf("an effect that does nothing  %8.0f ns\n", nothing);
    std::printf("task call, text              %8.0f ns\n", measure(plain.c_str(), call, calls));
    std::printf("task call, with its history  %8.0f ns\n",
                measure((remembered + reported).c_str(), call, calls / 10));
    std::printf("task call, JSON object       %8.0f ns\n", measure(parsed.c_str(), call, calls));
    std::printf("task call, JSON Schema       %8.0f ns\n", measure(held.c_str(), call, calls));
}
