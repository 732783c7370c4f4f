// One after the other for very long: memory stays flat.
#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include <malloc.h>

namespace heddle::host {
namespace {

/// Bytes that the process has allocated and not freed.
std::size_t bytes_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

coro::task<void> evaluate(session* on, std::string text, std::optional<result<lang::value>>* out) {
    result<lang::value> ended = co_await on->evaluate("request", std::move(text));
    out->emplace(std::move(ended));
}

class long_life : public ::testing::Test {
protected:
    std::string run(session& on, const std::string& text) {
        std::optional<result<lang::value>> ended;
        coro::spawn(loop_, evaluate(&on, text, &ended),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        loop_.run();
        if (!ended) return "not ended";
        if (*ended) return lang::print_value(**ended);
        return std::string(lang::error_kind_name(ended->error()));
    }

    /// `HEDDLE_SOAK` in the environment: so many times in place of the usual.
    static std::size_t times(std::size_t usual) {
        const char* asked = std::getenv("HEDDLE_SOAK");
        return asked ? static_cast<std::size_t>(std::strtoull(asked, nullptr, 10)) : usual;
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_, coro::event_loop::time::virtual_};
    engine engine_{loop_, {}};
};

/// Closures in cycles, futures that hold them, failures of every kind.
constexpr const char* request =
    "(let ((keep nil) (f nil))"
    " (set! keep (lambda () keep))"
    " (set! f (spawn (lambda () f)))"
    " (await f)"
    " (let ((g nil)) (set! g (spawn (error \"no\" (lambda () g)))) (try (await g) (catch (e) 1)))"
    " (map-settled (lambda (i) (if (= i 1) (error \"bad\" keep) (sleep 0.001))) (range 3))"
    " (try (race (error \"a\" keep) (error \"b\")) (catch (e) 1))"
    " (timeout 0.001 (try (sleep 5) (finally keep)) 'late)"
    " (retry ((attempts 2) (backoff 0.001)) (error \"the end\" keep)))";

TEST_F(long_life, of_many_sessions_needs_no_more_than_of_a_few) {
    const std::size_t count = times(1000);
    std::size_t before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::unique_ptr<session> one = *engine_.new_session();
        ASSERT_EQ(run(*one, "(define (kept) (kept)) (define g (spawn kept))"), "#<future, done>");
        ASSERT_EQ(run(*one, request), "UserError");
        if (i == count / 10) before = bytes_in_use();
    }
    EXPECT_LT(bytes_in_use(), before + 256 * 1024);
}

TEST_F(long_life, keeps_the_texts_of_functions_that_are_alive) {
    const std::unique_ptr<session> one = *engine_.new_session();
    run(*one, "(define (broken) (error \"here\"))");
    for (int i = 0; i < 1000; ++i) run(*one, "(define x " + std::to_string(i) + ")");
    std::optional<result<lang::value>> ended;
    coro::spawn(loop_, evaluate(one.get(), "(broken)", &ended), [](std::exception_ptr) {});
    loop_.run();
    ASSERT_TRUE(ended && !*ended);
    const std::string report = one->render(ended->error());
    EXPECT_NE(report.find("(define (broken) (error \"here\"))"), std::string::npos) << report;
}

TEST_F(long_life, of_one_session_needs_no_more_than_its_first_evaluations) {
    const std::unique_ptr<session> one = *engine_.new_session();
    const auto round = [&](std::size_t i) {
        ASSERT_EQ(run(*one, request), "UserError");
        ASSERT_EQ(run(*one, "(define (again x) (list x 'quoted)) (length (again " +
                                std::to_string(i) + "))"),
                  "2");
        // Garbage waits for its collection, so there is a bound of it and not a fixed number.
        ASSERT_LE(one->memory().live_cells(), 50'000U);
    };
    const auto in_use = [&] {
        one->memory().collect_cycles();
        return bytes_in_use();
    };
    const std::size_t count = times(12'000);
    for (std::size_t i = 0; i < count / 4; ++i) round(i);
    const std::size_t before = in_use();
    for (std::size_t i = count / 4; i < count; ++i) round(i);
    EXPECT_LT(in_use(), before + 512 * 1024);
}

} // namespace
} // namespace heddle::host
