// How far the outermost maps of an evaluation have come.
#include "evaluation.hpp"

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <vector>

namespace heddle::host {
namespace {

class map_progress_test : public ::testing::Test {
protected:
    map_progress_test() { session_ = *engine_.new_session(); }

    /// Looks once after so many milliseconds of the evaluation.
    lang::map_progress look(const std::string& text, int after_ms) {
        lang::map_progress seen;
        boost::asio::steady_timer timer(context_, std::chrono::milliseconds(after_ms));
        timer.async_wait([&](auto) {
            seen = session_->outermost_maps();
            looked_ = true;
        });
        const auto ended = evaluate_to_the_end(context_, loop_, *session_, text);
        EXPECT_TRUE(ended && *ended) << shown(ended);
        EXPECT_TRUE(looked_);
        EXPECT_EQ(session_->outermost_maps().total, 0U) << "without an evaluation";
        return seen;
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    engine engine_{loop_, engine_parts()};
    std::unique_ptr<session> session_;
    bool looked_ = false;
};

TEST_F(map_progress_test, counts_what_has_ended) {
    const auto seen = look("(map (lambda (i) (when (> i 2) (sleep 0.2)) i) (range 10))", 60);
    EXPECT_EQ(seen.total, 10U);
    EXPECT_EQ(seen.ended, 3U);
    EXPECT_EQ(seen.failed, 0U);
}

TEST_F(map_progress_test, counts_the_errors_of_map_settled) {
    const auto seen =
        look("(map-settled (lambda (i) (if (< i 4) (error \"no\") (sleep 0.2))) (range 10))", 60);
    EXPECT_EQ(seen.total, 10U);
    EXPECT_EQ(seen.ended, 4U);
    EXPECT_EQ(seen.failed, 4U);
}

TEST_F(map_progress_test, counts_no_map_inside_of_a_map) {
    const auto seen = look(
        "(map (lambda (i) (map (lambda (k) (when (> i 0) (sleep 0.2))) (range 7))) (range 2))", 60);
    EXPECT_EQ(seen.total, 2U);
    EXPECT_EQ(seen.ended, 1U);
}

TEST_F(map_progress_test, adds_the_maps_of_other_branches) {
    const auto seen = look(
        "(parallel (map sleep '(0 0.2 0.2)) (progn (sleep 0.02) (map sleep '(0 "
        "0.2 0.2 0.2))) (sleep 0.2))",
        80);
    EXPECT_EQ(seen.total, 7U);
    EXPECT_EQ(seen.ended, 2U);
}

TEST_F(map_progress_test, forgets_a_map_that_is_over) {
    const auto seen = look("(let ((done (map (lambda (i) i) (range 5)))) (sleep 0.2) done)", 60);
    EXPECT_EQ(seen.total, 0U);
    const auto next =
        look("(progn (map (lambda (i) (sleep 0.02)) (range 5)) (map sleep '(0 0.3)))", 120);
    EXPECT_EQ(next.total, 2U);
    EXPECT_EQ(next.ended, 1U);
}

TEST_F(map_progress_test, counts_no_map_that_fails) {
    const auto seen = look(
        "(progn (try (map (lambda (i) (if (= i 3) (error \"no\") (sleep 5))) (range 5)) "
        "(catch (e) 1)) (sleep 0.2))",
        100);
    EXPECT_EQ(seen.total, 0U);
}

} // namespace
} // namespace heddle::host
