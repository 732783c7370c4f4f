// When results are written, and when the journal notes that they are.
#include "batch/results/result_emitter.hpp"

#include "loopback_runner.hpp"

#include <heddle/fs/local_tree.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {
namespace {

/// What happened, in its order. Threads: any.
class event_list {
public:
    void add(std::string event) {
        const std::lock_guard held(lock_);
        events_.push_back(std::move(event));
    }
    std::vector<std::string> take() {
        const std::lock_guard held(lock_);
        return std::exchange(events_, {});
    }

private:
    std::mutex lock_;
    std::vector<std::string> events_;
};

class noting_journal final : public ports::run_journal {
public:
    explicit noting_journal(event_list& events) : events_(events) {}
    result<void> note_emitted(std::vector<std::uint64_t> rows, std::uint64_t) override {
        events_.add("note " + std::to_string(rows.size()));
        return {};
    }
    coro::task<result<void>> flush(coro::call_context) override {
        events_.add("flush");
        co_return result<void>();
    }

    coro::task<result<std::vector<ports::known_row>>> known_rows(coro::call_context) override {
        co_return std::vector<ports::known_row>();
    }
    result<void> begin_row(const ports::known_row&, std::string, std::string) override {
        return {};
    }
    result<void> restart_row(std::uint64_t) override { return {}; }
    result<void> retry_row(std::uint64_t) override { return {}; }
    coro::task<result<void>> outdate_rows(ports::outdated_rows, coro::call_context) override {
        co_return result<void>();
    }
    result<void> revise_row(std::uint64_t, std::vector<std::uint64_t>) override { return {}; }
    void use_spare(std::uint64_t, const ports::spare_use&) override {}
    coro::task<result<void>> append(std::uint64_t, ports::step_record,
                                    coro::call_context) override {
        co_return result<void>();
    }
    void note(std::uint64_t, ports::step_record) override {}
    coro::task<result<std::vector<ports::step_record>>> records_of(std::uint64_t,
                                                                   coro::call_context) override {
        co_return std::vector<ports::step_record>();
    }
    void note_work(std::uint64_t, const ports::row_work&) override {}
    coro::task<result<ports::row_work>> work_of(std::uint64_t, coro::call_context) override {
        co_return ports::row_work();
    }
    coro::task<result<void>> end_row(ports::row_end, coro::call_context) override {
        co_return result<void>();
    }
    coro::task<result<std::vector<ports::row_end>>> ends_to_emit(std::uint64_t, std::size_t,
                                                                 coro::call_context) override {
        co_return std::vector<ports::row_end>();
    }
    std::uint64_t emitted_size() const noexcept override { return 0; }
    ports::run_totals totals() const noexcept override { return {}; }

private:
    event_list& events_;
};

class noting_writer final : public rows::result_writer {
public:
    explicit noting_writer(event_list& events) : events_(events) {}
    result<void> write(std::span<const rows::row_result> batch) override {
        events_.add("write " + std::to_string(batch.size()));
        return {};
    }
    result<void> flush() override { return {}; }
    std::uint64_t size() const noexcept override { return 0; }

private:
    event_list& events_;
};

class result_emitting : public ::testing::Test {
protected:
    /// Of that many rows, which have all ended before.
    std::vector<std::string> events_of(std::uint64_t rows, bool is_stream,
                                       bool have_failed = false) {
        const auto workers = fs::make_worker_pool(on.loop, 1);
        result_emitter::parts of{*workers, &journal, writer, nullptr, output, {}, {}, {}, [] {}};
        of.is_stream = is_stream;
        of.note_writing = [this](bool begins) -> result<void> {
            events.add(begins ? "begin" : "end");
            return {};
        };
        result_emitter emitter(of);
        for (std::uint64_t i = 0; i < rows; ++i) {
            ended_row row;
            if (have_failed) row.letter.emplace();
            emitter.put(i, std::move(row));
        }
        emitter.close();
        const result<void> ended = on.run(emitter.run(on.context()));
        EXPECT_TRUE(ended);
        EXPECT_EQ(emitter.written(), rows);
        return events.take();
    }

    loopback::runner on;
    console output{stdout, stderr, {}};
    event_list events;
    noting_journal journal{events};
    noting_writer writer{events};
};

using strings = std::vector<std::string>;

TEST_F(result_emitting, notes_each_batch_after_it_was_written) {
    EXPECT_EQ(events_of(1500, false),
              (strings{"write 1000", "note 1000", "write 500", "note 500"}));
}

// Batches that were written while the note of an earlier one was on its way were repeated, too.
TEST_F(result_emitting, writes_to_a_pipe_only_what_follows_noted_results) {
    EXPECT_EQ(events_of(1500, true),
              (strings{"begin", "flush", "write 1000", "note 1000", "end", "flush", //
                       "begin", "flush", "write 500", "note 500", "end", "flush"}));
    EXPECT_EQ(events_of(5, true, true), (strings{"note 5", "flush"})) << "nothing is written there";
}

} // namespace
} // namespace heddle::cli
