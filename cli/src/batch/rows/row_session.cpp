#include "batch/rows/row_session.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::cli {

namespace {

/// The file is evaluated once for each session of the batch, and no journal has what it asks: a
/// call would be paid for many times, and rows would not agree about its result.
error call_outside_of_rows(const std::string& program) {
    return tasks::task_failed(tasks::task_failure_reason::configuration_error,
                              program +
                                  " calls a task outside of main: a batch evaluates the file "
                                  "several times")
        .with_hint("call the task in main, or pass its result to main with --input NAME=VALUE");
}

/// Nobody would know which row the answer is for.
error question_outside_of_rows(const std::string& program) {
    return error(lang::errc::permission, program + " calls system:ask_user outside of main")
        .with_hint("ask in main: the row waits for the answer");
}

} // namespace

coro::task<result<std::unique_ptr<row_session>>> row_session::load(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    host::engine& engine, std::unique_ptr<row_meter> meter, const batch_program& program,
    host::run_options bounds, top_level_notes* notes, std::string* rendered) {
    std::unique_ptr<row_session> object(new row_session);
    object->meter_ = std::move(meter);
    auto fresh = engine.new_session();
    if (!fresh) co_return std::move(fresh).error();
    object->session_ = *std::move(fresh);
    host::session& session = *object->session_;
    top_level_log steps(*notes);
    bounds.steps = &steps;
    auto* known = dynamic_cast<tasks::session_tasks*>(session.operators());
    if (known) known->refuse_calls(call_outside_of_rows(program.name));
    result<lang::value> loaded = co_await session.evaluate(program.name, program.text, bounds);
    if (known) known->refuse_calls({});
    if (!loaded && steps.is_parked()) co_return question_outside_of_rows(program.name);
    if (!loaded) {
        *rendered = session.render(loaded.error());
        co_return std::move(loaded).error();
    }
    loaded = lang::value();
    notes->keep(steps.take_appended());
    if (auto found = object->find_main(program.name); !found) co_return std::move(found).error();
    co_return object;
}

result<std::unique_ptr<row_session>> row_session::from_image(host::session_image& image,
                                                             std::unique_ptr<row_meter> meter) {
    std::unique_ptr<row_session> object(new row_session);
    object->meter_ = std::move(meter);
    HEDDLE_TRY(object->session_, image.new_session());
    HEDDLE_CHECK(object->find_main("the program"));
    return object;
}

std::unique_ptr<host::session> row_session::release(std::unique_ptr<row_session> used) {
    used->main_ = lang::value();
    return std::move(used->session_);
}

result<void> row_session::find_main(const std::string& program) {
    const auto main = session_->global("main");
    if (!main || !host::session::parameters_of(*main)) {
        return error(errc::invalid_argument, program + " defines no function main")
            .with_hint(
                "write (define (main COLUMN …) …): it is called for each row, and its "
                "parameters take the columns of their names");
    }
    main_ = *main;
    session_->freeze_globals();
    return {};
}

} // namespace heddle::cli
