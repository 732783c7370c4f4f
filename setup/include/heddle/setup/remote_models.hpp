// The models of a service_set, for the loops of other threads.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/providers/common/remote_provider.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/tasks/run/model_registry.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <memory>
#include <vector>

namespace heddle::setup {

/// Every request of any loop is sent by the set on its home loop, so that all loops share its
/// connections, limits, cache and recording (providers::remote_provider).
/// Threads: made on that of the home loop, or before it runs; then any.
class remote_models {
public:
    /// `home` outlives this and all calls, and so does its loop, unless calls may fail at its end.
    explicit remote_models(const service_set& home);

    [[nodiscard]] const tasks::model_registry& registry() const noexcept { return registry_; }
    /// For the sessions of another loop: those of the set with these models, and without what
    /// belongs to the home loop: memory, contexts, programs and what runs them. A budget is one of
    /// each session, as on the home loop.
    [[nodiscard]] tasks::task_system_parts task_parts() const;

private:
    const service_set& home_;
    std::vector<std::unique_ptr<providers::remote_provider>> ports_;
    tasks::model_registry registry_;
};

} // namespace heddle::setup
