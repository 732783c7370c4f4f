// Calls with a tag, which go on where they were.
#include "journal_harness.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include <signal.h>
#include <sys/resource.h>

namespace heddle {
namespace {

using namespace std::chrono_literals;
using testing::both;
using testing::called;
using ::testing::HasSubstr;
using testing::loaded;
using testing::two_steps;
using testing::wait_for;

class journal_of_calls : public testing::recorded_runtime {};

TEST_F(journal_of_calls, has_the_answer_of_a_call_that_has_ended) {
    usage first_use;
    {
        runtime rt(options());
        const auto ended = called(loaded(rt, two_steps), "go", both("a", "b"), {.tag = "order 1"});
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->value().to_string(), R"(["1","2"])");
        EXPECT_FALSE(ended->is_recorded());
        EXPECT_EQ(ended->used_before(), usage());
        first_use = ended->used();
        EXPECT_EQ(first_use.requests, 2U);
    }
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    for (int i = 0; i < 2; ++i) {
        const auto again = called(flow, "go", both("a", "b"), {.tag = "order 1"});
        ASSERT_TRUE(again) << to_text(again.error());
        EXPECT_EQ(again->value().to_string(), R"(["1","2"])");
        EXPECT_TRUE(again->is_recorded());
        EXPECT_EQ(again->used(), usage());
        EXPECT_EQ(again->used_before().requests, 2U);
        EXPECT_EQ(again->used_before().input_tokens, first_use.input_tokens);
        EXPECT_EQ(again->tag(), "order 1");
        EXPECT_EQ(again->to_json().at("recorded"), json(true));
    }
    EXPECT_EQ(model->requests(), 2);
    // Other tags, and none, are other calls.
    EXPECT_EQ(called(flow, "go", both("a", "b"), {.tag = "order 2"})->value().to_string(),
              R"(["3","4"])");
    EXPECT_EQ(called(flow, "go", both("a", "b"))->value().to_string(), R"(["5","6"])");
    EXPECT_EQ(called(flow, "go", both("a", "b"))->value().to_string(), R"(["7","8"])");
}

TEST_F(journal_of_calls, keeps_answers_with_each_durability) {
    runtime_options chosen = options();
    using enum journal_durability;
    for (const journal_durability each : {fsync, group, off}) {
        chosen.journal.durability = each;
        chosen.journal.directory = (folder.path / std::to_string(static_cast<int>(each))).string();
        for (int i = 0; i < 2; ++i) {
            runtime rt(chosen);
            const program flow = loaded(rt, two_steps);
            const auto ended = called(flow, "go", both("a", "b"), {.tag = "order 1"});
            ASSERT_TRUE(ended) << to_text(ended.error());
            EXPECT_EQ(ended->is_recorded(), i == 1);
            // Within one process, too.
            EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"})->is_recorded());
        }
    }
    EXPECT_EQ(model->requests(), 6);
}

TEST_F(journal_of_calls, keeps_what_was_paid_for_when_a_call_is_cancelled) {
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    interrupt(flow, "go", both("a", "wait"), "order 1");
    const auto late = called(flow, "go", both("a", "wait"), {.timeout = 100ms, .tag = "order 1"});
    ASSERT_FALSE(late);
    EXPECT_THAT(to_text(late.error()), HasSubstr("Timeout"));
    const int before = model->waits();
    job waiting = flow.start("go", both("a", "wait"), {.tag = "order 1"});
    ASSERT_TRUE(testing::comes_true([&] { return model->waits() > before; }));
    const auto second = called(flow, "go", both("a", "wait"), {.tag = "order 1"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), runtime_errc::tag_in_use);
    EXPECT_EQ(http_status(second.error()), 409);
    EXPECT_THAT(second.error().message(), HasSubstr("order 1"));
    EXPECT_EQ(rt.forget("order 1").error().code(), runtime_errc::tag_in_use);
    waiting.cancel();
    EXPECT_FALSE(wait_for(waiting.result(boost::asio::use_future)));
    EXPECT_EQ(model->requests("a"), 1);
}

TEST_F(journal_of_calls, continues_calls_that_a_shutdown_has_ended) {
    runtime_options chosen = options();
    chosen.threads = 3;
    std::vector<std::future<result<answer>>> calls;
    {
        runtime rt(chosen);
        const program flow = loaded(rt, two_steps);
        for (const char* tag : {"x", "y", "z", "w", "v", "u"}) {
            calls.push_back(flow.call("go", both(tag, std::string("wait ") + tag), {.tag = tag},
                                      boost::asio::use_future));
        }
        ASSERT_TRUE(testing::comes_true([&] { return model->waits() == 6; }));
    } // ends all of them
    for (auto& each : calls) EXPECT_FALSE(wait_for(std::move(each)));
    model->is_patient = false;
    runtime rt(chosen);
    const program flow = loaded(rt, two_steps);
    for (const char* tag : {"x", "y", "z", "w", "v", "u"}) {
        const auto ended = called(flow, "go", both(tag, std::string("wait ") + tag), {.tag = tag});
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->used().requests, 1U);
        EXPECT_EQ(model->requests(tag), 1);
    }
}

