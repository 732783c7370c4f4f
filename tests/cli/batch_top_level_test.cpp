// What the file of a batch does outside of main: a batch evaluates it several times.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class batch_top_level : public batch_fixture {};

// Each session paid for the call, and no budget counted it.
TEST_F(batch_top_level, calls_no_model) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    rows_file(3);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define head (content (ask \"first\")))\n"
                 "(define (main text) (list head text))\n");
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{}, {"--plan"}, {"--dry-run"}}) {
        const auto ended = run_heddle(asking(model.url(), more));
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr("calls a task outside of main"),
                                     HasSubstr("w.heddle:2"), HasSubstr("hint: ")));
    }
    EXPECT_EQ(model.counters().requests, 0U);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text) (content (ask text)))\n");
    EXPECT_EQ(run_heddle(asking(model.url())).code, 0);
    EXPECT_EQ(model.counters().requests, 3U);
}

// Rows of one run were of two versions of the program.
TEST_F(batch_top_level, reads_an_imported_file_once) {
    rows_file(3);
    scratch.file("lib.heddle", "(define version 1)");
    // A row that changes a variable of the program gives up its session, so the next row has one
    // that evaluates the file again.
    scratch.file("w.heddle",
                 "(import \"lib.heddle\")\n"
                 "(define count (let ((n 0)) (lambda () (set! n (+ n 1)) n)))\n"
                 "(define (main text)\n"
                 "  (system:run_script (command \"echo '(define version 2)' > lib.heddle\"))\n"
                 "  (list version (count)))\n");
    child_options there;
    there.directory = scratch.path();
    const auto ended = run_heddle(command({"--allow-shell", "-c", "1"}), there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    ASSERT_EQ(scratch.text_of("lib.heddle"), "(define version 2)\n");
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(boost::json::serialize(line.at("value")), "[1,1]");
    expect_each_row_once(3);
    const auto edited = run_heddle(command({"--allow-shell", "-c", "1"}), there);
    EXPECT_THAT(edited.err, HasSubstr("have changed since the run began"));
}

} // namespace
} // namespace heddle::cli_test
