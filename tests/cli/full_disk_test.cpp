// A disk or file that takes no more: nothing that was paid for is lost.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [{"match": ".*", "text": "PRECIOUS"}]})";
constexpr const char* program =
    "(defatom ask (params q) (instructions \"{{q}}\"))"
    "(map (lambda (i) (content (ask (format \"row {}\" i)))) (range 20))";

class full_disk : public testing::Test {
protected:
    /// With a limit on the size of files, in blocks of 512 bytes.
    child_result run_limited(std::vector<std::string> more, const std::string& redirection = {}) {
        std::vector<std::string> command{"sh", "-c",
                                         "ulimit -f 8; exec \"$0\" \"$@\"" + redirection};
        std::vector<std::string> arguments{"run", scratch.file("w.heddle", program), "--model",
                                           "scripted:" + scratch.file("rules.json", rules)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        for (std::string& each : heddle_command(arguments)) command.push_back(std::move(each));
        return child_process(std::move(command)).wait();
    }

    scratch_directory scratch;
};

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

TEST_F(full_disk, a_recording_that_is_too_large_leaves_whole_lines_and_all_responses) {
    const std::string tape = scratch.path() + "/tape.jsonl";
    const auto recorded = run_limited({"--record", tape, "-c", "1"});
    EXPECT_EQ(recorded.code, 1);
    EXPECT_EQ(count_of(recorded.out, "PRECIOUS"), 20U) << recorded.err;
    EXPECT_THAT(recorded.err, AllOf(HasSubstr("the recording is incomplete"),
                                    HasSubstr("tape.jsonl: File too large")));
    const std::string text = scratch.text_of("tape.jsonl");
    ASSERT_FALSE(text.empty());
    EXPECT_LE(text.size(), 8 * 512U);
    EXPECT_EQ(text.back(), '\n');
    // The calls that are there are played back.
    const auto first = scratch.file("first.heddle",
                                    "(defatom ask (params q) (instructions \"{{q}}\"))"
                                    "(content (ask \"row 0\"))");
    const auto replayed = run_heddle({"run", first, "--replay", tape});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_EQ(replayed.out, "PRECIOUS\n");
}

TEST_F(full_disk, a_cache_that_is_too_large_takes_no_response_away) {
    const auto ended = run_limited({"--cache", "--cache-file", scratch.path() + "/answers.db"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(count_of(ended.out, "PRECIOUS"), 20U);
    EXPECT_THAT(ended.err, HasSubstr("response cache"));
}

TEST_F(full_disk, an_output_file_that_is_too_large_is_an_error_of_the_output) {
    scratch.file("out.txt", std::string(8 * 512 - 10, '.'));
    const auto ended = run_limited({}, " >>'" + scratch.path() + "/out.txt'");
    EXPECT_EQ(ended.code, 1);
    EXPECT_FALSE(ended.signalled);
    EXPECT_THAT(ended.err, HasSubstr("output"));
}

// It was called killed: nothing could be noted.
TEST_F(full_disk, a_batch_without_room_notes_how_it_has_ended) {
    const auto small = std::filesystem::path(scratch.path()) / "small";
    std::filesystem::create_directory(small);
    const auto in_namespace = [](std::vector<std::string> more) {
        std::vector<std::string> command{"unshare", "-rm"};
        command.insert(command.end(), more.begin(), more.end());
        return child_process(std::move(command)).wait();
    };
    if (in_namespace({"mount", "-t", "tmpfs", "-o", "size=1m", "none", small}).code != 0)
        GTEST_SKIP() << "nothing can be mounted here";
    std::string rows;
    std::minstd_rand random(1);
    for (int i = 0; i < 600; ++i) {
        rows += R"({"id": "r)" + std::to_string(i) + R"(", "text": ")";
        for (int k = 0; k < 4000; ++k) rows += static_cast<char>('0' + random() % 64 % 43);
        rows += "\"}\n";
    }
    const auto ended = in_namespace(
        {"sh", "-c",
         "mount -t tmpfs -o size=1m none \"$2\" || exit 99; \"$1\" batch \"$3\" --rows \"$4\" "
         "--out \"$5\" --id id --run \"$2/run\"; echo \"code $?\"; \"$1\" runs show \"$2/run\"",
         "sh", heddle_command({}).front(), small,
         scratch.file("w.heddle", "(define (main text) text)"), scratch.file("rows.jsonl", rows),
         scratch.path() + "/out.jsonl"});
    EXPECT_THAT(ended.out, AllOf(HasSubstr("code 4\n"), HasSubstr("w.heddle, stopped (")))
        << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("full"));
}

TEST_F(full_disk, a_recording_that_was_cut_is_replayed_with_a_warning) {
    const std::string tape = scratch.path() + "/tape.jsonl";
    const std::string atom = "(defatom ask (params q) (instructions \"{{q}}\"))";
    const auto both = scratch.file("both.heddle", atom + "(ask \"a\") (ask \"b\")");
    const auto one = scratch.file("one.heddle", atom + "(content (ask \"a\"))");
    const auto recorded =
        run_heddle({"run", both, "--model", "scripted:" + scratch.file("rules.json", rules),
                    "--record", tape});
    ASSERT_EQ(recorded.code, 0) << recorded.err;
    const std::string whole = scratch.text_of("tape.jsonl");
    scratch.file("tape.jsonl", whole.substr(0, whole.size() - 20));
    const auto replayed = run_heddle({"run", one, "--replay", tape});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_EQ(replayed.out, "PRECIOUS\n");
    EXPECT_THAT(replayed.err, AllOf(HasSubstr("tape.jsonl:3: the last line is cut short"),
                                    Not(HasSubstr("not JSON"))));
}

} // namespace
} // namespace heddle::cli_test