TEST_F(journal_of_calls, continues_a_call_that_has_failed) {
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    model->refuses = true;
    for (int i = 0; i < 2; ++i) {
        const auto failed = called(flow, "go", both("a", "refuse"), {.tag = "order 1"});
        ASSERT_FALSE(failed);
        EXPECT_THAT(to_text(failed.error()), HasSubstr("closed"));
    }
    EXPECT_EQ(model->requests("a"), 1);
    const int before = model->requests("refuse");
    model->refuses = false;
    const auto ended = called(flow, "go", both("a", "refuse"), {.tag = "order 1"});
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(model->requests("a"), 1);
    EXPECT_EQ(model->requests("refuse"), before + 1);
    EXPECT_EQ(ended->value().as_array()[0].to_string(), R"("1")");
    EXPECT_EQ(ended->used().requests, 1U);
    EXPECT_GE(ended->used_before().requests, 1U);
    EXPECT_TRUE(called(flow, "go", both("a", "refuse"), {.tag = "order 1"})->is_recorded());
}

TEST_F(journal_of_calls, refuses_a_tag_for_another_call) {
    {
        runtime rt(options());
        ASSERT_TRUE(called(loaded(rt, two_steps), "go", both("a", "b"), {.tag = "order 1"}));
    }
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    const auto input = called(flow, "go", both("a", "c"), {.tag = "order 1"});
    ASSERT_FALSE(input);
    EXPECT_EQ(input.error().code(), runtime_errc::tag_mismatch);
    EXPECT_EQ(http_status(input.error()), 409);
    EXPECT_THAT(
        input.error().message(),
        HasSubstr(R"(tag "order 1" is that of another call: the input has another "second")"));
    const auto function = called(flow, "other", both("a", "b"), {.tag = "order 1"});
    ASSERT_FALSE(function);
    EXPECT_THAT(function.error().message(), HasSubstr(R"(called as "go", and is "other" now)"));
    EXPECT_EQ(details_of(function.error())->tag, "order 1");
    EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"})->is_recorded());
}

TEST_F(journal_of_calls, reuses_responses_under_a_changed_program) {
    runtime rt(options());
    ASSERT_TRUE(called(loaded(rt, two_steps), "go", both("a", "b"), {.tag = "order 1"}));
    const program changed = loaded(rt, R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define (go first second)
  (list (content (ask "new")) (content (ask second)) (content (ask first))))
)lisp");
    const auto ended = called(changed, "go", both("a", "b"), {.tag = "order 1"});
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->value().to_string(), R"(["3","2","1"])");
    EXPECT_EQ(model->requests(), 3);
    EXPECT_EQ(ended->used().requests, 1U);
    EXPECT_EQ(ended->used_before().requests, 2U);
    EXPECT_TRUE(called(changed, "go", both("a", "b"), {.tag = "order 1"})->is_recorded());
}

TEST_F(journal_of_calls, notices_that_an_import_has_changed) {
    const std::string flow = folder.write("flow.heddle", R"lisp(
(import "asks.heddle")
(define (go first second) (list (content (ask first)) (content (ask-again second))))
)lisp");
    const auto imported = [&](const std::string& prompt) {
        folder.write("asks.heddle",
                     "(defatom ask (params text) (instructions \"{{text}}\"))\n"
                     "(defatom ask-again (params text) (instructions \"" +
                         prompt + "\"))");
    };
    imported("{{text}}");
    const auto call = [&] {
        runtime rt(options());
        const auto program = rt.load(flow);
        EXPECT_TRUE(program) << to_text(program.error());
        const auto ended = called(*program, "go", both("a", "b"), {.tag = "order 1"});
        return ended ? ended->value().to_string() : to_text(ended.error());
    };
    EXPECT_EQ(call(), R"(["1","2"])");
    EXPECT_EQ(call(), R"(["1","2"])");
    imported("please: {{text}}");
    EXPECT_EQ(call(), R"(["1","3"])");
    EXPECT_EQ(call(), R"(["1","3"])");
    imported("{{text}}");
    EXPECT_EQ(call(), R"(["1","2"])"); // what was paid for once is still there
    EXPECT_EQ(model->requests(), 3);
}

