// What the calls of one row have used.
#pragma once

#include "batch/rows/service_contact.hpp"

#include <heddle/ports/run_journal.hpp>
#include <heddle/tasks/call/task_observer.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Observes the calls of one session, which works on one row at a time, and passes everything on.
/// Threads: the loop's.
class row_meter final : public tasks::task_observer {
public:
    /// `all` outlives it: what counts the calls of all rows.
    explicit row_meter(tasks::task_observer& all) : all_(all) {}

    void on_task_started(const tasks::task_started& event) noexcept override;
    void on_task_finished(const tasks::task_finished& event) noexcept override;
    void on_budget_wait(bool waits) noexcept override { all_.on_budget_wait(waits); }
    void on_limit_wait(bool waits) noexcept override { all_.on_limit_wait(waits); }

    /// The session works on this row from now on.
    void begin_row(std::string_view id) { work_.assign("row ").append(id); }
    [[nodiscard]] std::string_view work() const noexcept override { return work_; }

    /// What was used since the last call of it.
    [[nodiscard]] ports::step_spending take() noexcept { return std::exchange(spent_, {}); }
    /// The services that were asked since the last call of it, as they were found last.
    [[nodiscard]] std::vector<service_contact> take_contacts() noexcept {
        return std::exchange(contacts_, {});
    }

private:
    void note_contact(std::string_view service, bool answered);

    tasks::task_observer& all_;
    std::string work_;
    ports::step_spending spent_;
    std::vector<service_contact> contacts_;
};

} // namespace heddle::cli
