// What the top level of a program gets from outside.
#pragma once

#include "sources/source_watch.hpp"

#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// The answers that the first evaluation of a program's top level got, for the further ones: a
/// batch evaluates it once per session and process, and all rows are to see the same files, time
/// and chance.
class top_level_notes {
public:
    /// Of answers that a run keeps; what comes after that is asked again by each process.
    static constexpr std::size_t max_kept_bytes = std::size_t{64} << 20;

    /// `seed`: of what the top level draws by chance.
    explicit top_level_notes(std::uint64_t seed) : seed_(seed) {}
    /// What an evaluation in another process has noted, and the run kept.
    top_level_notes(std::uint64_t seed, std::vector<ports::step_record> records,
                    std::vector<program_source> sources);

    /// `records`: what an evaluation that has ended with a value got besides all(). Those of the
    /// first one in this process count.
    void keep(std::vector<ports::step_record> records);
    /// What that evaluation has read.
    void note_sources(std::vector<program_source> sources) { sources_ = std::move(sources); }
    [[nodiscard]] bool has_records() const noexcept { return has_records_; }
    /// Those that the run keeps.
    [[nodiscard]] const std::vector<ports::step_record>& records() const noexcept {
        return *records_;
    }
    /// Those, and what came after them in this process.
    [[nodiscard]] std::vector<ports::step_record> all() const;
    /// Frees what came after them: the top level is not evaluated any more.
    void drop_late() noexcept { late_.reset(); }
    [[nodiscard]] const std::vector<program_source>& sources() const noexcept { return sources_; }
    /// A digest of the sources; empty if there are none. Programs that ran, and the time, are no
    /// part of it.
    [[nodiscard]] std::string digest_of_sources() const;
    /// The same as versions of heddle formed it that did not keep the records.
    [[nodiscard]] const std::string& digest_of_reads() const noexcept { return reads_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

private:
    // Threads evaluate the top level from the same records.
    using shared_records = std::shared_ptr<const std::vector<ports::step_record>>;

    std::uint64_t seed_;
    bool has_records_ = false; ///< of this process or an earlier one
    bool is_complete_ = false; ///< an evaluation of this process has ended
    shared_records records_ = std::make_shared<std::vector<ports::step_record>>();
    shared_records late_; ///< beyond max_kept_bytes; null: none
    std::vector<program_source> sources_;
    std::string reads_;
};

/// The log of one evaluation of the top level: replays what is noted, and collects the rest.
/// Threads: the session's only.
class top_level_log final : public host::step_log {
public:
    explicit top_level_log(const top_level_notes& notes)
        : earlier_(notes.all()), seed_(notes.seed()) {}

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
