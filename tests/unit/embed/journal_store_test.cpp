// Recorded calls in a journal of the host.
#include "journal_harness.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <stdexcept>
#include <thread>
#include <vector>

namespace heddle {
namespace {

using namespace std::chrono_literals;
using testing::both;
using testing::called;
using testing::comes_true;
using ::testing::HasSubstr;
using testing::loaded;
using testing::two_steps;
using testing::wait_for;

/// Keeps all records in one list, as they came.
class records_in_memory final : public journal_store {
public:
    result<std::vector<std::string>> load(const std::string& tag) override {
        if (throws_on_load) throw std::runtime_error("the rack is locked");
        is_loading = true;
        std::this_thread::sleep_for(load_takes.load());
        is_loading = false;
        const std::lock_guard held(mutex_);
        std::vector<std::string> found;
        for (const journal_record& each : all_) {
            if (each.tag == tag) found.push_back(each.bytes);
        }
        return found;
    }
    result<void> append(const std::vector<journal_record>& records) override {
        if (throws_on_append) throw std::runtime_error("the rack is full");
        if (is_loading) has_appended_beside_a_load = true;
        std::unique_lock held(mutex_);
        is_appending = true;
        opened_.wait(held, [&] { return !is_closed; });
        is_appending = false;
        all_.insert(all_.end(), records.begin(), records.end());
        return {};
    }
    result<bool> forget(const std::string& tag) override {
        const std::lock_guard held(mutex_);
        return std::erase_if(all_, [&](const auto& each) { return each.tag == tag; }) != 0;
    }

    [[nodiscard]] std::vector<journal_record> all() {
        const std::lock_guard held(mutex_);
        return all_;
    }
    void set(std::vector<journal_record> records) {
        const std::lock_guard held(mutex_);
        all_ = std::move(records);
    }
    /// Appends wait meanwhile.
    void close(bool closed) {
        const std::lock_guard held(mutex_);
        is_closed = closed;
        opened_.notify_all();
    }

    std::atomic<bool> is_appending{false};
    std::atomic<bool> is_loading{false};
    std::atomic<std::chrono::milliseconds> load_takes{0ms};
    std::atomic<bool> has_appended_beside_a_load{false};
    std::atomic<bool> throws_on_load{false};
    std::atomic<bool> throws_on_append{false};

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_closed = false;
    std::vector<journal_record> all_;
};

class journal_of_host : public testing::recorded_runtime {
protected:
    [[nodiscard]] runtime_options with_store(unsigned threads = 1) const {
        runtime_options wanted = options();
        wanted.journal.directory.clear();
        wanted.journal.store = store;
        wanted.threads = threads;
        return wanted;
    }
    const std::shared_ptr<records_in_memory> store = std::make_shared<records_in_memory>();
};

TEST_F(journal_of_host, has_the_answer_of_a_call_that_has_ended) {
    for (int i = 0; i < 2; ++i) {
        runtime rt(with_store(2));
        const program flow = loaded(rt, two_steps);
        for (int j = 0; j < 2; ++j) {
            const auto ended = called(flow, "go", both("a", "b"), {.tag = "order 1"});
            ASSERT_TRUE(ended) << to_text(ended.error());
            EXPECT_EQ(ended->value().to_string(), R"(["1","2"])");
            EXPECT_EQ(ended->is_recorded(), i + j > 0);
            EXPECT_EQ(ended->used().requests + ended->used_before().requests, 2U);
        }
        EXPECT_FALSE(called(flow, "go", both("a", "b"))->is_recorded());
    }
    EXPECT_EQ(model->requests(), 6);
}

TEST_F(journal_of_host, refuses_a_directory_too) {
    runtime_options both_of_them = with_store();
    both_of_them.journal.directory = (folder.path / "calls").string();
    const auto refused = runtime::create(both_of_them);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("both a directory and a store"));
}

/// As with a directory.
TEST_F(journal_of_host, continues_a_call_that_was_cancelled) {
    std::vector<usage> used_before;
    for (const runtime_options& each : {options(), with_store()}) {
        model->is_patient = true;
        runtime rt(each);
        const program flow = loaded(rt, two_steps);
        const int before = model->requests("a");
        interrupt(flow, "go", both("a", "wait"), "order 1");
        model->is_patient = false;
        const auto ended = called(flow, "go", both("a", "wait"), {.tag = "order 1"});
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(model->requests("a"), before + 1);
        EXPECT_EQ(ended->used().requests, 1U);
        used_before.push_back(ended->used_before());
    }
    EXPECT_EQ(used_before[0], used_before[1]);
    EXPECT_GE(used_before[0].requests, 1U);
}

TEST_F(journal_of_host, tries_a_failed_call_again) {
    model->refuses = true;
    runtime rt(with_store());
    const program flow = loaded(rt, two_steps);
    EXPECT_FALSE(called(flow, "go", both("a", "refuse"), {.tag = "order 1"}));
    model->refuses = false;
    const auto ended = called(flow, "go", both("a", "refuse"), {.tag = "order 1"});
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(model->requests("a"), 1);
}

TEST_F(journal_of_host, uses_responses_for_another_version_of_the_program) {
    for (int i = 0; i < 2; ++i) {
        runtime rt(with_store());
        const program flow = loaded(rt, std::string(two_steps) + (i == 0 ? "" : "(define more 1)"));
        const auto ended = called(flow, "go", both("a", "b"), {.tag = "order 1"});
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->value().to_string(), R"(["1","2"])");
        EXPECT_FALSE(ended->is_recorded());
    }
    EXPECT_EQ(model->requests(), 2);
    runtime rt(with_store());
    EXPECT_TRUE(called(loaded(rt, std::string(two_steps) + "(define more 1)"), "go", both("a", "b"),
                       {.tag = "order 1"})
                    ->is_recorded());
}

