// The clock of a run that is kept.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using kept_clocks = batch_fixture;

// It began where that of the top level had ended, and the time of the first computation was over.
TEST_F(kept_clocks, of_main_do_not_begin_with_the_time_of_the_top_level) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "top", "delay_ms": 1300}]})");
    scratch.file("m.heddle", R"(
        (defatom ask (params q) (instructions "{{q}}"))
        (define (spin k) (let loop ((i 0)) (if (= i k) 'computed (loop (+ i 1)))))
        (bind top (content (ask "top")))
        (define (main n) (list top (timeout 1 (spin 200000) 'late))))");
    const auto ended = run_heddle({"run", path("m.heddle"), "--run", path("kept"), "--model",
                                   "openai:gpt-4o", "--base-url", model.url(), "-i", "n:=1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"top\" computed)\n");
    const auto replayed = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

} // namespace
} // namespace heddle::cli_test
