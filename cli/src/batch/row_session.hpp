// A session that works on one row after another.
#pragma once

#include "batch/row_meter.hpp"

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// The program of a batch.
struct batch_program {
    std::string name; ///< in errors
    std::string text;
};

/// A session with the program loaded. What a row leaves behind would be seen by the next one, and
/// the result of a row would depend on the rows before it: a session is used again only if nothing
/// can have stayed. Threads: the loop's.
class row_session {
public:
    /// Loads the program. `bounds`: of its top level. Errors: those of the program;
    /// invalid_argument when it defines no function main. `meter` observes the session, and was set
    /// in the engine before. `rendered`: takes the error of a program as people read it.
    [[nodiscard]] static coro::task<result<std::unique_ptr<row_session>>> load(
        host::engine& engine, std::unique_ptr<row_meter> meter, const batch_program& program,
        host::run_options bounds, std::string* rendered);
    ~row_session();

    [[nodiscard]] host::session& get() noexcept { return *session_; }
    [[nodiscard]] row_meter& meter() noexcept { return *meter_; }
    [[nodiscard]] const lang::value& main() const noexcept { return main_; }

    /// Whether the next row finds the session as the first one did. To be asked between rows;
    /// forgets conversations, and frees garbage.
    [[nodiscard]] bool is_clean();

private:
    row_session() = default;
    void note_state();

    std::unique_ptr<row_meter> meter_; ///< outlives the session
    std::unique_ptr<host::session> session_;
    lang::value main_;
    std::vector<std::pair<std::uint32_t, lang::value>> globals_; ///< of the program, as loaded
    std::size_t global_count_ = 0;
    std::size_t cells_before_ = 0; ///< before the program was loaded
    std::size_t used_ = 0;         ///< bytes, as loaded
    std::uint64_t registrations_ = 0;
};

} // namespace heddle::cli
