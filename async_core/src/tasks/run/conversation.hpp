// The turns of a conversation, as later tasks may receive them.
#pragma once

#include <heddle/lang/branch_group.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::tasks {

class branch_histories;

/// A prompt and its response.
struct conversation_turn {
    std::string prompt;
    lang::value response; ///< a string
    std::uint64_t event = 0;
    [[nodiscard]] std::size_t bytes() const noexcept;
};

/// The turns of one branch, and those of the branches around as they were when it began. The last
/// `max_turns` and `max_bytes` are kept. Threads: the session's only.
class conversation {
public:
    static constexpr std::size_t max_turns = 100;
    static constexpr std::size_t max_bytes = 1024 * 1024;

    explicit conversation(lang::realm& realm) : realm_(realm) {}
    conversation(lang::realm& realm, std::shared_ptr<conversation> outer, std::uint64_t begun)
        : realm_(realm), outer_(std::move(outer)), begun_(begun) {}

    void record(std::string prompt, lang::value response);
    /// The last `most` turns, newest first. Valid until something is recorded.
    [[nodiscard]] std::vector<const conversation_turn*> last(std::size_t most);
    /// Takes the turns of a branch that has ended.
    void absorb(conversation& ended);
    [[nodiscard]] std::size_t size() const noexcept { return turns_.size(); }

    /// Groups of spawned branches whose turns come as they are awaited.
    void open(branch_histories& group) { spawned_.push_back(&group); }
    void close(branch_histories& group);

private:
    void keep(conversation_turn turn);
    void take_awaited();

    lang::realm& realm_;
    std::shared_ptr<conversation> outer_; ///< null: the session's own
    std::uint64_t begun_ = 0;
    std::deque<conversation_turn> turns_;
    std::size_t bytes_ = 0;
    std::vector<branch_histories*> spawned_;
};

/// The turns of the branches of one group in one conversation, until they are joined.
class branch_histories {
public:
    branch_histories(lang::realm& realm, std::shared_ptr<conversation> outer,
                     const lang::branch_group& group)
        : realm_(realm), outer_(std::move(outer)), group_(group) {
        outer_->open(*this);
    }
    branch_histories(const branch_histories&) = delete;
    branch_histories& operator=(const branch_histories&) = delete;
    ~branch_histories() { outer_->close(*this); }

    [[nodiscard]] const std::shared_ptr<conversation>& outer() const noexcept { return outer_; }
    [[nodiscard]] std::shared_ptr<conversation> of(std::uint32_t slot);
    void branch_ended(std::uint32_t slot) noexcept;
    void group_ended(std::optional<std::uint32_t> winner);
    /// Hands over what was spawned, has ended and was awaited.
    void hand_over_awaited(conversation& to);

private:
    struct branch {
        std::shared_ptr<conversation> said;
        bool ended = false;
    };
    lang::realm& realm_;
    std::shared_ptr<conversation> outer_;
    const lang::branch_group& group_; ///< owns this
    std::map<std::uint32_t, branch> branches_;
    std::size_t ended_turns_ = 0;
};

/// The histories of one group: one for each conversation that its branches have a part in.
class group_histories final : public lang::branch_data {
public:
    [[nodiscard]] branch_histories& in(lang::realm& realm,
                                       const std::shared_ptr<conversation>& outer,
                                       const lang::branch_group& group);
    void branch_ended(std::uint32_t slot) noexcept override;
    void group_ended(std::optional<std::uint32_t> winner) override;

private:
    std::vector<std::unique_ptr<branch_histories>> parts_;
};

/// The turns inside one sandbox, or one form that opened a conversation, outside of its
/// branches.
class extent_conversation final : public lang::extent_ledger {
public:
    explicit extent_conversation(lang::realm& realm)
        : said(std::make_shared<conversation>(realm)) {}
    const std::shared_ptr<conversation> said;
};

/// Where a conversation begins.
struct conversation_root {
    std::shared_ptr<conversation> said; ///< outside of all branches opened inside
    lang::value sandbox;                ///< the mark of the sandbox around it, or nil
    std::uint64_t opened = 0;           ///< host event
};

/// The conversation of a branch; made, with those around it, when it is first asked for.
[[nodiscard]] std::shared_ptr<conversation> conversation_at(lang::realm& realm,
                                                            const conversation_root& root,
                                                            const lang::branch_place& place);

} // namespace heddle::tasks
