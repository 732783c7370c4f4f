// A session that works for one call.
#pragma once

#include "call_meter.hpp"
#include "piece_buffer.hpp"

#include <heddle/host/session.hpp>
#include <heddle/ports/flow_gate.hpp>
#include <heddle/tasks/run/delta_receiver.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace heddle::embed {

/// What a call wants of its session. All of it outlives the session.
struct session_request {
    const std::string& tag;
    piece_buffer* reader = nullptr; ///< of the text of responses; null: nobody reads it
    std::optional<double> budget_usd{};
    std::optional<std::uint64_t> max_calls{};
};

/// A session with what observes and bounds it. Threads: the shard's only.
class call_session {
public:
    /// `shard` outlives it.
    call_session(shard_counters& shard, const session_request& wanted)
        : tag_(wanted.tag), budget_usd_(wanted.budget_usd), max_calls_(wanted.max_calls),
          meter_(shard), receiver_(wanted.reader) {}
    call_session(const call_session&) = delete;
    call_session& operator=(const call_session&) = delete;

    /// What the tasks of the session have in place of what sessions share.
    [[nodiscard]] tasks::session_parts parts() noexcept;
    /// Once, before get().
    void hold(std::unique_ptr<host::session> session) noexcept { session_ = std::move(session); }

    [[nodiscard]] host::session& get() noexcept { return *session_; }
    [[nodiscard]] const usage& used() const noexcept { return meter_.used(); }
    [[nodiscard]] const std::string& tag() const noexcept { return tag_; }
    /// The reader has room again.
    void reopen() noexcept { receiver_.reopen(); }

private:
    /// Passes text on to the reader, who may hold it back.
    class text_receiver final : public tasks::delta_receiver, private ports::flow_gate {
    public:
        explicit text_receiver(piece_buffer* reader) noexcept : reader_(reader) {}
        [[nodiscard]] bool is_listening() const noexcept override { return reader_ != nullptr; }
        [[nodiscard]] result<void> take(const tasks::task_delta& piece) override;
        [[nodiscard]] ports::flow_gate* gate() noexcept override { return this; }
        void reopen() noexcept { report_open(); }

    private:
        [[nodiscard]] bool open() const noexcept override {
            return !reader_ || reader_->has_room();
        }
        piece_buffer* reader_;
    };

    const std::string& tag_;
    const std::optional<double> budget_usd_;
    const std::optional<std::uint64_t> max_calls_;
    call_meter meter_;
    text_receiver receiver_;
    std::unique_ptr<host::session> session_; ///< uses all of the above
};

/// The tasks of the session of a call, or of a program that is being loaded.
class call_tasks final : public tasks::session_tasks {
public:
    /// `call`: null for a program that is being loaded; else it outlives the tasks.
    call_tasks(host::session& session, std::shared_ptr<const tasks::task_system_parts> parts,
               call_session* call)
        : session_tasks(session, std::move(parts), call ? call->parts() : tasks::session_parts()),
          call_(call) {}

    /// The tag of the call that `session` works for; empty: of none.
    [[nodiscard]] static std::string tag_of(host::session& session);

private:
    const call_session* call_;
};

} // namespace heddle::embed
