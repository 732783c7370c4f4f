#include "failure_hints.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

/// In the messages of a registry without any service (tasks/run/model_registry.hpp).
constexpr std::string_view nobody_there = "no model provider";
constexpr std::string_view item_line = "while mapping item ";

/// One row can fail with these where others do not.
bool depends_on_data(const error& failure) {
    return failure.code() == lang::errc::task || failure.code() == lang::errc::user ||
           failure.code() == lang::errc::evaluation;
}

} // namespace

error with_model_hint(error failure, bool has_services) {
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    const bool hinted = !failure.info().hint.empty();
    if (has_services || hinted || !script ||
        script->reason != to_string(tasks::task_failure_reason::configuration_error)) {
        return failure;
    }
    // Proxies, certificates and Aider are configured, too.
    if (failure.message().find(nobody_there) == std::string::npos) return failure;
    return std::move(failure).with_hint(std::string(setup::no_model_hint));
}

error with_input_hint(error failure, const std::vector<std::string>& inputs) {
    if (failure.code() != lang::errc::type || !failure.info().hint.empty()) return failure;
    for (const std::string& input : inputs) {
        const std::size_t equals = input.find('=');
        if (equals == std::string::npos || equals == 0 || input[equals - 1] == ':') continue;
        const std::string name = input.substr(0, equals);
        const std::string given = input.substr(equals + 1);
        if (given.empty() || given.size() > 40) continue;
        if (failure.message().find("not the string \"" + given + "\"") == std::string::npos)
            continue;
        return std::move(failure).with_hint(name + "=" + given + " is the text \"" + given +
                                            "\"; " + name + ":=" + given + " is read as JSON");
    }
    return failure;
}

error with_map_hint(error failure) {
    const error_info& info = failure.info();
    if (!info.hint.empty() || !depends_on_data(failure) || lang::passes_catches(failure)) {
        return failure;
    }
    const auto item =
        std::find_if(info.trace.begin(), info.trace.end(),
                     [](const trace_entry& each) { return each.what.starts_with(item_line); });
    if (item == info.trace.end()) return failure;
    std::string hint =
        "item " + item->what.substr(item_line.size()) +
        " ended the map; map-settled in place of map keeps the results of the others";
    if (failure.code() == lang::errc::task)
        hint += ", and (ok? r) is true for a task result that has content";
    return std::move(failure).with_hint(std::move(hint));
}

std::string lost_responses_hint(const call_counts& counts, bool keeps_responses) {
    if (keeps_responses || counts.done == 0) return {};
    return "hint: --cache keeps responses, so that the next run asks only for the others\n";
}

} // namespace heddle::cli
