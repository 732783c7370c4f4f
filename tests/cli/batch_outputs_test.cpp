// Where the results of a batch go: tables, pipes, and files that are gone while it runs.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>
#include <sanitizers.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class batch_output : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> writing_to(const std::string& name,
                                                      std::vector<std::string> more = {}) const {
        std::vector<std::string> strings{"batch", path("w.heddle"), "--rows", path("rows.jsonl"),
                                         "--out", path(name),       "--id",   "id"};
        strings.insert(strings.end(), more.begin(), more.end());
        return strings;
    }
    [[nodiscard]] std::size_t results_in(const std::string& name) const {
        const auto shown = run_heddle({"runs", "show", path(name), "--json"});
        return boost::json::parse(shown.out).at("rows").at("done").to_number<std::size_t>();
    }
};

// A row was in the results twice after a retry without the option, and not at all when the option
// came later.
TEST_F(batch_output, has_errors_as_the_last_command_wants_them) {
    rows_file(3);
    const auto failing = [](int times) {
        return R"({"rules": [{"match": "t1", "text": "good", "error": {"status": 400,
            "message": "no", "times": )" +
               std::to_string(times) + R"(}}, {"match": ".*", "text": "good"}]})";
    };
    scratch.file("w.heddle", asking_workflow);
    model_thread model(failing(2));
    ASSERT_EQ(run_heddle(asking_once(model.url(), {"--errors-in-output"})).code, 3);
    expect_each_row_once(3);
    ASSERT_EQ(run_heddle(asking_once(model.url())).code, 3);
    expect_each_row_once(2);
    ASSERT_EQ(run_heddle(asking_once(model.url(), {"--errors-in-output"})).code, 3);
    expect_each_row_once(3);
    ASSERT_EQ(run_heddle(asking_once(model.url(), {"--retry-failed"})).code, 3);
    expect_each_row_once(2);
    ASSERT_EQ(run_heddle(asking_once(model.url(), {"--errors-in-output"})).code, 3);
    ASSERT_EQ(run_heddle(asking_once(model.url(), {"--retry-failed"})).code, 0);
    expect_each_row_once(3);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

// The failed rows were in no file any more.
TEST_F(batch_output, of_dead_letters_that_is_deleted_is_written_again) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"t1\"}\n{\"id\": \"b\",\n"
                 "{\"id\": \"c\", \"text\": \"t2\"}\n");
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t1\") (error \"no\") text))");
    for (const bool to_file : {true, false}) {
        std::vector<std::string> strings =
            to_file
                ? command()
                : std::vector<std::string>{"batch", path("w.heddle"), "--rows", path("rows.jsonl"),
                                           "--run", path("run"),      "--id",   "id"};
        const std::string letters = to_file ? "out.jsonl.failed.jsonl" : "run/failed.jsonl";
        ASSERT_EQ(run_heddle(strings).code, 3);
        const std::string before = scratch.text_of(letters);
        ASSERT_EQ(std::count(before.begin(), before.end(), '\n'), 2) << before;
        std::filesystem::remove(path(letters));
        const auto again = run_heddle(strings);
        EXPECT_EQ(again.code, 3) << again.err;
        EXPECT_EQ(again.out, "") << "what went to standard output is there";
        EXPECT_EQ(lines_of(letters).size(), 2U);
        EXPECT_EQ(run_heddle(strings).code, 3);
        EXPECT_EQ(lines_of(letters).size(), 2U);
    }
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"c", 1}}));
}

TEST_F(batch_output, that_is_refused_leaves_no_directory_of_a_run) {
    rows_file(1);
    scratch.file("out.jsonl", "something else\n");
    EXPECT_EQ(batch().code, 2);
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.run")));
    EXPECT_EQ(batch({"--force"}).code, 0);
    scratch.file("out.jsonl", "something else\n");
    EXPECT_EQ(batch().code, 2);
    EXPECT_TRUE(std::filesystem::exists(path("out.jsonl.run/run.json"))) << "it was there before";
}

