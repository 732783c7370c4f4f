#include <heddle/host/engine.hpp>

#include "import_effects.hpp"
#include "world_effects.hpp"

#include <heddle/host/session.hpp>

namespace heddle::host {

engine::engine(coro::event_loop& loop, engine_parts parts) : loop_(loop), parts_(std::move(parts)) {
    effects_ = make_world_effects(*this);
    for (auto& more : make_import_effects()) effects_.push_back(std::move(more));
    for (const auto& more : parts_.effects) effects_.push_back(more);
}

engine::~engine() = default;

effect_handler* engine::find_effect(std::string_view name) const noexcept {
    // Later ones win, so that a host can replace a built-in one. A dozen names: a scan is enough.
    for (auto each = effects_.rbegin(); each != effects_.rend(); ++each) {
        if ((*each)->row().name == name) return each->get();
    }
    return nullptr;
}

} // namespace heddle::host
