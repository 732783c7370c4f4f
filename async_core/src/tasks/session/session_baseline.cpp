#include <heddle/tasks/session/session_baseline.hpp>

#include <heddle/lang/heap.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

namespace heddle::tasks {

namespace {

/// What a session may hold more than when it was loaded: caches of its strings and tasks.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

session_tasks* tasks_of(host::session& session) {
    return dynamic_cast<session_tasks*>(session.operators());
}

} // namespace

session_baseline::session_baseline(host::session& of)
    : session_(of), cells_before_(of.memory().live_cells()) {}

void session_baseline::note() {
    lang::realm& realm = session_.realm();
    session_.memory().collect_cycles();
    global_count_ = realm.global_count();
    globals_.clear();
    for (std::uint32_t i = 0; i < global_count_; ++i) {
        if (!realm.is_library_global(i)) globals_.emplace_back(i, realm.global(i));
    }
    used_ = session_.memory().used();
    if (const auto* known = tasks_of(session_)) registrations_ = known->registrations();
    session_.freeze_globals();
}

bool session_baseline::restore() {
    lang::realm& realm = session_.realm();
    lang::heap& memory = session_.memory();
    // A caller that ended early may have left cycles.
    if (memory.live_cells() != cells_before_) memory.collect_cycles();
    // A variable that is captured and assigned: its value would stay. What the program itself holds
    // of them counts as well.
    if (memory.live_cells() != cells_before_) return false;
    if (memory.used() > used_ + kept_bytes || realm.permits_held != 0) return false;
    if (realm.global_count() != global_count_) return false;
    for (const auto& [index, content] : globals_) {
        if (!realm.global(index).identical(content)) return false;
    }
    auto* known = tasks_of(session_);
    if (!known) return true;
    if (known->registrations() != registrations_) return false;
    known->forget_conversation();
    return true;
}

} // namespace heddle::tasks
