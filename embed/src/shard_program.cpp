#include "shard_program.hpp"

#include "function_tool.hpp"
#include "plain_error.hpp"
#include "text_digest.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/tools/definition_check.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

constexpr std::size_t max_further = 20;

/// A mistake that `heddle check` reports, as an error.
error error_of(const lang::problem& found) {
    return error(lang::errc::evaluation, found.message).with_span(found.span).with_hint(found.hint);
}

/// The program is evaluated without a call, and once for each thread or for each call.
error call_outside_of_functions(const std::string& program) {
    return tasks::task_failed(tasks::task_failure_reason::configuration_error,
                              program +
                                  " calls a task outside of its functions: its top level is "
                                  "evaluated before there is a call")
        .with_hint("call the task in a function, or pass its result to the function");
}

/// Of the program whose file has this name: other files, and modules, are imported.
std::vector<function_signature> signatures_of(host::session& session, const std::string& file) {
    std::vector<function_signature> found;
    lang::realm& realm = session.realm();
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        if (realm.is_prelude_global(i) || !realm.global(i).is(lang::kind::closure)) continue;
        const lang::function& code = *lang::closure_of(realm.global(i))->code;
        const std::string place = realm.sources().locate(realm.definition_of(i)).file;
        found.push_back({std::string(realm.global_name(i)), code.parameter_names, code.required,
                         code.has_rest, code.doc, !place.empty() && place != file});
    }
    std::sort(found.begin(), found.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    return found;
}

program_content content_of(host::session& session, const std::string& file) {
    program_content found{signatures_of(session, file), {}};
    if (const auto* known = dynamic_cast<const tasks::session_tasks*>(session.operators())) {
        known->registry().for_each([&](const tasks::registered_task& each) {
            found.tasks.push_back(each.task->declared.name);
        });
    }
    std::sort(found.tasks.begin(), found.tasks.end());
    return found;
}

} // namespace

shard_program::shard_program(const parts& shard, const program_version& program)
    : shard_(shard), imports_(shard.services.imports_of(program.file())) {
    if (imports_) imports_ = make_noted_imports(std::move(imports_), program.imports());
    auto tasks = std::make_shared<tasks::task_system_parts>();
    shard_.services.add_to(*tasks);
    for (const function_definition& each : *program.functions())
        tasks->tools.push_back(tool_of(each, {shard_.log, shard_.options.function_grace}));
    host::engine_parts created;
    created.log = &shard_.log;
    created.imports = imports_.get();
    created.print = shard_.options.print;
    shard_.services.add_to(created);
    created.operators = [this, shared = std::shared_ptr<const tasks::task_system_parts>(
                                   std::move(tasks))](host::session& session) {
        return std::make_unique<call_tasks>(session, shared, opening_);
    };
    engine_ = std::make_unique<host::engine>(shard_.loop, std::move(created));
}

/// `of`: null for a session of no call.
result<std::unique_ptr<host::session>> shard_program::new_session(call_session* of) {
    opening_ = of;
    auto created = image_ ? image_->new_session() : engine_->new_session();
    opening_ = nullptr;
    if (!created) return plain_error(created.error());
    return created;
}

result<void> shard_program::check(const program_version& program) {
    auto opened = engine_->new_session();
    if (!opened) return plain_error(opened.error());
    host::session& session = **opened;
    lang::realm& realm = session.realm();
    for (const function_definition& each : *program.functions()) {
        if (!realm.find_prelude_global(each.name)) continue;
        return error(errc::invalid_argument,
                     "the function '" + each.name + "' has the name of one of the language")
            .with_hint("workflows would never call it: give it another name");
    }
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

coro::task<result<std::unique_ptr<host::session>>> shard_program::evaluate(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    const program_version& program, call_session* of, coro::call_context context) {
    host::run_options bounds = shard_.services.bounds();
    bounds.cancel = context.cancel;
    bounds.until = context.until;
    result<std::unique_ptr<host::session>> created = new_session(of);
    if (!created) co_return created;
    host::session& session = **created;
    auto* known = dynamic_cast<tasks::session_tasks*>(session.operators());
    if (known) known->refuse_calls(call_outside_of_functions(program.name()));
    shard_.counters.loads.add(1);
    const result<lang::value> ended =
        co_await session.evaluate(program.name(), program.text(), bounds);
    if (known) known->refuse_calls({});
    if (!ended) co_return plain_error(ended.error(), session);
    co_return created;
}

/// From now on sessions are made from `loaded`, if that is possible.
void shard_program::share(const program_version& program, std::unique_ptr<host::session> loaded) {
    program.set_content(content_of(*loaded, program.name()));
    if (const std::string& settings = shard_.services.settings_digest(); !settings.empty()) {
        program.set_digest(digest_of_text(digest_of_text(program.text()) + '\n' +
                                          program.imports()->digest() + settings));
    }
    auto image = host::session_image::make(std::move(loaded));
    is_loaded_ = true;
    if (image->is_shareable()) {
        image_ = std::move(image);
    } else if (program.take_first_note()) {
        shard_.log.write(log_level::info, "runtime",
                         "each call loads " + program.name() + " again: its top level leaves " +
                             image->obstacle() + " behind");
    }
}

coro::task<result<void>> shard_program::load(std::shared_ptr<const program_version> program,
                                             coro::call_context context) {
    if (is_loaded_) co_return result<void>();
    const result<void> first = co_await loading_.acquire(context);
    if (!first) co_return plain_error(first.error());
    const coro::held_permit held(loading_);
    if (is_loaded_) co_return result<void>();
    result<std::unique_ptr<host::session>> loaded = co_await evaluate(*program, nullptr, context);
    if (!loaded) co_return loaded.error();
    share(*program, *std::move(loaded));
    co_return result<void>();
}

coro::task<result<std::unique_ptr<call_session>>> shard_program::open(
    std::shared_ptr<const program_version> program, session_request wanted,
    coro::call_context context) {
    if (!is_loaded_) {
        const result<void> loaded = co_await load(program, context);
        if (!loaded) co_return loaded.error();
    }
    auto created = std::make_unique<call_session>(shard_.counters, wanted);
    result<std::unique_ptr<host::session>> session = std::unique_ptr<host::session>();
    if (image_) session = new_session(created.get());
    else session = co_await evaluate(*program, created.get(), context);
    if (!session) co_return session.error();
    created->hold(*std::move(session));
    created->get().freeze_globals();
    co_return created;
}

} // namespace heddle::embed
