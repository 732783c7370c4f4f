#include "shard_program.hpp"

#include "function_tool.hpp"
#include "plain_error.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/session/session_tasks.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

#include <utility>

namespace heddle::embed {

namespace {

constexpr std::size_t max_further = 20;

/// A mistake that `heddle check` reports, as an error.
error error_of(const lang::problem& found) {
    return error(lang::errc::evaluation, found.message).with_span(found.span).with_hint(found.hint);
}

} // namespace

shard_program::shard_program(const parts& shard, const program_version& program)
    : shard_(shard), imports_(shard.services.imports_of(program.file())) {
    tasks::task_system_parts tasks;
    shard_.services.add_to(tasks);
    host::engine_parts created;
    created.log = &shard_.log;
    created.imports = imports_.get();
    created.print = shard_.options.print;
    shard_.services.add_to(created);
    created.operators = [this, tasks = std::move(tasks),
                         functions = program.functions()](host::session& owner) {
        tasks::task_system_parts own = tasks;
        warm_session* const opened = std::exchange(opening_, nullptr);
        if (opened) opened->add_to(own);
        for (const function_definition& each : *functions) {
            own.tools.push_back(tool_of(each, {shard_.log, shard_.options.function_grace},
                                        opened ? &opened->tag() : nullptr));
        }
        return std::make_unique<tasks::session_tasks>(owner, std::move(own));
    };
    engine_ = std::make_unique<host::engine>(shard_.loop, std::move(created));
}

result<void> shard_program::check(const program_version& program) {
    auto opened = engine_->new_session();
    if (!opened) return plain_error(opened.error());
    host::session& session = **opened;
    lang::realm& realm = session.realm();
    const std::uint32_t position = realm.sources().add(program.name(), program.text());
    const tasks::definition_check definitions;
    lang::check_options options;
    options.tasks = &definitions;
    std::optional<error> first;
    std::vector<std::string> further;
    for (const lang::problem& each :
         lang::check_program(realm, program.text(), position, options)) {
        if (each.level != lang::severity::error) {
            shard_.log.write(log_level::warn, "check",
                             render_diagnostic("warning", error_of(each), realm.sources()));
        } else if (!first) {
            first = plain_error(error_of(each), session);
        } else if (further.size() < max_further) {
            further.push_back(render_diagnostic("error", error_of(each), realm.sources()));
        }
    }
    if (!first) return {};
    auto details = std::make_shared<failure_details>(*details_of(*first));
    details->further = std::move(further);
    return std::move(*first).with_payload(std::move(details));
}

coro::task<result<std::unique_ptr<warm_session>>> shard_program::take(
    std::shared_ptr<const program_version> program, coro::call_context context) {
    if (!free_.empty()) {
        std::unique_ptr<warm_session> found = std::move(free_.back());
        free_.pop_back();
        co_return found;
    }
    host::run_options bounds;
    bounds.cancel = context.cancel;
    bounds.until = context.until;
    bounds.memory_limit = shard_.options.memory_limit;
    bounds.step_limit = shard_.options.step_limit;
    auto created = std::make_unique<warm_session>(shard_.counters);
    // The session exists before the first wait, and so gets what `created` adds.
    opening_ = created.get();
    const result<void> loaded = co_await created->load(*engine_, program, bounds);
    if (!loaded) co_return loaded.error();
    shard_.counters.sessions.add(1);
    program->set_signatures(created->signatures());
    co_return created;
}

void shard_program::put_back(std::unique_ptr<warm_session> used) {
    if (free_.size() < shard_.options.warm_sessions && used->restore())
        free_.push_back(std::move(used));
}

} // namespace heddle::embed
