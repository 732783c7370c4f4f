// A loaded program that sessions share.
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/host/session.hpp>

#include <memory>
#include <string>

namespace heddle::host {

/// A program as sessions load it.
struct session_program {
    std::string name; ///< in errors
    std::string text;
};

/// A session that has loaded a program and is frozen: its globals, code, sources, macros,
/// libraries, tasks and tools are read by all sessions that are made from it. Each of these has a
/// separate heap with its own limit, which ends with it, and begins without conversations and
/// without anything spent. What it defines or assigns, it alone sees.
///
/// Not every program can be shared. Where its top level leaves state behind that a session could
/// change for the others (a variable that a function has closed over and assigns, a semaphore, a
/// future, a function that was made in a sandbox), open_session() loads the program again for each
/// session (docs/adr/0020-sessions-share-a-frozen-one.md).
///
/// Lifetime: sessions keep their image; results may outlive both. The engine outlives all of them.
/// Threads: the loop's only, as no count is atomic: one image for each shard and program.
class session_image : public std::enable_shared_from_this<session_image> {
public:
    /// Evaluates a program in a new session of `engine`, and makes an image of that. `name`: in
    /// errors. `bounds`: of its top level. `rendered`: receives the error of a program as people
    /// read it; may be null. Errors and cancellation: as session::evaluate.
    [[nodiscard]] static coro::task<result<std::shared_ptr<session_image>>> load(
        engine& engine, std::string name, std::string text, run_options bounds = {},
        std::string* rendered = nullptr);

    /// Makes an image of a session between two evaluations. The caller must not use the session
    /// afterwards.
    /// `program`: what open_session() loads where sessions cannot share it; without a name, such
    /// sessions are refused. Exceptions: bad_alloc.
    [[nodiscard]] static std::shared_ptr<session_image> make(std::unique_ptr<session> loaded,
                                                             session_program program = {});
    /// What prevents that sessions share `loaded`, in words; empty: nothing. Frees its garbage.
    [[nodiscard]] static std::string obstacle_of(session& loaded);
    session_image(const session_image&) = delete;
    session_image& operator=(const session_image&) = delete;
    ~session_image();

    /// Whether sessions share what was loaded.
    [[nodiscard]] bool is_shareable() const noexcept { return obstacle_.empty(); }
    /// What prevents it, in words; empty: nothing.
    [[nodiscard]] const std::string& obstacle() const noexcept { return obstacle_; }

    /// A session that begins with what was loaded, in a few microseconds. Errors: invalid_argument
    /// unless is_shareable(); exhausted memory.
    [[nodiscard]] result<std::unique_ptr<session>> new_session();

    /// As new_session(); where sessions cannot share the program, loads it again.
    /// `bounds`: of its top level. Errors and cancellation: as session::evaluate.
    [[nodiscard]] coro::task<result<std::unique_ptr<session>>> open_session(
        run_options bounds = {});

private:
    friend class session;
    session_image(std::unique_ptr<session> loaded, session_program program);

    engine& engine_;
    std::unique_ptr<session> base_; ///< null unless it is shared
    session_program program_;       ///< empty where it is shared
    std::string obstacle_;
};

} // namespace heddle::host