TEST_F(journal_of_host, distinguishes_calls_and_forgets_them) {
    runtime rt(with_store());
    const program flow = loaded(rt, two_steps);
    EXPECT_FALSE(rt.forget("order 1").value());
    ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"}));
    const auto other = called(flow, "go", both("a", "c"), {.tag = "order 1"});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), runtime_errc::tag_mismatch);
    EXPECT_TRUE(rt.forget("order 1").value());
    EXPECT_FALSE(rt.forget("order 1").value());
    EXPECT_TRUE(store->all().empty());
    EXPECT_EQ(called(flow, "go", both("a", "c"), {.tag = "order 1"})->value().to_string(),
              R"(["3","4"])");
    job running = flow.start("go", both("wait", "b"), {.tag = "order 2"});
    ASSERT_TRUE(comes_true([&] { return model->waits() == 1; }));
    EXPECT_EQ(called(flow, "go", both("wait", "b"), {.tag = "order 2"}).error().code(),
              runtime_errc::tag_in_use);
    EXPECT_EQ(rt.forget("order 2").error().code(), runtime_errc::tag_in_use);
}

/// As if the process had been killed after each append.
TEST_F(journal_of_host, continues_after_each_record) {
    {
        runtime rt(with_store());
        ASSERT_TRUE(called(loaded(rt, two_steps), "go", both("a", "b"), {.tag = "order 1"}));
    }
    const std::vector<journal_record> whole = store->all();
    ASSERT_GT(whole.size(), 4U);
    int asked_before = 2;
    for (std::size_t count = 0; count <= whole.size(); ++count) {
        store->set({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count)});
        const int before = model->requests();
        for (int i = 0; i < 2; ++i) {
            runtime rt(with_store());
            const auto ended =
                called(loaded(rt, two_steps), "go", both("a", "b"), {.tag = "order 1"});
            ASSERT_TRUE(ended) << count << to_text(ended.error());
            EXPECT_EQ(ended->value().as_array().size(), 2U);
            EXPECT_TRUE(i == 0 || ended->is_recorded()) << count;
        }
        const int asked = model->requests() - before;
        EXPECT_LE(asked, asked_before) << count; // more records, fewer requests
        asked_before = asked;
        EXPECT_TRUE(count < whole.size() || asked == 0) << asked;
    }
}

TEST_F(journal_of_host, fails_only_recorded_calls_when_the_store_throws) {
    runtime rt(with_store());
    const program flow = loaded(rt, two_steps);
    store->throws_on_append = true;
    const auto failed = called(flow, "go", both("a", "b"), {.tag = "order 1"});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), errc::io_error) << to_text(failed.error());
    EXPECT_THAT(failed.error().message(), HasSubstr("the rack is full"));
    EXPECT_TRUE(called(flow, "go", both("a", "b")));
    store->throws_on_append = false;
    EXPECT_TRUE(comes_true(
        [&] { return called(flow, "go", both("a", "b"), {.tag = "order 1"}).has_value(); }));
    store->throws_on_load = true;
    const auto unread = called(flow, "go", both("a", "b"), {.tag = "order 2"});
    ASSERT_FALSE(unread);
    EXPECT_THAT(unread.error().message(), HasSubstr("the rack is locked"));
    store->throws_on_load = false;
    EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 2"}));
    EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"})->is_recorded());
}

