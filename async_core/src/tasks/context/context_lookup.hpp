// Asks the memory, and a model about its response.
#pragma once

#include <heddle/host/session.hpp>
#include <heddle/ports/memory_port.hpp>
#include <heddle/tasks/context/context_options.hpp>

#include <string>
#include <vector>

namespace heddle::tasks {

/// Who asks: where the settings of `with`, warnings and cancellation come from.
struct lookup_caller {
    host::session* session = nullptr;
    lang::scope_ref scope;
    source_span span;
    coro::call_context context;
    std::vector<std::string>* warnings = nullptr; ///< null: to the log alone
};

/// One look-up: the memory, then the second stage when `matching` enables it. What the model
/// answers is taken as far as it can be used; candidates of a shard without a usable response keep
/// their score.
/// Errors: those of the memory. Cancellation: as memory and model; joins the shards.
[[nodiscard]] coro::task<result<ports::memory_response>> look_up_context(
    ports::memory_port* memory, model_matching matching, ports::memory_request request,
    lookup_caller caller);

} // namespace heddle::tasks
