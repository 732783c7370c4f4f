#include "warm_session.hpp"

#include "plain_error.hpp"

#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <algorithm>

namespace heddle::embed {

namespace {

tasks::session_tasks* tasks_of(host::session& session) {
    return dynamic_cast<tasks::session_tasks*>(session.operators());
}

/// Each session evaluates the program anew.
error call_outside_of_functions(const std::string& program) {
    return lang::task_error("configuration_error",
                            program +
                                " calls a task outside of its functions: each session of a "
                                "runtime evaluates the program once")
        .with_hint("call the task in a function, or pass its result to the function");
}

} // namespace

warm_session::~warm_session() {
    baseline_.reset(); // it holds values of the session
}

void warm_session::add_to(tasks::task_system_parts& parts) {
    parts.observer = &meter_;
    parts.delta_gate = &gate_;
    parts.wants_deltas = [this] { return gate_.reader != nullptr; };
    parts.on_delta = [this](const tasks::task_delta& delta) -> result<void> {
        if (gate_.reader) gate_.reader->add(delta.task, delta.call, delta.text);
        return {};
    };
}

coro::task<result<void>> warm_session::load(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    host::engine& engine, std::shared_ptr<const program_version> program,
    host::run_options bounds) {
    auto opened = engine.new_session();
    if (!opened) co_return plain_error(opened.error());
    session_ = *std::move(opened);
    baseline_.emplace(*session_);
    tasks::session_tasks* known = tasks_of(*session_);
    if (known) known->refuse_calls(call_outside_of_functions(program->name()));
    result<lang::value> loaded =
        co_await session_->evaluate(program->name(), program->text(), bounds);
    if (known) known->refuse_calls({});
    if (!loaded) co_return plain_error(loaded.error(), *session_);
    loaded = lang::value();
    baseline_->note();
    co_return result<void>();
}

void warm_session::set_budget(std::optional<double> usd, std::optional<std::uint64_t> calls) {
    if (tasks::session_tasks* known = tasks_of(*session_)) known->renew_budget(usd, calls);
}

std::vector<function_signature> warm_session::signatures() {
    std::vector<function_signature> found;
    lang::realm& realm = session_->realm();
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        if (realm.is_library_global(i) || !realm.global(i).is(lang::kind::closure)) continue;
        const lang::function& code = *lang::closure_of(realm.global(i))->code;
        found.push_back({std::string(realm.global_name(i)), code.parameter_names, code.required,
                         code.has_rest, code.doc});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    return found;
}

} // namespace heddle::embed
