// The only place that constructs the concrete types.
#pragma once

#include "batch/import_notes.hpp"
#include "call_counts.hpp"
#include "command_line/workflow_options.hpp"
#include "console.hpp"
#include "interrupts.hpp"
#include "output_room.hpp"
#include "parking/parking_port.hpp"
#include "prompt_printer.hpp"
#include "terminal_questions.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/memory/memory_system.hpp>
#include <heddle/ports/file_port.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/providers/prices/price_table.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/tasks/context/context_builder.hpp>
#include <heddle/tasks/run/aider.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <memory>
#include <vector>

namespace heddle::cli {

/// The parts of a run: loop, HTTP client, files, memory, models, engine. Members are destroyed in
/// reverse order, so that nothing outlives what it uses.
class application {
public:
    /// `program`: the file to run, as on the command line, or a name for other sources ("<expr>").
    /// `output` outlives it. Errors: as set_up_models and load_run_templates, not_found for the
    /// workspace.
    [[nodiscard]] static result<std::unique_ptr<application>> create(
        const std::string& program, const workflow_options& options,
        const setup::environment& variables, console& output);

    [[nodiscard]] coro::event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] host::engine& engine() noexcept { return *engine_; }
    [[nodiscard]] const call_counts& counts() const noexcept { return counts_; }
    /// What observes the calls of sessions that are made from now on, in place of counts(): it
    /// outlives them, and passes on to counts() what is to be counted.
    void observe_sessions(tasks::task_observer& observer) noexcept { observer_ = &observer; }
    /// What programs have imported.
    [[nodiscard]] import_notes& imported() noexcept { return *import_notes_; }
    /// Where the templates of the run are: folders and files.
    [[nodiscard]] const std::vector<std::string>& template_folders() const noexcept {
        return template_folders_;
    }
    [[nodiscard]] tasks::task_observer& counter() noexcept { return counts_; }
    /// Bounds of an evaluation, from the options and the configuration.
    [[nodiscard]] const host::run_options& bounds() const noexcept { return bounds_; }
    [[nodiscard]] const setup::model_setup& models() const noexcept { return *models_; }
    /// Where requests are parked from now on; null: they are sent at once. It outlives its use.
    void park_in(parking_lot* lot) noexcept { parking_.lot = lot; }
    [[nodiscard]] const ports::price_port& prices() const noexcept { return prices_; }
    /// As model_setup::finish_recording.
    [[nodiscard]] std::optional<error> finish_recording() { return models_->finish_recording(); }
    /// As model_setup::recording_failure.
    [[nodiscard]] std::optional<error> recording_failure() const {
        return models_->recording_failure();
    }
    /// Whether a later run finds the responses of this one: there is a cache, or no service is
    /// called.
    [[nodiscard]] bool keeps_responses() const noexcept { return keeps_responses_; }
    [[nodiscard]] bool has_services() const noexcept { return models_->has_services(); }

    /// Waits until every connection is closed and, for at most 3 s, until the responses for the
    /// cache are written. Await it before leaving the loop.
    [[nodiscard]] coro::task<void> close();

private:
    [[nodiscard]] result<void> allow_programs(const workflow_options& options, console& output);
    void set_up_programs(const workflow_options& options, tasks::task_system_parts& parts);
    void name_prices();
    void set_bounds(const workflow_options& options);
    explicit application(std::unique_ptr<log_port> log) : log_(std::move(log)), loop_(context_) {}

    std::unique_ptr<log_port> log_;
    boost::asio::io_context context_{1}; // run by one thread
    coro::event_loop loop_;
    setup::configuration settings_;
    providers::price_table prices_ = providers::price_table::built_in();
    std::vector<std::string> template_folders_;
    host::run_options bounds_;
    call_counts counts_;
    tasks::task_observer* observer_ = &counts_; ///< of the next session
    bool keeps_responses_ = false;
    std::shared_ptr<ports::http_port> http_;
    std::shared_ptr<ports::file_port> files_;
    std::unique_ptr<guard_at_end> strays_;           ///< null: programs are not allowed
    std::unique_ptr<ports::process_port> processes_; ///< null: programs are not allowed
    std::vector<std::unique_ptr<tasks::aider_executor>> aider_;
    std::unique_ptr<ports::worker_port> workers_;
    std::unique_ptr<memory::memory_system> memory_;
    std::unique_ptr<tasks::context_builder> contexts_;
    std::unique_ptr<prompt_printer> prompts_; ///< null: requests are not shown
    parking_slot parking_;
    std::unique_ptr<setup::model_setup> models_;
    std::unique_ptr<host::import_port> imports_;
    std::unique_ptr<import_notes> import_notes_;
    std::unique_ptr<terminal_questions> questions_; ///< null: no one can answer
    std::unique_ptr<output_room> print_room_;
    std::unique_ptr<output_room> log_room_;
    std::unique_ptr<host::engine> engine_;
};

/// Lets the process open as many files as the system allows: a call in flight is a connection.
void raise_open_file_limit() noexcept;

} // namespace heddle::cli
