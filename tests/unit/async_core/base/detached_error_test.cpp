#include <heddle/base/detached_error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace heddle {
namespace {

using namespace std::chrono_literals;

class session_value : public error_payload {};

TEST(detached_error, has_all_of_the_error_but_what_belongs_to_its_thread) {
    const error failure = error(errc::not_found, "no such file")
                              .with_hint("look elsewhere")
                              .with_origin(error_origin::server)
                              .with_retry_after(3s)
                              .with_retryable(true)
                              .with_attempts(2)
                              .with_trace("in task summarise")
                              .with_span({3, 5})
                              .with_cause(error(errc::io_error, "disk"))
                              .with_payload(std::make_shared<session_value>());
    const error copy = detached_error(failure);
    EXPECT_EQ(copy.code(), make_error_code(errc::not_found));
    EXPECT_EQ(copy.message(), "no such file");
    EXPECT_EQ(copy.info().hint, "look elsewhere");
    EXPECT_EQ(copy.info().origin, error_origin::server);
    EXPECT_EQ(copy.info().retry_after, 3s);
    EXPECT_EQ(copy.info().retryable, true);
    EXPECT_EQ(copy.info().attempts, 2U);
    EXPECT_TRUE(copy.info().trace.empty());
    EXPECT_FALSE(copy.info().span.known());
    EXPECT_EQ(copy.info().cause, nullptr);
    EXPECT_EQ(copy.info().payload, nullptr);
    EXPECT_NE(&copy.info(), &failure.info());
}

TEST(detached_error, keeps_why_work_was_cancelled) {
    const error copy = detached_error(error::cancelled(cancel_reason::deadline, "too late"));
    EXPECT_EQ(copy.cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(copy.message(), "too late");
}

} // namespace
} // namespace heddle
