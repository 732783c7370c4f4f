#include "tasks/context/context_lookup.hpp"

#include "tasks/context/model_choice.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/task_source.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

using lang::value;

void warn(const lookup_caller& caller, std::string text) {
    log_port& log = caller.session->engine().log();
    if (log.enabled(log_level::warn)) log.write(log_level::warn, "context", text);
    if (caller.warnings) caller.warnings->push_back(std::move(text));
}

/// The task of the strategy: the user's when there is one, else the built-in one, registered on
/// first use.
[[nodiscard]] result<registered_task> matching_task(task_source& tasks,
                                                    ports::matching_strategy strategy) {
    task_template built_in = matching_template(strategy);
    if (!tasks.registry().find(built_in.name)) {
        const std::string name = built_in.name;
        HEDDLE_TRY(const value callable, tasks.add(std::move(built_in)));
    }
    return *tasks.registry().find(matching_task_name(strategy));
}

/// The clauses of one call: what the template declares of what there is, and no context of its own.
[[nodiscard]] host::effect_call call_of(const registered_task& chooser, const lookup_caller& caller,
                                        const ports::memory_request& request,
                                        std::string candidates) {
    lang::heap& memory = caller.session->memory();
    host::effect_call call{*caller.session, {}, {}, caller.context};
    std::vector<value> names;
    const auto add = [&](std::string_view name, value item) {
        names.push_back(memory.symbol(name));
        call.request.arguments.push_back(std::move(item));
    };
    const auto offer = [&](std::string_view name, std::string_view text) {
        const auto& known = chooser.task->input_names;
        if (chooser.task->declared.declares_inputs &&
            std::find(known.begin(), known.end(), name) == known.end()) {
            return;
        }
        add(name, lang::make_string(memory, text));
    };
    offer("query", request.query);
    offer("task", task_text(request));
    offer("candidates", candidates);
    add("files", value::empty_list());
    const std::array<value, 2> inherit{memory.symbol("inherit_context"), memory.symbol("none")};
    const std::array<value, 2> fresh{memory.symbol("fresh_context"), memory.symbol("disabled")};
    const std::array<value, 2> settings{lang::make_list(memory, inherit),
                                        lang::make_list(memory, fresh)};
    add("context", lang::make_list(memory, settings));
    call.request.callee = chooser.callable;
    call.request.names = lang::make_list(memory, names);
    call.request.span = caller.span;
    call.scope = caller.scope.open(memory, [&](lang::dynamic_scope& scope) {
        scope.settings = lang::map_put(memory, std::move(scope.settings), "on-failure",
                                       lang::make_string(memory, "return"));
        scope.choosing_files = true;
    });
    return call;
}

/// What the shards of one look-up share; outlives them.
struct choosing {
    const lookup_caller& caller;
    const ports::memory_request& request;
    task_source& tasks;
    registered_task chooser;
    ports::memory_response& response;
    std::vector<choice> choices; ///< one for each candidate
    std::size_t excerpt_bytes = 0;
};

/// Asks about candidates [from, to). Only cancellation is an error.
coro::task<result<void>> choose_shard(choosing& all, std::size_t from, std::size_t to,
                                      coro::call_context context) {
    const std::span<const ports::memory_match> shard(all.response.matches.data() + from, to - from);
    host::effect_call call = call_of(all.chooser, all.caller, all.request,
                                     describe_candidates(shard, all.excerpt_bytes));
    call.context = context;
    result<value> answered = co_await all.tasks.call(std::move(call));
    if (!answered && answered.error().is_cancelled()) co_return std::move(answered).error();
    const std::span<choice> choices(all.choices.data() + from, to - from);
    std::string trouble =
        answered ? read_choices(*answered, shard, choices) : answered.error().message();
    if (!trouble.empty()) {
        warn(all.caller, "the files of a look-up were not chosen by a model: " + trouble);
    }
    co_return result<void>();
}

coro::task<result<void>> choose(ports::memory_response& response, const model_matching& matching,
                                const ports::memory_request& request, const lookup_caller& caller) {
    auto* tasks = dynamic_cast<task_source*>(caller.session->operators());
    if (!tasks || response.matches.empty()) co_return result<void>();
    const auto strategy = request.strategy.value_or(ports::matching_strategy::content);
    auto chooser = matching_task(*tasks, strategy);
    if (!chooser) {
        warn(caller, "no model chooses among files: " + chooser.error().message());
        co_return result<void>();
    }
    choosing all{caller, request, *tasks, *std::move(chooser), response, {}, 0};
    if (strategy == ports::matching_strategy::content) all.excerpt_bytes = matching.excerpt_bytes;
    all.choices.resize(response.matches.size());
    const std::size_t step = std::max<std::size_t>(1, matching.shard);
    coro::nursery shards(caller.context);
    for (std::size_t from = 0; from < response.matches.size(); from += step) {
        const std::size_t to = std::min(from + step, response.matches.size());
        shards.start([&] { return choose_shard(all, from, to, shards.context()); });
    }
    result<void> ended = co_await shards.join();
    if (!ended) co_return ended;
    apply_choices(response, all.choices);
    co_return result<void>();
}

} // namespace

coro::task<result<ports::memory_response>> look_up_context(ports::memory_port* memory,
                                                           model_matching matching,
                                                           ports::memory_request request,
                                                           lookup_caller caller) {
    const bool staged = matching.enabled && !caller.scope->choosing_files;
    ports::memory_request first = request;
    if (staged) {
        first.limit = matching.candidates;
        first.include_content = request.strategy != ports::matching_strategy::metadata;
    }
    result<ports::memory_response> response =
        co_await memory->relevant_files(std::move(first), caller.context);
    if (!response || !staged || response->error) co_return response;
    result<void> chosen = co_await choose(*response, matching, request, caller);
    if (!chosen) co_return std::move(chosen).error();
    const std::size_t limit = request.limit.value_or(matching.limit);
    if (response->matches.size() > limit) {
        response->matches.resize(limit); // heddle-check: allow cut-text (a list)
    }
    if (!request.include_content) {
        for (ports::memory_match& match : response->matches) match.content.reset();
    }
    co_return response;
}

} // namespace heddle::tasks
