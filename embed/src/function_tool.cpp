#include "function_tool.hpp"

#include "call_session.hpp"
#include "json_values.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/map.hpp>

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
                                                        call_tasks::tag_of(call.owner), patience,
                                                        call.context, std::move(begin));
    if (!ended) co_return std::move(ended).error();
    result<lang::value> created = to_value(call.owner.memory(), *std::move(ended));
    co_return created;
}

} // namespace

tasks::tool tool_of(const function_definition& definition, host_patience patience) {
    auto shared = std::make_shared<const function_definition>(definition);
    tasks::tool created;
    created.name = definition.name;
    created.description = definition.documentation;
    created.input_schema = definition.schema().to_string();
    created.by_position = true;
    created.run = [shared = std::move(shared), patience](tasks::tool_call call) {
        return call_function(shared, patience, std::move(call));
    };
    return created;
}

} // namespace heddle::embed