TEST_F(batch_output, of_another_run_is_no_table_to_write_to) {
    rows_file(3);
    ASSERT_EQ(run_heddle(writing_to("out.db", {"--run", path("a.run")})).code, 0);
    const std::string before = scratch.text_of("out.db");
    const auto other = writing_to("out.db", {"--run", path("b.run")});
    const auto refused = run_heddle(other);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_EQ(scratch.text_of("out.db"), before);
    std::vector<std::string> forced = other;
    forced.emplace_back("--force");
    EXPECT_EQ(run_heddle(forced).code, 0);
    const auto first = run_heddle(writing_to("out.db", {"--run", path("a.run")}));
    EXPECT_EQ(first.code, 2) << first.err;
}

TEST_F(batch_output, to_a_pipe_reaches_its_reader) {
    rows_file(200);
    ASSERT_EQ(::mkfifo(path("pipe.jsonl").c_str(), 0600), 0);
    std::vector<std::string> lines;
    std::thread reader([&] {
        std::ifstream in(path("pipe.jsonl"));
        for (std::string line; std::getline(in, line);) lines.push_back(line);
    });
    const auto ended = run_heddle(writing_to("pipe.jsonl", {"--run", path("p.run")}));
    if (ended.code != 0) std::ofstream(path("pipe.jsonl")).close(); // ends the reader
    reader.join();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lines.size(), 200U);
    for (const std::string& line : lines)
        EXPECT_EQ(boost::json::parse(line).at("status").as_string(), "done");
}

TEST_F(batch_output, to_a_pipe_needs_a_reader) {
    rows_file(3);
    ASSERT_EQ(::mkfifo(path("pipe.jsonl").c_str(), 0600), 0);
    const auto nobody = run_heddle(writing_to("pipe.jsonl", {"--run", path("p.run")}));
    EXPECT_EQ(nobody.code, 2) << nobody.err;
    EXPECT_THAT(nobody.err, HasSubstr("start the program that reads the pipe"));
}

/// Finished results that could not be written are in the journal, and written by the next start.
TEST_F(batch_output, that_is_deleted_meanwhile_is_written_by_the_next_start) {
    rows_file(8);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 200}]})");
    const auto asking =
        writing_to("out.jsonl", {"--model", "openai:gpt-4o", "--base-url", model.url(), "-c", "2"});
    child_process child(heddle_command(asking));
    ASSERT_TRUE(hang_guard::comes_true([&] { return !scratch.text_of("out.jsonl").empty(); }));
    std::filesystem::remove(path("out.jsonl"));
    const auto stopped = child.wait();
    EXPECT_EQ(stopped.code, 4) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("deleted"));
    const auto asked = model.counters().requests;
    EXPECT_GT(results_in("out.jsonl"), 2U) << "more than what was written";
    const auto ended = run_heddle(asking);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(8);
    EXPECT_LE(asked, 8U);
    EXPECT_EQ(model.counters().requests, 8U) << "no call was made twice";
}

TEST_F(batch_output, with_errors_has_one_line_for_a_mended_row) {
    scratch.file("rows.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\n{broken\n");
    const auto with_errors = [this] { return batch({"--errors-in-output"}); };
    EXPECT_EQ(with_errors().code, 3);
    EXPECT_EQ(lines_of("out.jsonl").size(), 2U);
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"b\", \"text\": \"y\"}\n");
    const auto mended = with_errors();
    EXPECT_EQ(mended.code, 0) << mended.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

TEST_F(batch_output, has_rows_that_were_rejected_once_they_are_accepted) {
    rows_file(3);
    scratch.file("w.heddle", "(define (main text lang) (list text lang))");
    const auto missing = batch();
    EXPECT_EQ(missing.code, 3) << missing.err;
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 3U);
    const auto given = batch({"-i", "lang=en"});
    EXPECT_EQ(given.code, 0) << given.err;
    expect_each_row_once(3);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(batch_output, has_rows_that_only_strict_rejected) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"x\", \"more\": 1}\n"
                 "{\"id\": \"b\", \"text\": \"y\"}\n");
    EXPECT_EQ(batch({"--strict"}).code, 4);
    const auto lenient = batch();
    EXPECT_EQ(lenient.code, 0) << lenient.err;
    expect_each_row_once(2);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(batch_output, of_prompts_needs_a_task_that_exists) {
    rows_file(1);
    scratch.file("w.heddle", asking_workflow);
    const auto as_batch = batch({"--show-prompts=asq"});
    const auto as_run =
        run_heddle({"run", path("w.heddle"), "--input", "text=x", "--show-prompts=asq"});
    for (const child_result& ended : {as_batch, as_run}) {
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("there is no task \"asq\""));
        EXPECT_THAT(ended.err, HasSubstr("did you mean 'ask'"));
    }
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
}

