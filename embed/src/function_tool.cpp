#include "function_tool.hpp"

#include "call_session.hpp"
#include "json_values.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/map.hpp>

#include <boost/asio/system_executor.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace heddle::embed {

namespace {

/// The arguments in the order of the parameters; null for those that are not passed.
result<std::vector<json>> arguments_of(const function_definition& definition,
                                       const lang::value& inputs) {
    std::vector<json> arguments;
    arguments.reserve(definition.parameters.size());
    for (const function_parameter& each : definition.parameters) {
        const lang::value* given = lang::map_find(inputs, each.name);
        if (!given) {
            arguments.emplace_back();
            continue;
        }
        HEDDLE_TRY(json created, from_value(*given));
        arguments.push_back(std::move(created));
    }
    return arguments;
}

coro::task<result<lang::value>> call_function(std::shared_ptr<const function_definition> definition,
                                              host_patience patience, tasks::tool_call call) {
    result<std::vector<json>> arguments = arguments_of(*definition, call.inputs);
    if (!arguments) co_return std::move(arguments).error();
    auto begin = [&](heddle::call about, function_completion done) {
        definition->invoke(std::move(about), *std::move(arguments), std::move(done));
    };
    result<json> ended = co_await perform_by_host<json>("the function '" + definition->name + "'",
                                                        call_tasks::tag_of(call.session), patience,
                                                        call.context, std::move(begin));
    if (!ended) co_return std::move(ended).error();
    result<lang::value> created = to_value(call.session.memory(), *std::move(ended));
    co_return created;
}

/// The end of a pure function.
struct pure_result {
    std::mutex mutex;
    std::optional<result<json>> ended;
};

result<json> invoke_at_once(const function_definition& definition, std::vector<json> arguments) {
    // Shared: who breaks the rules may complete later, on any thread.
    const auto outcome = std::make_shared<pure_result>();
    const std::string what = "the function '" + definition.name + "'";
    try {
        call_state nothing;
        nothing.executor = boost::asio::system_executor();
        definition.invoke(heddle::call(std::move(nothing)), std::move(arguments),
                          [outcome](result<json> how) {
                              const std::lock_guard held(outcome->mutex);
                              if (!outcome->ended) outcome->ended.emplace(std::move(how));
                          });
    } catch (...) {
        return failure_of_host(error_of_exception(what), what);
    }
    const std::lock_guard held(outcome->mutex);
    if (!outcome->ended) {
        return error(errc::internal,
                     what + " is declared pure, but did not return its result at once");
    }
    if (!*outcome->ended) return failure_of_host(std::move(*outcome->ended).error(), what);
    return *std::move(outcome->ended);
}

result<lang::value> compute(const function_definition& definition, lang::heap& memory,
                            const lang::value& inputs) {
    HEDDLE_TRY(std::vector<json> arguments, arguments_of(definition, inputs));
    HEDDLE_TRY(json computed, invoke_at_once(definition, std::move(arguments)));
    return to_value(memory, std::move(computed));
}

host::replay_class class_of(const function_definition& definition) noexcept {
    if (definition.pure) return host::replay_class::derived;
    switch (definition.replays) {
    case function_replay::answer: return host::replay_class::answer;
    case function_replay::redo: return host::replay_class::redo;
    case function_replay::output: return host::replay_class::output;
    }
    return host::replay_class::answer;
}

} // namespace

tasks::tool tool_of(const function_definition& definition, host_patience patience) {
    auto shared = std::make_shared<const function_definition>(definition);
    tasks::tool created;
    created.name = definition.name;
    created.description = definition.documentation;
    created.input_schema = definition.schema().to_string();
    created.by_position = true;
    created.replays = class_of(definition);
    if (definition.pure) {
        created.compute = [shared](lang::heap& memory, const lang::value& inputs) {
            return compute(*shared, memory, inputs);
        };
    }
    created.run = [shared = std::move(shared), patience](tasks::tool_call call) {
        return call_function(shared, patience, std::move(call));
    };
    return created;
}

} // namespace heddle::embed