TEST_F(journal_of_calls, starts_over_where_the_records_do_not_fit) {
    // What the top level draws by chance is another one in each process.
    constexpr const char* drawn = R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define order (uuid))
(define (go first second) (list (content (ask first)) (content (ask (if (string? order) order ""))) (content (ask second))))
)lisp";
    {
        runtime rt(options());
        interrupt(loaded(rt, drawn), "go", both("a", "wait"), "x");
    }
    EXPECT_EQ(model->requests(), 3);
    runtime rt(options());
    interrupt(loaded(rt, drawn), "go", both("a", "wait"), "x");
    EXPECT_EQ(model->requests("a"), 1);
    EXPECT_EQ(model->requests(), 5);
}

TEST_F(journal_of_calls, refuses_bad_input_without_a_record) {
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    EXPECT_FALSE(called(flow, "nowhere", {}, {.tag = "order 1"}));
    EXPECT_FALSE(called(flow, "go", json::object{{"third", 1}}, {.tag = "order 1"}));
    EXPECT_FALSE(*rt.forget("order 1"));
    EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"}));
}

TEST_F(journal_of_calls, forgets_a_call) {
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"}));
    EXPECT_TRUE(*rt.forget("order 1"));
    EXPECT_FALSE(*rt.forget("order 1"));
    const auto again = called(flow, "go", both("a", "c"), {.tag = "order 1"});
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_EQ(again->value().to_string(), R"(["3","4"])");
    EXPECT_EQ(again->used_before(), usage());
    EXPECT_TRUE(called(flow, "go", both("a", "c"), {.tag = "order 1"})->is_recorded());
    runtime without;
    EXPECT_EQ(without.forget("order 1").error().code(), errc::invalid_argument);
}

/// The clock of a journal counts milliseconds.
void await_another_millisecond() {
    const auto now = [] {
        return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    };
    EXPECT_TRUE(testing::comes_true([&, then = now() + 1ms] { return now() > then; }));
}

TEST_F(journal_of_calls, forgets_old_calls) {
    runtime_options chosen = options();
    {
        runtime rt(chosen);
        const program flow = loaded(rt, two_steps);
        ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "old"}));
        interrupt(flow, "go", both("a", "wait"), "begun");
    }
    await_another_millisecond();
    chosen.journal.keep = 0ns;
    {
        runtime rt(chosen);
        EXPECT_FALSE(*rt.forget("old"));
        EXPECT_FALSE(*rt.forget("begun"));
        const program flow = loaded(rt, two_steps);
        ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "newer"}));
        await_another_millisecond();
        ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "newest"}));
        EXPECT_FALSE(*rt.forget("newer"));
    }
    chosen.journal.keep = std::chrono::nanoseconds::max();
    runtime rt(chosen);
    EXPECT_TRUE(*rt.forget("newest"));
}

TEST_F(journal_of_calls, works_on_several_threads_and_keeps_its_order) {
    runtime_options chosen = options();
    chosen.threads = 4;
    const auto run_all = [&](runtime& rt, int calls) {
        const program flow = loaded(rt, two_steps);
        std::vector<std::future<result<answer>>> all;
        std::vector<std::string> tags;
        for (int i = 0; i < calls; ++i) tags.push_back("order " + std::to_string(i));
        for (int i = 0; i < calls; ++i) {
            all.push_back(flow.call("go", both("a" + std::to_string(i), "b" + std::to_string(i)),
                                    {.tag = tags[static_cast<std::size_t>(i)]},
                                    boost::asio::use_future));
        }
        std::vector<std::string> values;
        for (auto& each : all) {
            const auto ended = wait_for(std::move(each));
            values.push_back(ended ? ended->value().to_string() : to_text(ended.error()));
        }
        const runtime_stats stats = rt.stats();
        for (const auto& each : stats.threads) EXPECT_GT(each.done, 0U) << "a thread had no call";
        return values;
    };
    std::vector<std::string> first;
    {
        runtime rt(chosen);
        first = run_all(rt, 150);
    }
    EXPECT_EQ(model->requests(), 300);
    runtime rt(chosen);
    EXPECT_EQ(run_all(rt, 150), first);
    EXPECT_EQ(model->requests(), 300);
}

