// A session that works for one call after another.
#pragma once

#include "call_meter.hpp"
#include "piece_buffer.hpp"
#include "program_version.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/session.hpp>
#include <heddle/ports/flow_gate.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>
#include <heddle/tasks/session/session_baseline.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace heddle::embed {

/// A session with its program loaded. What a call leaves behind must not reach the next one: the
/// session is used again only if nothing has stayed. Threads: the shard's only.
class warm_session {
public:
    explicit warm_session(shard_counters& shard) : meter_(shard) {}
    warm_session(const warm_session&) = delete;
    warm_session& operator=(const warm_session&) = delete;
    ~warm_session();

    /// Sets what `parts` refers to of this session.
    void add_to(tasks::task_system_parts& parts);
    /// Opens the session of `engine` and loads the program. Errors: those of the program.
    [[nodiscard]] coro::task<result<void>> load(host::engine& engine,
                                                std::shared_ptr<const program_version> program,
                                                host::run_options bounds);

    [[nodiscard]] host::session& get() noexcept { return *session_; }
    [[nodiscard]] call_meter& meter() noexcept { return meter_; }
    /// That of the call in progress.
    [[nodiscard]] const std::string& tag() const noexcept { return tag_; }
    void set_tag(std::string tag) { tag_ = std::move(tag); }
    /// From now on the text of responses goes to `reader`, which outlives its use; null: to nobody.
    void read_by(piece_buffer* reader) noexcept { gate_.reader = reader; }
    /// The reader has room again.
    void reopen() noexcept { gate_.reopen(); }
    /// Sets the budget of the next call.
    void set_budget(std::optional<double> usd, std::optional<std::uint64_t> calls);
    /// Whether the next call finds the session as the first one did.
    [[nodiscard]] bool restore() { return baseline_->restore(); }
    [[nodiscard]] std::vector<function_signature> signatures();

private:
    class reader_gate final : public ports::flow_gate {
    public:
        [[nodiscard]] bool open() const noexcept override { return !reader || reader->has_room(); }
        void reopen() noexcept { tell_open(); }
        piece_buffer* reader = nullptr;
    };

    call_meter meter_;
    std::string tag_;
    reader_gate gate_;
    std::unique_ptr<host::session> session_;
    std::optional<tasks::session_baseline> baseline_;
};

} // namespace heddle::embed
