// A session that works on one row.
#pragma once

#include "batch/rows/row_meter.hpp"
#include "batch/rows/top_level_log.hpp"

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/host/session_image.hpp>

#include <memory>
#include <string>

namespace heddle::cli {

/// The program of a batch.
struct batch_program {
    std::string name; ///< in errors
    std::string text;
};

/// A session with the program loaded, whose globals cannot change: the result of a row depends on
/// no other row. Threads: the loop's.
class row_session {
public:
    /// Loads the program. `bounds`: of its top level. Errors: those of the program;
    /// invalid_argument when it defines no function main. `meter` observes the session, and was set
    /// in the engine before. `notes`: what other evaluations of the top level got from outside,
    /// which this one gets as well; outlives the call. `rendered`: takes the error of a program as
    /// people read it.
    [[nodiscard]] static coro::task<result<std::unique_ptr<row_session>>> load(
        host::engine& engine, std::unique_ptr<row_meter> meter, const batch_program& program,
        host::run_options bounds, top_level_notes* notes, std::string* rendered);
    /// A session that shares the program with others. The rest as for load().
    [[nodiscard]] static result<std::unique_ptr<row_session>> from_image(
        host::session_image& image, std::unique_ptr<row_meter> meter);
    /// The session, without the rest: for an image.
    [[nodiscard]] static std::unique_ptr<host::session> release(std::unique_ptr<row_session> used);

    [[nodiscard]] host::session& get() noexcept { return *session_; }
    [[nodiscard]] row_meter& meter() noexcept { return *meter_; }
    [[nodiscard]] const lang::value& main() const noexcept { return main_; }

private:
    row_session() = default;
    [[nodiscard]] result<void> find_main(const std::string& program);

    std::unique_ptr<row_meter> meter_; ///< outlives the session
    std::unique_ptr<host::session> session_;
    lang::value main_;
};

} // namespace heddle::cli