/// Values of megabytes, written in order behind a row that is slow: they wait in the journal, and
/// not all at once in memory.
TEST_F(batch_output, of_megabytes_is_bounded_in_memory) {
    rows_file(160);
    scratch.file(
        "w.heddle",
        "(define line \"" + std::string(2000, 'y') +
            "\")\n"
            "(define big (string-join (map (lambda (i) line) (range 1000)) \"\"))\n"
            "(define (main text) (if (string=? text \"t0\") (progn (sleep 4) text) big))\n");
    child_process child(heddle_command(command({"--ordered", "-c", "8"})));
    std::size_t most = 0; // KiB
    const auto has_ended = [&] {
        std::ifstream status("/proc/" + std::to_string(child.pid()) + "/status");
        bool is_running = false;
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmRSS:")) {
                most = std::max<std::size_t>(most, std::stoul(line.substr(6)));
                is_running = true;
            }
        }
        return !is_running;
    };
    EXPECT_TRUE(hang_guard::comes_true(has_ended));
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl").size(), 160U);
    EXPECT_TRUE(sanitizers::is_watching || most < 250'000U) << most << " KiB, 320 MB of values";
}

// The first line of the next process was glued to it, and a row was lost.
TEST_F(batch_output, in_a_pipe_goes_on_behind_a_line_that_a_kill_has_broken) {
    rows_file(3000);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const int reader = ::open(path("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    const auto writing = heddle_command(writing_to("pipe", {"--run", path("run")}));
    std::string arrived;
    const auto read_all = [&] {
        std::string part(65'536, '\0');
        for (ssize_t count = 0; (count = ::read(reader, part.data(), part.size())) > 0;)
            arrived.append(part, 0, static_cast<std::size_t>(count));
    };
    {
        child_process child(writing, at_home());
        pollfd room{reader, POLLOUT, 0};
        // Until a write does not end.
        ASSERT_TRUE(hang_guard::comes_true([&] { return ::poll(&room, 1, 0) == 0; }));
        child.send_signal(SIGKILL);
        EXPECT_TRUE(child.wait().signalled);
    }
    read_all();
    const std::size_t first = arrived.size();
    const bool is_broken = !arrived.ends_with('\n'); // nearly always
    child_process child(writing, at_home());
    std::thread reading([&] {
        for (pollfd one{reader, POLLIN, 0};
             ::poll(&one, 1, 10'000) == 1 && one.revents == POLLIN;) {
            read_all();
            if (arrived.ends_with("END")) break;
        }
    });
    const auto ended = child.wait();
    EXPECT_EQ(::write(reader, "END", 3), 3);
    reading.join();
    ::close(reader);
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (is_broken) {
        EXPECT_EQ(arrived.substr(first, 7), "\n{\"id\":");
    }
    std::map<std::string, int> ids;
    std::istringstream lines(arrived.substr(0, arrived.size() - 3));
    std::size_t wrong = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) continue;
        boost::system::error_code failed;
        const auto one = boost::json::parse(line, failed);
        if (failed) ++wrong;
        else ++ids[std::string(one.at("id").as_string())];
    }
    EXPECT_EQ(wrong, is_broken ? 1U : 0U);
    EXPECT_EQ(ids.size(), 3000U);
    for (const auto& [id, times] : ids) EXPECT_LE(times, 2) << id;
}

// heddle could not read what it had written.
TEST_F(batch_output, has_columns_of_different_names) {
    rows_file(1);
    for (const char* columns : {"a,a", "status", "a,id"}) {
        const auto ended = run_heddle({"batch", path("w.heddle"), "--rows", path("rows.jsonl"),
                                       "--out", path("out.csv"), "--columns", columns});
        EXPECT_EQ(ended.code, 2) << columns;
        EXPECT_NE(ended.err.find("two columns would have the name"), std::string::npos);
    }
}

} // namespace
} // namespace heddle::cli_test
