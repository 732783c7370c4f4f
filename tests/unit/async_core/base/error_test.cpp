#include <heddle/base/error.hpp>

#include <heddle/base/exceptions.hpp>
#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

namespace heddle {
namespace {

using namespace std::chrono_literals;

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

TEST(error, a_cancelled_outcome_says_why) {
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

error thrown_and_caught(const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        return error_of_exception("the effect 'fetch'");
    }
    return error(errc::internal, "nothing was thrown");
}

TEST(exceptions, are_errors_with_the_name_of_who_threw) {
    EXPECT_EQ(thrown_and_caught([] { throw std::runtime_error("no way"); }).message(),
              "the effect 'fetch' threw an exception: no way");
    EXPECT_EQ(thrown_and_caught([] { throw 7; }).message(),
              "the effect 'fetch' threw an exception of an unknown type");
    EXPECT_EQ(thrown_and_caught([] { throw std::bad_alloc(); }).code(),
              make_error_code(errc::limit_exceeded));
    const error own(errc::not_found, "gone");
    EXPECT_EQ(thrown_and_caught([&] { throw error_exception(own); }).message(), "gone");
}

} // namespace
} // namespace heddle
