#include <heddle/setup/remote_models.hpp>

namespace heddle::setup {

remote_models::remote_models(const service_set& home) : home_(home) {
    registry_ = home.models().registry().with_ports([&](ports::llm_port& port) -> ports::llm_port& {
        ports_.push_back(std::make_unique<providers::remote_provider>(home.loop().address(), port));
        return *ports_.back();
    });
}

tasks::task_system_parts remote_models::task_parts() const {
    tasks::task_system_parts parts = home_.task_parts();
    parts.models = &registry_;
    parts.memory = nullptr;
    parts.context = nullptr;
    parts.processes = nullptr;
    parts.executors.clear();
    return parts;
}

} // namespace heddle::setup
