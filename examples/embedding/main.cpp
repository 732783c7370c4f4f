// Workflows inside an asynchronous C++ program: its own io_context, its own values going in and
// out.
//
// The program answers two requests side by side on one thread. Each has a session of its own, and
// the model is the scripted one, in process: no key and no network. Any llm_port takes its place;
// those of a heddle.toml come with heddle/setup/service_set.hpp.

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/scripted/provider.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr const char* rules = R"json({"rules": [
    {"match": "^Summarise: (?P<text>.*)$", "delay_ms": 20,
     "template": "{{words@text}} words that begin with '{{first@text:^(\\S+)}}'"}]})json";

constexpr const char* workflow = R"((defatom summarise (params text)
  (instructions "Summarise: {{text}}"))

(define (answer customer texts)
  (string-append customer ": "
    (string-join (map (lambda (text) (content (summarise text))) texts) "; ")))
)";

/// Where the answer to one request goes.
struct reply {
    bool done = false;
    std::string text; ///< the answer, or what went wrong
};

/// One request of the server. Parameters by value or as pointers to what outlives the coroutine.
heddle::coro::task<void> handle(heddle::host::engine* engine, std::string customer, reply* answer) {
    auto opened = engine->new_session();
    if (!opened) co_return;
    heddle::host::session& session = **opened;

    // Bounds of this request: whatever it waits for ends with the deadline.
    heddle::host::run_options bounds;
    bounds.until = heddle::coro::deadline(engine->loop().now() + std::chrono::seconds(5));

    auto loaded = co_await session.evaluate("workflow.heddle", workflow, bounds);
    if (!loaded) {
        answer->text = session.render(loaded.error());
        co_return;
    }

    // Values of ours become values of the workflow; they belong to the session's memory.
    const heddle::lang::value texts[] = {
        heddle::lang::make_string(session.memory(), "warp and weft"),
        heddle::lang::make_string(session.memory(), "a heddle lifts"),
    };
    std::vector<heddle::lang::value> arguments{
        heddle::lang::make_string(session.memory(), customer),
        heddle::lang::make_list(session.memory(), texts),
    };
    auto said = co_await session.call(*session.global("answer"), std::move(arguments), bounds);
    answer->done = said.has_value();
    answer->text = said ? heddle::lang::string_bytes(*said) : session.render(said.error());
}

} // namespace

int main() {
    boost::asio::io_context context; // the server's own loop, with whatever else it does
    heddle::coro::event_loop loop(context);

    auto parsed = heddle::scripted::engine::parse(rules, "rules").value();
    auto model = heddle::scripted::make_provider(parsed, {}, heddle::null_log());
    heddle::tasks::model_registry models;
    models.add(*model);
    if (!models.set_default("scripted:any")) return 1;

    heddle::tasks::task_system_parts tasks;
    tasks.models = &models;
    heddle::host::engine_parts parts;
    parts.operators = heddle::tasks::operators(tasks);
    heddle::host::engine engine(loop, parts);

    reply first;
    reply second;
    heddle::coro::spawn(loop, handle(&engine, "first", &first), [](std::exception_ptr) {});
    heddle::coro::spawn(loop, handle(&engine, "second", &second), [](std::exception_ptr) {});
    context.run();
    std::cout << first.text << "\n" << second.text << "\n";
    return first.done && second.done ? 0 : 1;
}
