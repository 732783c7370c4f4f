// A program in one thread.
#pragma once

#include "program_version.hpp"
#include "service_source.hpp"
#include "warm_session.hpp"

#include <heddle/runtime_options.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::embed {

/// The sessions of one program in one shard: those that are free wait for the next call. It does
/// not keep the version alive: who calls it does.
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
    /// A session for one call. Errors: those of the program. Cancellation: ends loading.
    [[nodiscard]] coro::task<result<std::unique_ptr<warm_session>>> take(
        std::shared_ptr<const program_version> program, coro::call_context context);
    /// Takes a session back, to be used again if it can be.
    void put_back(std::unique_ptr<warm_session> used);

private:
    const parts shard_;
    std::unique_ptr<host::import_port> imports_;
    warm_session* opening_ = nullptr; ///< whose session the engine makes now
    std::unique_ptr<host::engine> engine_;
    std::vector<std::unique_ptr<warm_session>> free_;
};

} // namespace heddle::embed
