// The models of a service_set, for the loops of other threads.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/providers/common/remote_provider.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <memory>
#include <vector>

namespace heddle::setup {

/// Every request of any loop is sent by the home loop, so that all loops share its connections,
/// limits, cache and recording (providers::remote_provider).
/// Threads: made on that of the home loop, or before it runs; then any.
class remote_models {
public:
    /// `models` outlive this and all calls, and so does the loop, unless calls may fail at its end.
    remote_models(coro::loop_address home, const tasks::model_registry& models);

    [[nodiscard]] const tasks::model_registry& registry() const noexcept { return registry_; }

private:
    std::vector<std::unique_ptr<providers::remote_provider>> ports_;
    tasks::model_registry registry_;
};

} // namespace heddle::setup
