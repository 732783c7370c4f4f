// A row of a run that is executed to see what it would ask.
#pragma once

#include <heddle/host/step_log.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Holds the records of one row, has its steps take what they know of it, and keeps nothing.
/// Threads: the loop's.
class plan_log final : public host::step_log, public host::step_plan {
public:
    /// `records`: of earlier executions. `alters`: the substitutes differ from what was answered.
    /// `is_failure`: whether an answer is that of a step that failed.
    /// `replays`: the records are of this program, and its steps find theirs by the way that leads
    /// to them. Otherwise only their responses are used, by what is asked.
    plan_log(std::vector<ports::step_record> records, std::uint64_t seed, bool alters,
             std::function<bool(const std::string&)> is_failure, bool replays = false);

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(earlier_, {});
    }
    [[nodiscard]] coro::task<result<void>> append(ports::step_record, coro::call_context) override {
        co_return result<void>();
    }
    void note(ports::step_record) override {}
    void use_spare(const ports::spare_use& use) override;
    [[nodiscard]] std::uint64_t seed() const noexcept override { return seed_; }
    [[nodiscard]] host::step_plan* plan() noexcept override { return this; }

    void note_known(const ports::digest128& path, std::string_view name) override {
        known_.emplace(path, name);
    }
    [[nodiscard]] std::optional<std::string> stand_in(const ports::digest128& path,
                                                      std::string_view name) override;
    void note_lost() override { lost_ = true; }
    /// Answers that stand in become what `by` makes of them.
    void replace_answers(std::function<std::string(const std::string&)> by) {
        replaces_ = std::move(by);
    }
    [[nodiscard]] bool alters() const noexcept override { return alters_; }

    using steps = std::map<ports::digest128, std::string>; ///< names by paths
    /// Steps with nothing to ask, and those that would ask.
    [[nodiscard]] const steps& known() const noexcept { return known_; }
    [[nodiscard]] const steps& asked() const noexcept { return asked_; }
    /// Whether a call had no earlier answer to stand in, so that the row ended there, or only a
    /// failure, so that nobody knows how it goes on.
    [[nodiscard]] bool was_lost() const noexcept { return lost_; }
    /// What the responses have cost that the steps have used.
    [[nodiscard]] double known_usd() const noexcept { return known_usd_; }

private:
    struct answer {
        std::string body;
        bool used = false;
    };
    [[nodiscard]] std::string use(std::size_t index, std::string_view name);
    void add_answer(ports::step_record record);

    std::function<bool(const std::string&)> is_failure_;
    std::function<std::string(const std::string&)> replaces_; ///< empty: they stay
    std::vector<ports::step_record> earlier_;
    std::map<std::uint64_t, double> costs_; ///< of spares, by their numbers
    double known_usd_ = 0;
    std::vector<answer> answers_;
    std::map<std::pair<ports::digest128, std::string>, std::size_t> by_step_; ///< of answers_
    std::map<std::string, std::deque<std::size_t>, std::less<>> by_name_;     ///< in their order
    steps known_;
    steps asked_;
    std::uint64_t seed_;
    bool alters_;
    bool lost_ = false;
};

} // namespace heddle::cli
