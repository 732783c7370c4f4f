#include "batch/row_session.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::cli {

namespace {

/// What a session may hold more than when it was loaded: caches of its strings and tasks.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

tasks::session_tasks* tasks_of(host::session& session) {
    return dynamic_cast<tasks::session_tasks*>(session.operators());
}

/// The file is evaluated once for each session of the batch, and no journal has what it asks: a
/// call would be paid for many times, and rows would not agree about its result.
error call_outside_of_rows(const std::string& program) {
    return lang::task_error("configuration_error",
                            program +
                                " calls a task outside of main: a batch evaluates the file "
                                "several times")
        .with_hint("call the task in main, or pass its result to main with --input NAME=VALUE");
}

} // namespace

row_session::~row_session() {
    globals_.clear();
    main_ = lang::value();
}

coro::task<result<std::unique_ptr<row_session>>> row_session::load(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    host::engine& engine, std::unique_ptr<row_meter> meter, const batch_program& program,
    host::run_options bounds, std::string* rendered) {
    std::unique_ptr<row_session> object(new row_session);
    object->meter_ = std::move(meter);
    auto fresh = engine.new_session();
    if (!fresh) co_return std::move(fresh).error();
    object->session_ = *std::move(fresh);
    host::session& session = *object->session_;
    object->cells_before_ = session.memory().live_cells();
    bounds.steps = nullptr;
    tasks::session_tasks* known = tasks_of(session);
    if (known) known->refuse_calls(call_outside_of_rows(program.name));
    result<lang::value> loaded = co_await session.evaluate(program.name, program.text, bounds);
    if (known) known->refuse_calls({});
    if (!loaded) {
        *rendered = session.render(loaded.error());
        co_return std::move(loaded).error();
    }
    loaded = lang::value();
    const auto main = session.global("main");
    if (!main || !host::session::parameters_of(*main)) {
        co_return error(errc::invalid_argument, program.name + " defines no function main")
            .with_hint(
                "write (define (main COLUMN …) …): it is called for each row, and its "
                "parameters take the columns of their names");
    }
    object->main_ = *main;
    object->note_state();
    session.freeze_globals();
    co_return object;
}

void row_session::note_state() {
    lang::realm& realm = session_->realm();
    session_->memory().collect_cycles();
    global_count_ = realm.global_count();
    for (std::uint32_t i = 0; i < global_count_; ++i) {
        if (!realm.is_library_global(i)) globals_.emplace_back(i, realm.global(i));
    }
    used_ = session_->memory().used();
    if (const auto* known = tasks_of(*session_)) registrations_ = known->registrations();
}

bool row_session::is_clean() {
    lang::realm& realm = session_->realm();
    lang::heap& memory = session_->memory();
    // A row that ended early may have left cycles.
    if (memory.live_cells() != cells_before_) memory.collect_cycles();
    // A variable that is captured and assigned: its value would stay. What the program itself holds
    // of them counts as well.
    if (memory.live_cells() != cells_before_) return false;
    if (memory.used() > used_ + kept_bytes || realm.permits_held != 0) return false;
    if (realm.global_count() != global_count_) return false;
    for (const auto& [index, content] : globals_) {
        if (!realm.global(index).identical(content)) return false;
    }
    auto* known = dynamic_cast<tasks::session_tasks*>(session_->operators());
    if (!known) return true;
    if (known->registrations() != registrations_) return false;
    known->forget_conversation();
    return true;
}

} // namespace heddle::cli
