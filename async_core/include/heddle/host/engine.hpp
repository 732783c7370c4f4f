// The embedding API: engine and session.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/host/effect.hpp>
#include <heddle/host/import_port.hpp>
#include <heddle/ports/file_port.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::host {

class session;
class session_image;

/// The parts of an engine. Everything is owned by the caller or shared, and outlives the sessions
/// of the engine.
struct engine_parts {
    log_port* log = nullptr;                     ///< null: nothing is logged
    ports::file_port* files = nullptr;           ///< null: file builtins raise PermissionError
    import_port* imports = nullptr;              ///< null: only libraries can be imported
    std::function<void(std::string_view)> print; ///< where (print …) goes; empty: dropped
    /// Awaited before `print` is called, so that a reader who is slow keeps the branch waiting and
    /// not the loop. Errors: cancelled, or deadline passed; nothing is printed then. Empty: no
    /// wait.
    std::function<coro::task<result<void>>(coro::call_context)> print_room;
    /// The same before (log-message …) logs.
    std::function<coro::task<result<void>>(coro::call_context)> log_room;
    std::vector<std::string> readable_environment; ///< names that (getenv …) may read
    std::uint64_t random_seed = 0;                 ///< 0: seeded by the system
    /// Creates the tasks and tools of a session; empty: none.
    std::function<std::unique_ptr<operator_source>(session&)> operators;
    /// Effect builtins of the host, in addition to those of the language.
    std::vector<std::shared_ptr<effect_handler>> effects;
};

/// Configuration that sessions share. One per shard (thread).
///
/// Example: examples/embedding. Threads: the loop's only.
class engine {
public:
    engine(coro::event_loop& loop, engine_parts parts);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// A new session, with its own globals, tasks and history. The engine outlives it. Errors: none
    /// expected.
    [[nodiscard]] result<std::unique_ptr<session>> new_session();

    [[nodiscard]] coro::event_loop& loop() noexcept { return loop_; }
    [[nodiscard]] const engine_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] log_port& log() const noexcept { return parts_.log ? *parts_.log : null_log(); }
    /// An effect builtin by name; null if there is none.
    [[nodiscard]] effect_handler* find_effect(std::string_view name) const noexcept;
    [[nodiscard]] const std::vector<std::shared_ptr<effect_handler>>& effects() const noexcept {
        return effects_;
    }

private:
    coro::event_loop& loop_;
    engine_parts parts_;
    std::vector<std::shared_ptr<effect_handler>> effects_;
    std::shared_ptr<session_image> prelude_; ///< what every session begins with; null at first
};

} // namespace heddle::host
