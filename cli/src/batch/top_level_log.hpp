// What the top level of a program gets from outside.
#pragma once

#include "batch/source_watch.hpp"

#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// The answers that the first evaluation of a program's top level got, for the further ones: a
/// batch evaluates it once per session and process, and all rows are to see the same files, time
/// and chance.
class top_level_notes {
public:
    /// Of answers that are kept; what comes after that is asked again by each evaluation.
    static constexpr std::size_t max_kept_bytes = std::size_t{64} << 20;

    /// `seed`: of what the top level draws by chance.
    explicit top_level_notes(std::uint64_t seed) : seed_(seed) {}
    /// What an evaluation in another process has noted.
    top_level_notes(std::uint64_t seed, std::vector<ports::step_record> records,
                    std::vector<program_source> sources);

    /// `records`: of an evaluation that has ended with a value. The first ones count.
    void keep(std::vector<ports::step_record> records);
    /// What that evaluation has read.
    void note_sources(std::vector<program_source> sources) { sources_ = std::move(sources); }
    [[nodiscard]] bool has_records() const noexcept { return has_records_; }
    [[nodiscard]] const std::vector<ports::step_record>& records() const noexcept {
        return records_;
    }
    [[nodiscard]] const std::vector<program_source>& sources() const noexcept { return sources_; }
    /// A digest of the sources; empty if there are none. Programs that ran, and the time, are no
    /// part of it.
    [[nodiscard]] std::string digest_of_sources() const;
    /// The same as versions of heddle formed it that did not keep the records.
    [[nodiscard]] const std::string& digest_of_reads() const noexcept { return reads_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

private:
    std::uint64_t seed_;
    bool has_records_ = false;
    std::vector<ports::step_record> records_;
    std::vector<program_source> sources_;
    std::string reads_;
};

/// The log of one evaluation of the top level: replays what is noted, and collects the rest.
/// Threads: the session's only.
class top_level_log final : public host::step_log {
public:
    explicit top_level_log(const top_level_notes& notes)
        : earlier_(notes.records()), seed_(notes.seed()) {}

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(earlier_, {});
    }
    [[nodiscard]] coro::task<result<void>> append(ports::step_record record,
                                                  coro::call_context) override {
        appended_.push_back(std::move(record));
        co_return result<void>();
    }
    void note(ports::step_record record) override { appended_.push_back(std::move(record)); }
    void note_parked() noexcept override { is_parked_ = true; }
    [[nodiscard]] std::uint64_t seed() const noexcept override { return seed_; }

    /// Whether the evaluation has ended because it asks a question.
    [[nodiscard]] bool is_parked() const noexcept { return is_parked_; }
    /// What was not noted before.
    [[nodiscard]] std::vector<ports::step_record> take_appended() {
        return std::exchange(appended_, {});
    }

private:
    std::vector<ports::step_record> earlier_;
    std::vector<ports::step_record> appended_;
    std::uint64_t seed_;
    bool is_parked_ = false;
};

} // namespace heddle::cli
