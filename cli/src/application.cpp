#include "application.hpp"

#include "logging.hpp"
#include "service_options.hpp"

#include <heddle/tasks/session/session_tasks.hpp>

#include <utility>

#include <sys/resource.h>

namespace heddle::cli {

namespace {

/// Only errors where the messages of the workflow are not to be shown.
[[nodiscard]] int logged_verbosity(const workflow_options& options) {
    return options.drops_output ? -1 : options.verbosity;
}

/// Pieces as they come; a line with the task's name wherever another call goes on.
class piece_printer final : public tasks::delta_receiver {
public:
    explicit piece_printer(console& output) : output_(output) {}

    result<void> take(const tasks::task_delta& piece) override {
        std::string text;
        const bool open = output_.line_is_open();
        if (piece.call != last_ || !open) {
            if (open) text += '\n';
            (text += '[').append(piece.task) += "] ";
            last_ = piece.call;
        }
        output_.err_piece(text += piece.text);
        return {};
    }

private:
    console& output_;
    std::uint64_t last_ = 0; ///< the call whose line is open
};

} // namespace

result<std::unique_ptr<application>> application::create(const std::string& program,
                                                         const workflow_options& options,
                                                         const setup::environment& variables,
                                                         console& output) {
    std::unique_ptr<application> object(
        new application(make_console_log(output, level_for(logged_verbosity(options)))));

    setup::service_set_options asked =
        service_options(program, options, variables, object->parking_);
    if (!options.show_prompts.empty()) {
        object->prompts_ =
            std::make_unique<prompt_printer>(output, options.show_prompts, options.json);
        asked.of_sent = object->prompts_.get();
    }
    if (options.allow_shell && !options.from_journal) {
        object->strays_ = std::make_unique<guard_at_end>();
        asked.programs.emplace();
        asked.programs->pass_env = options.pass_env;
        asked.programs->strays = &object->strays_->strays();
        asked.programs->on_terminal = [&output](bool taken) { output.hold_status(taken); };
    }
    HEDDLE_TRY(object->services_,
               setup::service_set::create(object->loop_, *object->log_, std::move(asked)));

    tasks::task_system_parts task_parts = object->services_->task_parts();
    task_parts.memory = object->sources_.watch(task_parts.memory);
    task_parts.processes = object->sources_.watch(task_parts.processes);
    object->counts_.replayed = options.replay.has_value();
    object->counts_.sources = {object->services_->has_cache(), options.has_journal,
                               options.parks_all};
    object->keeps_responses_ =
        options.has_journal || options.replay || object->services_->has_cache();

    add_row_parts(options, task_parts);
    // A terminal cannot ask for a thousand rows at once.
    if (!options.many_rows && !options.from_journal && !options.parks_questions &&
        terminal_questions::can_ask(output.traits())) {
        object->questions_ = std::make_unique<terminal_questions>(object->loop_, output);
        task_parts.ask_user = [asker = object->questions_.get()](tasks::user_question question,
                                                                 coro::call_context context) {
            return asker->ask(std::move(question), context);
        };
    }
    if (options.stream) object->pieces_ = std::make_unique<piece_printer>(output);
    task_parts.deltas = object->pieces_.get();
    if (options.is_prompt) task_parts.replacement_level = log_level::info;

    host::engine_parts parts = object->services_->engine_parts();
    // A batch evaluates its program in many sessions, which must be of one version.
    const import_use kept = options.many_rows     ? import_use::pinned
                            : options.has_journal ? import_use::texts
                                                  : import_use::nothing;
    object->import_notes_ = std::make_unique<import_notes>(object->services_->imports(), kept);
    parts.imports = object->import_notes_.get();
    parts.files = object->sources_.watch(parts.files);
    object->print_ = [&output, &sources = object->sources_, to_error = options.prints_to_error,
                      drops = options.drops_output](std::string_view text) {
        if (drops || !sources.performs()) return;
        if (to_error) output.err(text);
        else output.out_data(text);
    };
    parts.print = object->print_;
    object->print_room_ =
        options.prints_to_error
            ? nullptr
            : std::make_unique<output_room>(object->loop_, output, console::stream::out);
    object->log_room_ = std::make_unique<output_room>(object->loop_, output, console::stream::err);
    // One object listens to a stream: what goes to standard error waits where the log does.
    parts.print_room = [room = &object->room_to_print()](coro::call_context context) {
        return room->wait(context);
    };
    parts.log_room = [room = object->log_room_.get()](coro::call_context context) {
        return room->wait(context);
    };
    parts.operators = [self = object.get(),
                       shared = std::make_shared<const tasks::task_system_parts>(
                           std::move(task_parts))](host::session& session) {
        tasks::session_parts own(*shared);
        own.observer = self->observer_;
        return std::make_unique<tasks::session_tasks>(session, shared, own);
    };
    object->engine_ = std::make_unique<host::engine>(object->loop_, std::move(parts));
    return object;
}

void application::allow_parked_branches(host::session& session) {
    if (wants_parking(*services_, session)) services_->use_usual_concurrency(parked_branches);
}

void raise_open_file_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit); // what cannot be raised stays as it is
}

} // namespace heddle::cli