TEST_F(journal_of_host, reports_records_that_are_damaged) {
    store->set(
        {{"order 1", "no record"}, {"order 2", "\x01"}, {"order 3", ""}, {"order 4", "\x07"}});
    runtime rt(with_store());
    const program flow = loaded(rt, two_steps);
    for (const char* tag : {"order 1", "order 2", "order 3", "order 4"}) {
        const auto damaged = called(flow, "go", both("a", "b"), {.tag = tag});
        ASSERT_FALSE(damaged);
        EXPECT_EQ(damaged.error().code(), errc::io_error) << to_text(damaged.error());
        // Other calls are not affected, and a call that is forgotten begins anew.
        EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "whole"})) << tag;
        EXPECT_TRUE(rt.forget(tag).value()) << tag;
        EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = tag})) << tag;
    }
}

TEST_F(journal_of_host, holds_up_only_recorded_calls_when_it_is_slow) {
    store->close(true);
    runtime rt(with_store());
    const program flow = loaded(rt, two_steps);
    std::vector<std::string> tags;
    for (int i = 0; i < 20; ++i) tags.push_back("order " + std::to_string(i));
    std::vector<std::future<result<answer>>> waiting;
    for (const std::string& tag : tags)
        waiting.push_back(flow.call("go", both("a", "b"), {.tag = tag}, boost::asio::use_future));
    EXPECT_TRUE(called(flow, "go", both("x", "y")));
    EXPECT_EQ(model->requests("a"), 0); // a request is sent when its record is there
    // A deadline ends the wait of a call that has not begun.
    ASSERT_TRUE(comes_true([&] { return store->is_appending.load(); }));
    const auto late = called(flow, "go", both("a", "b"), {.timeout = 50ms, .tag = "late"});
    ASSERT_FALSE(late);
    EXPECT_EQ(http_status(late.error()), 504);
    store->close(false);
    for (auto& each : waiting) EXPECT_TRUE(wait_for(std::move(each)));
}

// Its tag became free while the store still read its records: the next call appended meanwhile.
TEST_F(journal_of_host, reads_the_records_of_a_call_to_the_end_before_another_has_its_tag) {
    runtime rt(with_store(2));
    const program flow = loaded(rt, two_steps);
    store->load_takes = 400ms;
    const auto late = called(flow, "go", both("a", "b"), {.timeout = 50ms, .tag = "order 1"});
    ASSERT_FALSE(late);
    EXPECT_EQ(http_status(late.error()), 504);
    store->load_takes = 0ms;
    std::vector<std::future<result<answer>>> again; // on both threads
    for (int i = 0; i < 4; ++i) {
        again.push_back(
            flow.call("go", both("a", "b"), {.tag = "order 1"}, boost::asio::use_future));
        (void)wait_for(std::move(again.back()));
    }
    EXPECT_FALSE(store->has_appended_beside_a_load);
}

TEST_F(journal_of_host, can_forget_calls_while_others_are_appended) {
    runtime rt(with_store(2));
    const program flow = loaded(rt, two_steps);
    ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order"}));
    std::atomic<bool> is_over{false};
    std::thread busy([&] {
        for (int i = 0; !is_over; ++i)
            (void)called(flow, "go", both("a", "b"), {.tag = "busy " + std::to_string(i)});
    });
    const auto forgotten = rt.forget("order");
    is_over = true;
    busy.join();
    ASSERT_TRUE(forgotten) << to_text(forgotten.error());
    EXPECT_TRUE(*forgotten);
}

TEST_F(journal_of_host, ends_with_calls_in_progress) {
    std::vector<std::future<result<answer>>> ended;
    {
        runtime rt(with_store(2));
        const program flow = loaded(rt, two_steps);
        for (const char* tag : {"order 1", "order 2", "order 3", "order 4"})
            ended.push_back(
                flow.call("go", both("a", "wait"), {.tag = tag}, boost::asio::use_future));
        ASSERT_TRUE(comes_true([&] { return model->waits() == 4; }));
    }
    for (auto& each : ended) EXPECT_TRUE(wait_for(std::move(each)).error().is_cancelled());
    model->is_patient = false;
    runtime rt(with_store(2));
    const auto again = called(loaded(rt, two_steps), "go", both("a", "wait"), {.tag = "order 3"});
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_EQ(model->requests("a"), 4);
}

} // namespace
} // namespace heddle
