#include "tasks/run/prompt_calls.hpp"

#include "tasks/run/clause_call.hpp"
#include "tasks/run/step_parts.hpp"
#include "tasks/run/task_runner.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

/// A call inside the prompt, bound.
struct bound_prompt_call {
    task_call call;
    std::string written;
};

/// Binds the calls inside the prompt of `of`.
class prompt_call_binder {
public:
    prompt_call_binder(task_runner& runner, const task_call& of, const task_chain& chain,
                       coro::call_context context)
        : runner_(runner), of_(of), chain_(chain), context_(context) {}

    [[nodiscard]] result<std::vector<bound_prompt_call>> bind_all();

private:
    [[nodiscard]] result<task_call> bind(const prompt_call& wanted);
    [[nodiscard]] result<const registered_task*> find(const prompt_call& wanted);
    [[nodiscard]] result<void> add_argument(lang::effect_request& request,
                                            const prompt_call& wanted, std::size_t index,
                                            const compiled_task& task);
    [[nodiscard]] static error fail(task_failure_reason reason, const prompt_call& wanted,
                                    const std::string& what) {
        return task_failed(reason, "{{" + wanted.text + "}}: " + what);
    }

    task_runner& runner_;
    const task_call& of_;
    const task_chain& chain_;
    coro::call_context context_;
};

result<std::vector<bound_prompt_call>> prompt_call_binder::bind_all() {
    std::vector<bound_prompt_call> list;
    for (const prompt_template* text : {&of_.task->system, &of_.task->instructions}) {
        for (const prompt_call& wanted : text->calls()) {
            HEDDLE_TRY(task_call bound, bind(wanted));
            list.push_back({std::move(bound), wanted.text});
        }
    }
    return list;
}

result<const registered_task*> prompt_call_binder::find(const prompt_call& wanted) {
    const registered_task* found = runner_.tasks().find(wanted.task);
    if (!found) {
        std::vector<std::string> names;
        runner_.tasks().collect_names(names);
        return fail(task_failure_reason::template_not_found, wanted,
                    "there is no task '" + wanted.task + "'")
            .with_hint(lang::suggest_names(wanted.task, names));
    }
    if (chain_.has(*found->task)) {
        return fail(task_failure_reason::execution_halted, wanted,
                    "the prompt of '" + wanted.task + "' would be needed for itself");
    }
    if (chain_.depth_left <= 0) {
        return fail(task_failure_reason::execution_halted, wanted,
                    "prompts call each other too deep");
    }
    return found;
}

result<void> prompt_call_binder::add_argument(lang::effect_request& request,
                                              const prompt_call& wanted, std::size_t index,
                                              const compiled_task& task) {
    const auto& declared = task.input_names;
    const prompt_argument& argument = wanted.arguments[index];
    if (argument.name.empty() && index >= declared.size()) {
        return fail(task_failure_reason::input_validation_failure, wanted,
                    "'" + wanted.task + "' takes " + std::to_string(declared.size()) +
                        " inputs by position");
    }
    lang::heap& memory = runner_.session().memory();
    lang::value content;
    if (argument.input.empty()) {
        HEDDLE_TRY(content, lang::json_to_value(memory, argument.json));
    } else {
        const bound_input* input =
            prompt_template::find_input(of_.inputs, argument.input, argument.input_index);
        if (!input) {
            return fail(task_failure_reason::input_validation_failure, wanted,
                        "there is no input '" + argument.input + "'");
        }
        content = input->content;
    }
    add_clause(memory, request, argument.name.empty() ? declared[index] : argument.name,
               std::move(content));
    return {};
}

result<task_call> prompt_call_binder::bind(const prompt_call& wanted) {
    HEDDLE_TRY(const registered_task* found, find(wanted));
    host::session& session = runner_.session();
    host::effect_call call = clause_call(session, found->callable, lang::value::empty_map(),
                                         of_.scope, of_.span, context_);
    for (std::size_t i = 0; i < wanted.arguments.size(); ++i)
        HEDDLE_CHECK(add_argument(call.request, wanted, i, *found->task));
    HEDDLE_TRY(task_call bound, bind_call(session.memory(), found->task, std::move(call)));
    bound.chain = &chain_;
    return bound;
}

/// The content of a COMPLETE TaskResult, a string. Errors: the TaskError of a FAILED one.
[[nodiscard]] result<lang::value> content_of_result(const lang::value& created) {
    if (is_failed_result(created)) return task_error_of(created);
    const lang::value* content = lang::map_find(created, "content");
    if (!content || !content->is(lang::kind::string)) {
        return error(heddle::errc::internal, "a task result has no content");
    }
    return *content;
}

/// One call inside a prompt; its content goes to `contents[index]`.
coro::task<result<void>> run_prompt_call(task_runner* runner, task_call call, std::string written,
                                         std::vector<lang::value>* contents, std::size_t index,
                                         step_parts* parts) {
    step_parts::part part(*parts, index);
    call.context = part.open(call.context);
    const source_span span = call.span;
    result<lang::value> ended = co_await runner->run(std::move(call));
    if (!ended) {
        co_return std::move(ended).error().with_trace("in the prompt call {{" + written + "}}",
                                                      span);
    }
    auto content = content_of_result(*ended);
    if (!content) {
        co_return std::move(content).error().with_span(span).with_trace(
            "in the prompt call {{" + written + "}}", span);
    }
    (*contents)[index] = *std::move(content);
    co_return result<void>();
}

} // namespace

coro::task<result<std::vector<lang::value>>> run_prompt_calls(task_runner& runner,
                                                              const task_call& of,
                                                              const task_chain& chain,
                                                              coro::call_context context) {
    // All are bound before one is sent.
    auto calls = prompt_call_binder(runner, of, chain, context).bind_all();
    if (!calls) co_return std::move(calls).error();
    std::vector<lang::value> contents(calls->size());
    step_parts parts(context.step, calls->size());
    coro::nursery side_by_side(context);
    for (std::size_t i = 0; i < calls->size(); ++i) {
        task_call& each = (*calls)[i].call;
        each.context = side_by_side.context();
        side_by_side.start([&] {
            return run_prompt_call(&runner, std::move(each), std::move((*calls)[i].written),
                                   &contents, i, &parts);
        });
    }
    result<void> ended = co_await side_by_side.join();
    if (!ended) co_return std::move(ended).error();
    co_return contents;
}

} // namespace heddle::tasks
