// A program in one thread.
#pragma once

#include "call_session.hpp"
#include "program_version.hpp"
#include "service_source.hpp"

#include <heddle/coro/semaphore.hpp>
#include <heddle/host/session_image.hpp>
#include <heddle/runtime_options.hpp>

#include <memory>

namespace heddle::embed {

/// Makes the sessions of one program in one shard. They share the program, which is evaluated once;
/// where they cannot (host::session_image), each evaluates it. It does not keep the version alive:
/// who calls it does.
/// Threads: the shard's only.
class shard_program {
public:
    struct parts {
        coro::event_loop& loop;
        shard_services& services;
        log_port& log;
        shard_counters& counters;
        const runtime_options& options;
    };

    /// What `shard` refers to outlives it.
    shard_program(const parts& shard, const program_version& program);

    /// Looks for mistakes, without running anything. Errors: the first one, with the others in its
    /// details.
    [[nodiscard]] result<void> check(const program_version& program);
    /// Evaluates the program, unless that was done before. Errors: those of the program.
    /// Cancellation: at any point; the next one begins anew.
    [[nodiscard]] coro::task<result<void>> load(std::shared_ptr<const program_version> program,
                                                coro::call_context context);
    /// A session for one call, with the program loaded. Errors and cancellation: as load.
    [[nodiscard]] coro::task<result<std::unique_ptr<call_session>>> open(
        std::shared_ptr<const program_version> program, session_request wanted,
        coro::call_context context);

private:
    [[nodiscard]] result<std::unique_ptr<host::session>> new_session(call_session* of);
    [[nodiscard]] coro::task<result<std::unique_ptr<host::session>>> evaluate(
        const program_version& program, call_session* of, coro::call_context context);
    void share(const program_version& program, std::unique_ptr<host::session> loaded);

    const parts shard_;
    std::unique_ptr<host::import_port> imports_;
    call_session* opening_ = nullptr; ///< whose session is being made
    std::unique_ptr<host::engine> engine_;
    coro::semaphore loading_{1};
    bool is_loaded_ = false;
    std::shared_ptr<host::session_image> image_; ///< null: not loaded, or it cannot be shared
};

} // namespace heddle::embed
