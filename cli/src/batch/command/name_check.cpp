#include "batch/command/name_check.hpp"

#include "offline_session.hpp"
#include "source_diagnostics.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

namespace heddle::cli {

namespace {

/// What the program finds when its rows run.
std::vector<std::string> names_in(host::session& loaded) {
    std::vector<std::string> names;
    lang::realm& realm = loaded.realm();
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        if (!realm.global(i).is_unbound()) names.emplace_back(realm.global_name(i));
    }
    if (const auto* tasks = loaded.operators()) tasks->collect_names(names);
    return names;
}

} // namespace

result<void> check_defined_names(const batch_program& program, host::session& loaded,
                                 const console& output, std::string& rendered) {
    HEDDLE_TRY(const auto apart, offline_session::create());
    lang::realm& realm = apart->realm();
    const std::uint32_t position = realm.sources().add(program.name, program.text);
    const tasks::definition_check definitions;
    lang::check_options options;
    options.externs = names_in(loaded);
    options.tasks = &definitions;
    std::optional<error> first;
    for (lang::problem& each : lang::check_program(realm, program.text, position, options)) {
        if (each.level != lang::severity::error || each.code != "unknown-name") continue;
        rendered += render_problem(each, realm.sources(), output);
        if (first) continue;
        const source_location place = realm.sources().locate(each.span);
        first = error(lang::errc::unbound,
                      place.file + ":" + std::to_string(place.line) + ": " + each.message)
                    .with_hint(each.hint);
    }
    if (first) return *std::move(first);
    return {};
}

} // namespace heddle::cli
