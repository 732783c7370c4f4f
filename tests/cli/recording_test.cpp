// Where --record may write.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class recording : public ::testing::Test {
protected:
    [[nodiscard]] child_result record(const std::string& file) const {
        return run_heddle({"run", workflow, "--model", "scripted:" + rules, "--record", file});
    }

    scratch_directory scratch;
    std::string rules = scratch.file("r.json", R"({"default": {"text": "recorded"}})");
    std::string workflow = scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(content (ask \"a question\"))");
    std::string pipe = scratch.path() + "/pipe";
};

TEST_F(recording, of_a_pipe_that_nobody_reads_is_an_error) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto ended = record(pipe);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(pipe + ": no program reads this pipe"));
}

TEST_F(recording, goes_to_a_pipe_that_has_a_reader) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string seen;
    std::thread reader([&] {
        std::ifstream in(pipe);
        seen.assign(std::istreambuf_iterator<char>(in), {});
    });
    const auto ended = record(pipe);
    reader.join();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(seen, HasSubstr("a question"));
}

TEST_F(recording, of_another_run_is_not_mixed_with_its_own) {
    const std::string file = scratch.file("taken.jsonl", "kept\n");
    const int held = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(held, 0);
    ASSERT_EQ(::flock(held, LOCK_EX), 0); // as another heddle holds it
    const auto refused = record(file);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(file + ": another run records into it"));
    std::ifstream untouched(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(untouched), {}), "kept\n");
    ::close(held);
    EXPECT_EQ(record(file).code, 0);
}

TEST_F(recording, in_a_folder_is_an_error) {
    const auto ended = record(scratch.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(scratch.path() + ": is a directory"));
}

TEST_F(recording, of_a_run_without_calls_replaces_no_earlier_one) {
    const std::string file = scratch.path() + "/kept.jsonl";
    ASSERT_EQ(record(file).code, 0);
    const std::string before = scratch.text_of("kept.jsonl");
    const std::string none = scratch.file("none.heddle", "(+ 1 2)");
    const auto without_calls = [&](const std::string& into) {
        return run_heddle({"run", none, "--model", "scripted:" + rules, "--record", into});
    };
    const auto ended = without_calls(file);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "3\n");
    EXPECT_THAT(ended.err, HasSubstr(file + ": no call was recorded; the earlier recording is "
                                            "kept"));
    EXPECT_EQ(scratch.text_of("kept.jsonl"), before);
    const std::string refused = scratch.file(
        "refused.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(get (ask \"q\") 'status)");
    EXPECT_EQ(run_heddle({"run", refused, "--model", "scripted:" + rules, "--max-calls", "0",
                          "--record", file})
                  .out,
              "FAILED\n");
    EXPECT_EQ(scratch.text_of("kept.jsonl"), before);
    EXPECT_EQ(run_heddle({"run", workflow, "--replay", file}).out, "recorded\n");
    // Where there is none, no call is what was recorded.
    for (const std::string& into :
         {scratch.path() + "/new.jsonl", scratch.file("empty.jsonl", "")}) {
        const auto first = without_calls(into);
        EXPECT_EQ(first.code, 0) << first.err;
        EXPECT_EQ(first.err.find("earlier"), std::string::npos) << first.err;
        EXPECT_EQ(run_heddle({"run", none, "--replay", into}).out, "3\n");
    }
}

TEST_F(recording, that_could_not_be_written_is_reported_with_what_the_calls_cost) {
    const auto failed = record("/dev/full");
    EXPECT_EQ(failed.code, 1);
    EXPECT_EQ(failed.out, "recorded\n");
    EXPECT_THAT(failed.err, HasSubstr("heddle: the recording is incomplete: /dev/full"));
    EXPECT_THAT(failed.err, HasSubstr("before that: 1 call done"));

    const auto json = run_heddle(
        {"run", workflow, "--model", "scripted:" + rules, "--record", "/dev/full", "--json"});
    EXPECT_EQ(json.code, 1);
    const auto reported = boost::json::parse(json.err);
    EXPECT_EQ(reported.at("error").at("kind"), "IoError");
    EXPECT_EQ(reported.at("calls").at("done"), 1) << json.err;
    EXPECT_GT(reported.at("calls").at("output_tokens").to_number<int>(), 0) << json.err;
}

TEST_F(recording, that_could_not_be_written_is_reported_by_a_run_that_fails) {
    const std::string fails = scratch.file("f.heddle",
                                           "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                           "(ask \"a question\")\n(/ 1 0)");
    std::vector<std::string> command{"run",      fails,      "--model", "scripted:" + rules,
                                     "--record", "/dev/full"};
    const auto text = run_heddle(command);
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.err, HasSubstr("the recording is incomplete: /dev/full"));
    EXPECT_THAT(text.err, HasSubstr("zero"));
    command.emplace_back("--json");
    const auto json = run_heddle(command);
    EXPECT_EQ(json.code, 1);
    const auto reported = boost::json::parse(json.err);
    EXPECT_THAT(std::string(reported.at("recording").as_string().c_str()),
                HasSubstr("/dev/full: No space left on device"));
    EXPECT_EQ(reported.at("error").at("kind"), "SexpEvaluationError") << json.err;
    EXPECT_EQ(reported.at("calls").at("done"), 1) << json.err;
    // A recording that is whole is not mentioned.
    command[5] = scratch.path() + "/whole.jsonl";
    const auto whole = boost::json::parse(run_heddle(command).err);
    EXPECT_FALSE(whole.as_object().contains("recording"));
}

} // namespace
} // namespace heddle::cli_test
