#include <heddle/tasks/session/session_tasks.hpp>

#include "tasks/call/spending.hpp"

#include "tasks/output/in_turns.hpp"
#include "tasks/run/subtasks.hpp"
#include "tasks/run/task_runner.hpp"
#include "tasks/session/context_tools.hpp"
#include "tasks/tools/deftool.hpp"
#include "tasks/tools/file_tools.hpp"
#include "tasks/tools/match_tool.hpp"
#include "tasks/tools/process_tools.hpp"
#include "tasks/tools/user_tools.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>

#include <heddle/tasks/definition/template_validation.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

coro::task<result<lang::value>> refuse(error failure) { co_return std::move(failure); }

} // namespace

session_tasks::session_tasks(host::session& session, task_system_parts parts)
    : session_tasks(session, std::make_shared<const task_system_parts>(std::move(parts))) {}

session_tasks::session_tasks(host::session& session, std::shared_ptr<const task_system_parts> parts)
    : session_tasks(session, parts, session_parts(*parts)) {}

session_tasks::session_tasks(host::session& session, std::shared_ptr<const task_system_parts> parts,
                             const session_parts& own)
    : session_(session), parts_(std::move(parts)) {
    const auto* base = dynamic_cast<const session_tasks*>(session.base_operators());
    runner_ = std::make_unique<task_runner>(
        task_runner::environment{session_, *parts_, own, registry_, tools_},
        base ? base->runner_.get() : nullptr);
    if (!base) {
        register_parts();
        return;
    }
    registry_.begin_with(base->registry_);
    tools_.begin_with(base->tools_);
}

void session_tasks::register_parts() {
    for (const task_template& declared : parts_->templates) {
        if (auto added = add(declared); !added) {
            session_.engine().log().write(log_level::error, "tasks",
                                          "a template was left out: " + added.error().message());
        }
    }
    for (const auto& built_in : {context_tools(parts_->memory, parts_->matching),
                                 file_tools(),
                                 process_tools(parts_->processes, parts_->processes_hint),
                                 {match_tool(), user_tool(parts_->ask_user)},
                                 parts_->tools}) {
        for (const tool& declared : built_in) {
            if (auto added = add(declared); !added) {
                session_.engine().log().write(log_level::error, "tasks",
                                              "left out: " + added.error().message());
            }
        }
    }
}

session_tasks::~session_tasks() = default;

bool session_tasks::visit_shared(lang::host_object::value_visitor& visitor) const {
    registry_.for_each([&](const registered_task& each) { visitor.visit(each.callable); });
    tools_.for_each([&](const lang::value& callable) { visitor.visit(callable); });
    runner_->prepare_to_share(); // nothing is made in this heap once it is shared
    return true;
}

result<void> session_tasks::fill_from_reference(task_template& declared) const {
    if (declared.ref.empty()) return {};
    const registered_task* base = registry_.find(declared.ref);
    if (!base) {
        std::vector<std::string> names;
        registry_.collect_names(names);
        return error(lang::errc::evaluation,
                     "task " + declared.name + ": ref: there is no template '" + declared.ref + "'")
            .with_hint(lang::suggest_names(declared.ref, names));
    }
    fill_absent(declared, base->task->declared);
    return {};
}

result<lang::value> session_tasks::add(task_template declared) {
    HEDDLE_CHECK(fill_from_reference(declared));
    HEDDLE_TRY(auto task, compile_task(std::move(declared)));
    return add(std::move(task));
}

lang::value session_tasks::add(std::shared_ptr<const compiled_task> task) {
    lang::value callable = lang::make_host(
        session_.memory(), std::make_unique<task_callable>(session_.memory(), task));
    if (!task->declared.tools.empty()) session_.realm().has_tools = true;
    const auto before = registry_.add({task, callable});
    log_port& log = session_.engine().log();
    if (log.enabled(log_level::warn)) {
        const task_template& definition = task->declared;
        if (before.name) {
            log.write(parts_->replacement_level, "tasks",
                      "task " + definition.name + " replaces an earlier one");
        } else if (before.kind && definition.subtype != "standard") {
            // Tasks of one kind are the rule: who means a certain one names it.
            log.write(log_level::info, "tasks",
                      "task " + definition.name + " replaces an earlier one as " + definition.type +
                          ":" + definition.subtype);
        }
    }
    return callable;
}

result<void> session_tasks::add(tool declared) {
    return tools_.add(session_.memory(), std::move(declared));
}

/// How a task is called; without its callable.
lang::operator_info session_tasks::described(const compiled_task& task) {
    lang::operator_info info;
    info.declares_inputs = task.declared.declares_inputs;
    info.inputs = task.input_names;
    for (const task_input& input : task.declared.inputs) {
        if (!input.from.empty()) info.inputs.push_back(input.from);
    }
    info.name = task.declared.name;
    info.aliases = {task.declared.type + ":" + task.declared.subtype};
    return info;
}

std::optional<lang::operator_info> session_tasks::find(lang::heap&, std::string_view name) const {
    const registered_task* found = registry_.find(name);
    if (!found) return tools_.find(name);
    lang::operator_info info = described(*found->task);
    info.callable = found->callable;
    return info;
}

std::optional<lang::operator_info> session_tasks::describe(
    const lang::host_object& callable) const {
    if (const auto* one = dynamic_cast<const tool_callable*>(&callable)) {
        return tool_registry::describe(*one->get());
    }
    const auto* task = dynamic_cast<const task_callable*>(&callable);
    if (!task) return std::nullopt;
    return described(*task->task());
}

