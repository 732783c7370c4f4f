// The parts of a run, constructed in one place.
#pragma once

#include "call_counts.hpp"
#include "console.hpp"
#include "interrupts.hpp"
#include "output_room.hpp"
#include "parking/parking_port.hpp"
#include "prompt_printer.hpp"
#include "row_place.hpp"
#include "sources/import_notes.hpp"
#include "terminal_questions.hpp"
#include "workflow_options.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The parts of a run: loop, services, engine, and what the program adds to them. Members are
/// destroyed in reverse order, so that nothing outlives what it uses.
class application {
public:
    /// `program`: the file to run, as on the command line, or a name for other sources ("<expr>").
    /// `output` outlives it. Errors: as setup::service_set::create.
    [[nodiscard]] static result<std::unique_ptr<application>> create(
        const std::string& program, const workflow_options& options,
        const setup::environment& variables, console& output);

    [[nodiscard]] coro::event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] host::engine& engine() noexcept { return *engine_; }
    [[nodiscard]] const call_counts& counts() const noexcept { return counts_; }
    /// To execute rows on the loop of the run.
    [[nodiscard]] row_place rows() noexcept {
        return {*engine_, bounds(), counts_, observer_, &sources_};
    }
    /// What programs read, and whether they change anything.
    [[nodiscard]] source_watch& sources() noexcept { return sources_; }
    /// What programs have imported.
    [[nodiscard]] import_notes& imported() noexcept { return *import_notes_; }
    [[nodiscard]] const import_notes& imported() const noexcept { return *import_notes_; }
    /// Where the templates of the run are: folders and files.
    [[nodiscard]] const std::vector<setup::template_place>& template_places() const noexcept {
        return services_->template_places();
    }
    /// Bounds of an evaluation, from the options and the configuration.
    [[nodiscard]] const host::run_options& bounds() const noexcept { return services_->bounds(); }
    /// The session has loaded its program: where tasks of it have requests wait for batches, as
    /// many branches of later evaluations wait together.
    void allow_parked_branches(host::session& session);
    [[nodiscard]] const setup::model_setup& models() const noexcept { return services_->models(); }
    /// Where requests are parked; without a lot they are sent at once.
    [[nodiscard]] parking_slot& parking() noexcept { return parking_; }
    [[nodiscard]] const ports::price_port& prices() const noexcept { return services_->prices(); }
    /// As model_setup::finish_recording.
    [[nodiscard]] std::optional<error> finish_recording() {
        return services_->models().finish_recording();
    }
    /// As model_setup::recording_failure.
    [[nodiscard]] std::optional<error> recording_failure() const {
        return services_->models().recording_failure();
    }
    /// Whether a later run finds the responses of this one: there is a cache, or no service is
    /// called.
    [[nodiscard]] bool keeps_responses() const noexcept { return keeps_responses_; }
    [[nodiscard]] bool has_services() const noexcept { return services_->models().has_services(); }

    [[nodiscard]] setup::service_set& services() noexcept { return *services_; }
    /// Prints what workflows print. Threads: any.
    [[nodiscard]] const std::function<void(std::string_view)>& print() const noexcept {
        return print_;
    }
    /// Where workflows wait that print, or log, more than is read.
    [[nodiscard]] output_room& room_to_print() noexcept {
        return print_room_ ? *print_room_ : *log_room_;
    }
    [[nodiscard]] output_room& room_to_log() noexcept { return *log_room_; }

    /// As setup::service_set::close.
    [[nodiscard]] coro::task<void> close() { return services_->close(); }

private:
    explicit application(std::unique_ptr<log_port> log) : log_(std::move(log)), loop_(context_) {}

    std::unique_ptr<log_port> log_;
    boost::asio::io_context context_{1}; // run by one thread
    coro::event_loop loop_;
    call_counts counts_;
    tasks::task_observer* observer_ = &counts_; ///< of the next session
    bool keeps_responses_ = false;
    std::unique_ptr<guard_at_end> strays_;          ///< null: programs are not allowed
    std::unique_ptr<prompt_printer> prompts_;       ///< null: requests are not shown
    std::unique_ptr<tasks::delta_receiver> pieces_; ///< null: responses are not shown as they come
    parking_slot parking_;
    std::unique_ptr<setup::service_set> services_;
    source_watch sources_;
    std::unique_ptr<import_notes> import_notes_;
    std::unique_ptr<terminal_questions> questions_; ///< null: no one can answer
    std::function<void(std::string_view)> print_;
    std::unique_ptr<output_room> print_room_; ///< null: that of the log
    std::unique_ptr<output_room> log_room_;
    std::unique_ptr<host::engine> engine_;
};

/// Lets the process open as many files as the system allows: a call in flight is a connection.
void raise_open_file_limit() noexcept;

} // namespace heddle::cli
