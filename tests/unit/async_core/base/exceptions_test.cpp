#include <heddle/base/exceptions.hpp>

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>
#include <failing_allocations.hpp>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

namespace heddle {
namespace {

using testing::failing_allocations;

error thrown_and_caught(const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        return error_of_exception("the effect 'fetch'");
    }
    return error(errc::internal, "nothing was thrown");
}

TEST(exceptions, are_errors_with_the_name_of_who_threw) {
    const error known = thrown_and_caught([] { throw std::runtime_error("no way"); });
    EXPECT_EQ(known.message(), "the effect 'fetch' threw an exception: no way");
    EXPECT_EQ(known.code(), make_error_code(errc::internal));
    const error unknown = thrown_and_caught([] { throw 7; });
    EXPECT_EQ(unknown.message(), "the effect 'fetch' threw an exception of an unknown type");
    EXPECT_EQ(unknown.code(), make_error_code(errc::internal));
}

TEST(exceptions, their_messages_become_valid_text) {
    EXPECT_EQ(thrown_and_caught([] { throw std::runtime_error("a\xFF"); }).message(),
              "the effect 'fetch' threw an exception: a" + std::string(utf8::replacement));
}

TEST(exceptions, the_error_that_one_carries_comes_out_as_it_is) {
    const error own = error(errc::not_found, "gone").with_hint("look elsewhere");
    const error found = thrown_and_caught([&] { throw error_exception(own); });
    EXPECT_EQ(&found.info(), &own.info());
}

TEST(exceptions, exhausted_memory_is_a_limit) {
    const error found = thrown_and_caught([] { throw std::bad_alloc(); });
    EXPECT_EQ(found.code(), make_error_code(errc::limit_exceeded));
    EXPECT_EQ(found.message(), "out of memory");
    EXPECT_EQ(thrown_and_caught([] { throw std::bad_array_new_length(); }).message(),
              "out of memory");
}

TEST(exceptions, without_memory_for_a_message_it_is_the_error_made_in_advance) {
    const std::function<void()> known = [] { throw std::runtime_error("no way"); };
    const std::function<void()> unknown = [] { throw 7; };
    for (const auto& work : {known, unknown}) {
        error found(errc::internal, "");
        failing_allocations::plan(1, 1000);
        {
            const failing_allocations::scope without_memory(true);
            found = thrown_and_caught(work);
        }
        EXPECT_EQ(failing_allocations::failed(), 1U);
        EXPECT_EQ(&found.info(), &out_of_memory().info());
    }
}

TEST(exceptions, a_carried_error_needs_no_memory) {
    const error own(errc::not_found, "gone");
    const std::function<void()> work = [&] { throw error_exception(own); };
    error found(errc::internal, "");
    failing_allocations::plan(1, 1000);
    {
        const failing_allocations::scope without_memory(true);
        found = thrown_and_caught(work);
    }
    EXPECT_EQ(found.message(), "gone");
}

TEST(out_of_memory, changes_of_a_copy_leave_it_alone) {
    const error changed = error(out_of_memory()).with_hint("buy some");
    EXPECT_EQ(changed.code(), make_error_code(errc::limit_exceeded));
    EXPECT_EQ(out_of_memory().info().hint, "");
}

} // namespace
} // namespace heddle