std::optional<lang::operator_doc> session_tasks::document(std::string_view name) const {
    const registered_task* found = registry_.find(name);
    if (!found) return document_tool(name);
    const task_template& declared = found->task->declared;
    lang::operator_doc doc;
    if (declared.description != task_template::default_description)
        doc.description = declared.description;
    for (const task_input& each : declared.inputs)
        doc.inputs.push_back({each.name, each.type, each.description, each.optional});
    doc.place = declared.span;
    return doc;
}

std::optional<lang::operator_doc> session_tasks::document_tool(std::string_view name) const {
    const auto found = tools_.find(name);
    if (!found) return std::nullopt;
    const auto* callable = lang::host_as<tool_callable>(found->callable);
    if (!callable) return std::nullopt;
    const registered_tool& known = *callable->get();
    lang::operator_doc doc;
    doc.is_tool = true;
    doc.description = known.declared.description;
    for (const std::string& clause : known.clauses) {
        const bool required =
            std::find(known.required.begin(), known.required.end(), clause) != known.required.end();
        doc.inputs.push_back({clause, "", "", !required});
    }
    return doc;
}

host::replay_class session_tasks::replays(const lang::host_object& callable) const {
    const auto* one = dynamic_cast<const tool_callable*>(&callable);
    return one ? one->get()->declared.replays : host::replay_class::answer;
}

bool session_tasks::is_reserved_key(std::string_view name) const {
    return is_reserved_call_key(name);
}

void session_tasks::collect_names(std::vector<std::string>& names) const {
    registry_.collect_names(names);
    tools_.collect_names(names);
}

coro::task<result<lang::value>> session_tasks::call(host::effect_call call) {
    if (const auto* one = lang::host_as<tool_callable>(call.request.callee)) {
        return run_tool(*runner_, one->get(), std::move(call));
    }
    const auto* callable = lang::host_as<task_callable>(call.request.callee);
    if (!callable) {
        return refuse(error(lang::errc::evaluation, "only a task or a tool can be called")
                          .with_span(call.request.span));
    }
    if (refusal_ && call.scope->choosing_files)
        return refuse(error(lang::errc::permission, "none is asked outside of main"));
    if (refusal_) return refuse(error(*refusal_).with_span(call.request.span));
    auto bound = bind_call(session_.memory(), callable->task(), std::move(call));
    if (!bound) return refuse(std::move(bound).error());
    return execute(std::move(*bound));
}

coro::task<result<lang::value>> session_tasks::execute(task_call call) {
    return runner_->run(std::move(call));
}

void session_tasks::note_replayed(const lang::scope_ref& scope, const ports::step_spending& spent) {
    if (spent.requests == 0) return;
    spending_share::note_paid(scope->counted, runner_->session_budget(), spent.cost_usd,
                              spent.requests);
}

void session_tasks::follow_journal(const ports::step_spending& earlier, bool may_reuse) {
    if (spending_ledger* budget = runner_->session_budget())
        budget->follow_journal(earlier.cost_usd, earlier.requests, may_reuse);
}

// `session` by reference: it outlives every effect.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
coro::task<result<lang::value>> session_tasks::define_task(host::session&, lang::value form,
                                                           source_span span,
                                                           coro::call_context context) {
    result<task_template> declared = parse_defatom(form, span);
    if (!declared) co_return std::move(declared).error();
    if (result<void> filled = fill_from_reference(*declared); !filled)
        co_return std::move(filled).error();
    result<std::shared_ptr<const compiled_task>> task = std::shared_ptr<const compiled_task>();
    const lang::metered_work compile = [&](lang::work_meter& work) {
        task = compile_task(*declared, work);
    };
    if (!lang::done_in_a_turn(compile)) { // a long schema, or one with large patterns
        const result<void> ended = co_await run_in_turns(session_, compile, context, reading_stack);
        if (!ended) co_return ended.error();
    }
    if (!task) co_return std::move(task).error();
    co_return add(*std::move(task));
}

result<lang::value> session_tasks::define_tool(host::session&, const lang::value& form,
                                               lang::value body, source_span span) {
    HEDDLE_TRY(tool_definition definition, parse_deftool(form, span));
    session_.realm().has_tools = true;
    const std::string name = definition.name;
    if (session_.engine().log().enabled(log_level::warn)) announce_tool(name);
    auto added = add(make_language_tool(std::move(definition), std::move(body)));
    if (!added) return std::move(added).error().with_span(span);
    return tools_.find(name)->callable;
}

/// Reports what a new tool hides, or is hidden by.
void session_tasks::announce_tool(const std::string& name) {
    log_port& log = session_.engine().log();
    if (tools_.find(name)) {
        log.write(parts_->replacement_level, "tasks", "tool " + name + " replaces an earlier one");
    }
    if (registry_.find(name)) {
        log.write(log_level::warn, "tasks",
                  "tool " + name + " has the name of a task, which other calls by name reach");
    }
    if (lang::find_builtin(name) || session_.engine().find_effect(name)) {
        log.write(log_level::warn, "tasks", "tool " + name + " hides the builtin of that name");
    }
}

std::function<std::unique_ptr<host::operator_source>(host::session&)> operators(
    task_system_parts parts) {
    return [shared = std::make_shared<const task_system_parts>(std::move(parts))](
               host::session& session) { return std::make_unique<session_tasks>(session, shared); };
}

} // namespace heddle::tasks
