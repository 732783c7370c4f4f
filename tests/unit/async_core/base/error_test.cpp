#include <heddle/base/error.hpp>

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace heddle {
namespace {

using namespace std::chrono_literals;

/// Of an error and its causes.
std::vector<std::string> messages_of(const error& failure) {
    std::vector<std::string> strings;
    for (const error* each = &failure; each; each = each->info().cause.get())
        strings.push_back(each->message());
    return strings;
}

TEST(error, a_copy_shares_until_one_of_both_changes) {
    const error first(errc::not_found, "no such file");
    error second = first;
    EXPECT_EQ(&first.info(), &second.info());
    second = std::move(second).with_hint("look elsewhere");
    EXPECT_NE(&first.info(), &second.info());
    EXPECT_EQ(first.info().hint, "");
    EXPECT_EQ(second.info().hint, "look elsewhere");
    EXPECT_EQ(second.message(), "no such file");
    EXPECT_EQ(second.code(), make_error_code(errc::not_found));
}

TEST(error, who_owns_it_alone_changes_it_in_place) {
    error only(errc::io_error, "broken");
    const error_info* const info = &only.info();
    only = std::move(only).with_hint("a").with_trace("b").with_retryable(true);
    EXPECT_EQ(&only.info(), info);
}

/// Everything that can be set, each on a copy: the other keeps what it has.
TEST(error, each_change_unshares_and_keeps_the_rest) {
    error full(errc::limit_exceeded, "too long");
    full = std::move(full)
               .with_hint("shorten it")
               .with_span({3, 5})
               .with_trace("inner", {3, 4})
               .with_cause(error(errc::internal, "cause"))
               .with_origin(error_origin::server)
               .with_retry_after(7ms)
               .with_retryable(false)
               .with_payload(std::make_shared<error_payload>());
    const auto check_full = [](const error& e) {
        EXPECT_EQ(e.message(), "too long");
        EXPECT_EQ(e.info().hint, "shorten it");
        EXPECT_EQ(e.info().span, (source_span{3, 5}));
        ASSERT_EQ(e.info().trace.size(), 1U);
        EXPECT_EQ(e.info().cause->message(), "cause");
        EXPECT_EQ(e.info().origin, error_origin::server);
        EXPECT_EQ(e.info().retry_after, 7ms);
        EXPECT_EQ(e.info().retryable, false);
        EXPECT_NE(e.info().payload, nullptr);
    };
    check_full(full);
    error copy = full;
    copy = std::move(copy).with_trace("outer", {1, 9});
    check_full(full);
    ASSERT_EQ(copy.info().trace.size(), 2U);
    EXPECT_EQ(copy.info().trace[0].what, "inner"); // innermost first
    EXPECT_EQ(copy.info().trace[1].what, "outer");
    EXPECT_EQ(copy.info().hint, "shorten it");
    EXPECT_EQ(copy.info().cause, full.info().cause);
    error late = full;
    late = std::move(late).with_retry_after(1h);
    EXPECT_EQ(full.info().retry_after, 7ms);
    EXPECT_EQ(late.info().retry_after, 1h);
}

TEST(error, the_first_span_stays) {
    error placed = error(errc::internal, "x").with_span({3, 5}).with_span({8, 9});
    EXPECT_EQ(placed.info().span, (source_span{3, 5}));
}

TEST(error, a_cancelled_outcome_has_its_reason) {
    const error stopped = error::cancelled(cancel_reason::deadline);
    EXPECT_TRUE(stopped.is_cancelled());
    EXPECT_EQ(stopped.cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(stopped.message(), "deadline passed");
    EXPECT_EQ(error::cancelled(cancel_reason::user, "Ctrl-C").message(), "Ctrl-C");
    EXPECT_FALSE(error(errc::io_error, "x").is_cancelled());
}

TEST(error, what_it_quotes_never_makes_it_invalid_text) {
    const std::string r(utf8::replacement);
    const error bad = error(errc::io_error,
                            "a\xFF"
                            "b")
                          .with_hint("\xC3")
                          .with_trace("in \xF0\x9F task");
    EXPECT_EQ(bad.message(), "a" + r + "b");
    EXPECT_EQ(bad.info().hint, r);
    EXPECT_EQ(bad.info().trace[0].what, "in " + r + " task");
    EXPECT_EQ(error::cancelled(cancel_reason::user, "\x80").message(), r);
}

TEST(error, value_of_a_failed_result_throws_the_error) {
    const result<int> failed = error(errc::not_found, "nothing here");
    try {
        static_cast<void>(failed.value());
        FAIL() << "no exception";
    } catch (const error_exception& thrown) {
        EXPECT_STREQ(thrown.what(), "nothing here");
        EXPECT_EQ(thrown.failure().code(), make_error_code(errc::not_found));
    }
}

TEST(error, codes_have_names) {
    for (int code = 0; code <= static_cast<int>(errc::internal); ++code) {
        EXPECT_NE(base_category().message(code), "unknown error") << code;
    }
    EXPECT_EQ(base_category().message(1000), "unknown error");
}

TEST(error, a_long_trace_keeps_both_of_its_ends) {
    error failure(errc::internal, "deep");
    for (int i = 0; i < 100'000; ++i)
        failure = std::move(failure).with_trace("line " + std::to_string(i));
    const auto& trace = failure.info().trace;
    ASSERT_LE(trace.size(), 256U);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(trace[i].what, "line " + std::to_string(i));
    EXPECT_EQ(trace.back().what, "line 99999");
    EXPECT_EQ(trace[64].what,
              "… " + std::to_string(100'000 - (trace.size() - 1)) + " more lines …");
}

TEST(error, a_long_chain_of_causes_is_cut) {
    error failure(errc::internal, "0");
    for (int i = 1; i < 100'000; ++i)
        failure = error(errc::internal, std::to_string(i)).with_cause(std::move(failure));
    EXPECT_EQ(failure.message(), "99999");
    std::size_t length = 0;
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        EXPECT_EQ(each->message(), std::to_string(99'999 - length));
        ++length;
    }
    EXPECT_GE(length, 64U);
    EXPECT_LE(length, 129U);
}

TEST(error, a_trace_is_whole_up_to_its_bound) {
    error failure(errc::internal, "deep");
    for (int i = 0; i < 256; ++i)
        failure = std::move(failure).with_trace("line " + std::to_string(i));
    ASSERT_EQ(failure.info().trace.size(), 256U);
    EXPECT_EQ(failure.info().trace[64].what, "line 64");
    failure = std::move(failure).with_trace("line 256");
    ASSERT_EQ(failure.info().trace.size(), 129U);
    EXPECT_EQ(failure.info().trace[64].what, "… 129 more lines …");
    EXPECT_EQ(failure.info().trace[65].what, "line 193");
}

TEST(error, a_later_cause_comes_behind_those_that_there_are) {
    const error first = error(errc::io_error, "outer").with_cause(error(errc::io_error, "inner"));
    const error both =
        error(first).with_last_cause(error(errc::not_found, "root").with_hint("look"));
    EXPECT_EQ(messages_of(both), (std::vector<std::string>{"outer", "inner", "root"}));
    EXPECT_EQ(both.info().cause->info().cause->info().hint, "look");
    EXPECT_EQ(messages_of(first), (std::vector<std::string>{"outer", "inner"}));
    EXPECT_EQ(messages_of(error(errc::io_error, "alone").with_last_cause(error(errc::ok, "cause"))),
              (std::vector<std::string>{"alone", "cause"}));
}

TEST(error, the_first_64_causes_stay_before_a_later_one) {
    for (const int count : {63, 64, 65, 100}) {
        error failure(errc::internal, std::to_string(count));
        for (int i = count - 1; i >= 0; --i)
            failure = error(errc::internal, std::to_string(i)).with_cause(std::move(failure));
        const auto found =
            messages_of(std::move(failure).with_last_cause(error(errc::internal, "root")));
        const auto kept = static_cast<std::size_t>(std::min(count, 64));
        ASSERT_EQ(found.size(), kept + 2) << count;
        for (std::size_t i = 0; i <= kept; ++i) EXPECT_EQ(found[i], std::to_string(i));
        EXPECT_EQ(found.back(), "root");
    }
}

TEST(error, figures_of_its_attempts_are_kept) {
    const error once = error(errc::io_error, "x").with_attempts(1);
    const error thrice = error(once).with_attempts(3);
    EXPECT_EQ(once.info().attempts, 1U);
    EXPECT_EQ(thrice.info().attempts, 3U);
    EXPECT_EQ(error(errc::io_error, "x").info().attempts, std::nullopt);
}

TEST(error, a_span_that_is_unknown_holds_no_place) {
    EXPECT_EQ(error(errc::internal, "x").with_span({}).with_span({8, 9}).info().span,
              (source_span{8, 9}));
}

TEST(error, every_reason_of_cancellation_has_words_of_its_own) {
    std::set<std::string_view> seen;
    for (const cancel_reason reason :
         {cancel_reason::none, cancel_reason::user, cancel_reason::deadline, cancel_reason::sibling,
          cancel_reason::budget, cancel_reason::shutdown}) {
        EXPECT_TRUE(seen.insert(to_string(reason)).second) << to_string(reason);
        if (reason == cancel_reason::none) continue;
        const error stopped = error::cancelled(reason);
        EXPECT_EQ(stopped.cancelled_because(), reason);
        EXPECT_EQ(stopped.code(), errc::cancelled);
        EXPECT_EQ(stopped.message(), to_string(reason));
        EXPECT_EQ(error(stopped).with_trace("outer").cancelled_because(), reason);
    }
}

TEST(error, copies_are_changed_in_several_threads) {
    const error shared = error(errc::io_error, "shared").with_trace("first");
    std::vector<error> errors(4);
    std::vector<std::thread> threads;
    for (error& each : errors)
        threads.emplace_back([&each, copy = shared]() mutable {
            for (int i = 0; i < 1000; ++i) each = error(copy).with_trace("second");
        });
    for (std::thread& each : threads) each.join();
    for (const error& each : errors) EXPECT_EQ(each.info().trace.size(), 2U);
    EXPECT_EQ(shared.info().trace.size(), 1U);
}

result<int> half_of(int number) {
    if (number % 2 != 0) return error(errc::invalid_argument, std::to_string(number) + " is odd");
    return number / 2;
}
result<void> check_even(int number) {
    HEDDLE_TRY([[maybe_unused]] const int half, half_of(number));
    return {};
}
result<std::unique_ptr<int>> quarter_of(int number) {
    HEDDLE_TRY(const int half, half_of(number));
    HEDDLE_CHECK(check_even(half));
    HEDDLE_TRY(int quarter, half_of(half));
    return std::make_unique<int>(quarter);
}
result<int> quarter_by_pointer(int number) {
    HEDDLE_TRY(const std::unique_ptr<int> quarter, quarter_of(number));
    return *quarter;
}

TEST(result, is_passed_on_by_the_first_step_that_fails) {
    EXPECT_EQ(quarter_by_pointer(12).value(), 3);
    EXPECT_EQ(quarter_by_pointer(7).error().message(), "7 is odd");
    EXPECT_EQ(quarter_by_pointer(6).error().message(), "3 is odd");
}

} // namespace
} // namespace heddle
