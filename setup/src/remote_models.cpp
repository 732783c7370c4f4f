#include "remote_models.hpp"

#include <utility>

namespace heddle::setup {

remote_models::remote_models(coro::loop_address home, const tasks::model_registry& models) {
    registry_ = models.with_ports([&](ports::llm_port& port) -> ports::llm_port& {
        ports_.push_back(std::make_unique<providers::remote_provider>(home, port));
        return *ports_.back();
    });
}

} // namespace heddle::setup