TEST_F(journal_of_calls, runs_on_a_loop_of_the_host) {
    for (int i = 0; i < 2; ++i) {
        boost::asio::io_context context;
        runtime rt(context, host_threads::one, options());
        auto flow = rt.load_text("flow.heddle", two_steps);
        ASSERT_TRUE(flow);
        auto ended = flow->call("go", both("a", "b"), {.tag = "order 1"}, boost::asio::use_future);
        rt.shutdown(10s, [] {});
        context.run();
        const auto answered = ended.get();
        ASSERT_TRUE(answered) << to_text(answered.error());
        EXPECT_EQ(answered->is_recorded(), i == 1);
    }
    EXPECT_EQ(model->requests(), 2);
}

TEST_F(journal_of_calls, is_open_in_one_runtime_at_a_time) {
    const runtime first(options());
    const auto second = runtime::create(options());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), errc::io_error);
    EXPECT_THAT(second.error().message(), HasSubstr("is open in another process"));
}

TEST_F(journal_of_calls, is_refused_where_it_cannot_be_used) {
    runtime_options chosen = options();
    chosen.journal.directory = (folder.path / "no" / "folder").string();
    EXPECT_EQ(runtime::create(chosen).error().code(), errc::io_error);
    { const runtime first(options()); }
    const auto file = folder.path / "calls" / "run.db";
    {
        // The layout of a version that is to come: user_version of the header of SQLite.
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(60);
        bytes.write("\0\0\0\x63", 4);
    }
    const auto later = runtime::create(options());
    ASSERT_FALSE(later);
    EXPECT_THAT(later.error().message(), HasSubstr("newer version of heddle (layout 99)"));
}

TEST_F(journal_of_calls, keeps_values_as_they_are) {
    runtime rt(options());
    const program flow = loaded(rt, "(define (same input) input)");
    const json data = json::object{{"z", 1},
                                   {"a", 2.5},
                                   {"whole", 3.0},
                                   {"text", "ü\n\"\\"},
                                   {"none", nullptr},
                                   {"list", json::array{true, false, json::array{},
                                                        std::numeric_limits<std::int64_t>::min()}}};
    const auto first = called(flow, "same", data, {.tag = "x"});
    ASSERT_TRUE(first) << to_text(first.error());
    const auto again = called(flow, "same", data, {.tag = "x"});
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_TRUE(again->is_recorded());
    EXPECT_EQ(again->value(), first->value());
    EXPECT_EQ(again->value().to_string(), first->value().to_string());
}

/// Files of this process cannot grow beyond a size, as on a full disk.
class full_disk {
public:
    explicit full_disk(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit bounded{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &bounded);
    }
    ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    full_disk(const full_disk&) = delete;
    full_disk& operator=(const full_disk&) = delete;

private:
    rlimit before_{};
};

TEST_F(journal_of_calls, fails_recorded_calls_only_while_it_cannot_be_written) {
    runtime rt(options());
    const program flow = loaded(rt, two_steps);
    ASSERT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"}));
    {
        const full_disk full(1);
        const auto failed = called(flow, "go", both("c", "d"), {.tag = "order 2"});
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code(), errc::io_error);
        EXPECT_THAT(failed.error().message(), HasSubstr("run.db"));
        EXPECT_FALSE(called(flow, "go", both("c", "d"), {.tag = "order 3"}));
        const auto plain = called(flow, "go", both("e", "f"));
        ASSERT_TRUE(plain) << to_text(plain.error());
    }
    const int before = model->requests("c");
    // It is opened again, and has lost nothing that was acknowledged.
    EXPECT_TRUE(testing::comes_true(
        [&] { return called(flow, "go", both("c", "d"), {.tag = "order 2"}).has_value(); }));
    EXPECT_LE(model->requests("c"), before + 1);
    EXPECT_TRUE(called(flow, "go", both("a", "b"), {.tag = "order 1"})->is_recorded());
    EXPECT_TRUE(called(flow, "go", both("c", "d"), {.tag = "order 2"})->is_recorded());
}

} // namespace
} // namespace heddle
