// Processes that are killed in a recorded call, at each of its steps.
#include "embed_harness.hpp"
#include "scratch_folder.hpp"

#include <loopback_server.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle {
namespace {

using namespace std::chrono_literals;
using testing::called;
using testing::loaded;
using testing::wait_for;

constexpr const char* folder_variable = "HEDDLE_TEST_JOURNAL";
constexpr const char* url_variable = "HEDDLE_TEST_URL";
constexpr const char* work_variable = "HEDDLE_TEST_WORK";

/// Four requests, with a function of the host in their midst.
constexpr const char* steps = R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define (one text) (content (ask text)))
(define (go)
  (let* ((a (one "step 1")) (b (one "step 2")) (c (put-line "line")) (d (one "step 3")))
    (list a b c d (one "step 4"))))
(define (side-by-side) (map one (list "step 1" "step 2" "step 3" "step 4")))
)lisp";

/// Responds to the n-th request with "n". One request kills the process that asks, in place of a
/// response.
class killing_service {
public:
    [[nodiscard]] std::string url() const { return server_.url(); }
    void kill_at(int request, pid_t child) {
        const std::lock_guard held(mutex_);
        kill_at_ = request;
        child_ = child;
    }
    [[nodiscard]] int requests() {
        const std::lock_guard held(mutex_);
        return requests_;
    }
    /// How often a text was asked for.
    [[nodiscard]] int requests(const std::string& text) {
        const std::lock_guard held(mutex_);
        return asked_[text];
    }

private:
    void serve(loopback::connection& peer) {
        for (;;) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            std::string reply;
            {
                const std::lock_guard held(mutex_);
                const auto at = request.find("step ");
                if (at != std::string::npos)
                    ++asked_[request.substr(at, request.find_first_of("\"\\", at) - at)];
                if (++requests_ == kill_at_) {
                    ::kill(child_, SIGKILL);
                    return;
                }
                reply = std::to_string(++answered_);
            }
            (void)peer.send(loopback::ok_response(
                R"({"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":")" +
                    reply +
                    R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})",
                "content-type: application/json\r\n"));
        }
    }

    std::mutex mutex_;
    int requests_ = 0;
    int answered_ = 0;
    int kill_at_ = 0;
    pid_t child_ = 0;
    std::map<std::string, int> asked_;
    loopback::server server_{[this](loopback::connection& peer, int) { serve(peer); }}; // last
};

runtime_options options_of(const std::string& folder, const std::string& url) {
    runtime_options wanted;
    wanted.config_text = "model = \"near:m\"\n[providers.near]\ntype = \"openai\"\nbase_url = \"" +
                         url +
                         "/v1\"\napi_key_command = [\"sh\", \"-c\", \"echo sk-test-0123456789\"]\n";
    wanted.journal.directory = folder + "/calls";
    return wanted;
}

void add_line(const std::string& file, const std::string& line) {
    const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string text = line + "\n";
    EXPECT_EQ(::write(out, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(out);
}

std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

void offer(runtime& rt, const std::string& folder) {
    rt.function("put-line", "Adds a line to a file.", {"line"}, [folder](const std::string& line) {
        add_line(folder + "/lines", line);
        return "put";
    });
}

/// What a child does until it is killed.
TEST(DISABLED_child_with_a_journal, works) {
    const std::string folder = std::getenv(folder_variable);
    const std::string work = std::getenv(work_variable);
    runtime_options chosen = options_of(folder, std::getenv(url_variable));
    if (work == "many") chosen.threads = 4;
    runtime rt(chosen);
    offer(rt, folder);
    const program flow = loaded(rt, steps);
    if (work != "many") {
        const auto ended = called(flow, work == "ends" ? "go" : work, {}, {.tag = "order 1"});
        if (work == "ends") ::kill(::getpid(), SIGKILL);
        ADD_FAILURE() << "it was not killed" << (ended ? "" : to_text(ended.error()));
        return;
    }
    std::vector<std::future<result<answer>>> all;
    for (int i = 0; i < 60; ++i) {
        const std::string tag = "step of " + std::to_string(i);
        all.push_back(flow.call("one", tag, {.tag = tag}, boost::asio::use_future));
    }
    for (int i = 0; i < 60; ++i) {
        const auto ended = wait_for(std::move(all[static_cast<std::size_t>(i)]));
        if (ended) add_line(folder + "/ended", std::to_string(i));
    }
}

class killed_runtime : public ::testing::Test {
protected:
    /// Runs a child until it is killed at a request, or by itself.
    void kill(const std::string& work, int request) {
        ::setenv(folder_variable, folder.path.c_str(), 1);
        ::setenv(url_variable, service.url().c_str(), 1);
        ::setenv(work_variable, work.c_str(), 1);
        int go[2];
        ASSERT_EQ(::pipe(go), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            char byte = 0;
            (void)!::read(go[0], &byte, 1); // until it is known to the service
            ::close(go[0]);
            ::close(go[1]);
            const int nowhere = ::open("/dev/null", O_WRONLY);
            ::dup2(nowhere, 1);
            ::execl("/proc/self/exe", "child", "--gtest_also_run_disabled_tests",
                    "--gtest_filter=DISABLED_child_with_a_journal.*", nullptr);
            ::_exit(9);
        }
        service.kill_at(request, child);
        EXPECT_EQ(::write(go[1], "x", 1), 1);
        ::close(go[0]);
        ::close(go[1]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
        service.kill_at(0, 0);
    }
    result<answer> call_again(const std::string& function) {
        runtime rt(options_of(folder.path.string(), service.url()));
        offer(rt, folder.path.string());
        return called(loaded(rt, steps), function, {}, {.tag = "order 1"});
    }

    testing::scratch_folder folder;
    killing_service service;
};

class killed_at_each_request : public killed_runtime, public ::testing::WithParamInterface<int> {};

TEST_P(killed_at_each_request, goes_on_with_that_request) {
    const int request = GetParam();
    kill("go", request);
    EXPECT_EQ(service.requests(), request);
    const auto ended = call_again("go");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->value().to_string(), R"(["1","2","put","3","4"])");
    EXPECT_EQ(service.requests(), 5); // the one whose response was lost, twice
    EXPECT_EQ(service.requests("step " + std::to_string(request)), 2);
    EXPECT_EQ(lines_of((folder.path / "lines").string()).size(), 1U);
    EXPECT_EQ(ended->used().requests, static_cast<std::uint64_t>(5 - request));
    EXPECT_EQ(ended->used_before().requests, static_cast<std::uint64_t>(request));
    EXPECT_TRUE(call_again("go")->is_recorded());
    EXPECT_EQ(service.requests(), 5);
}

TEST_P(killed_at_each_request, repeats_no_response_of_a_map) {
    const int request = GetParam();
    kill("side-by-side", request);
    const auto ended = call_again("side-by-side");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->value().as_array().size(), 4U);
    // Those that were under way with it are asked again; what was answered may not have been kept.
    EXPECT_LE(service.requests(), 4 + 4);
    EXPECT_GE(service.requests(), 5);
    const auto again = call_again("side-by-side");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->value(), ended->value());
}

INSTANTIATE_TEST_SUITE_P(each, killed_at_each_request, ::testing::Values(1, 2, 3, 4));

TEST_F(killed_runtime, has_the_answer_that_was_not_delivered) {
    kill("ends", 0);
    EXPECT_EQ(service.requests(), 4);
    const auto ended = call_again("go");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_TRUE(ended->is_recorded());
    EXPECT_EQ(ended->value().to_string(), R"(["1","2","put","3","4"])");
    EXPECT_EQ(service.requests(), 4);
    EXPECT_EQ(lines_of((folder.path / "lines").string()).size(), 1U);
}

TEST_F(killed_runtime, asks_nothing_twice_for_calls_that_have_ended_on_any_thread) {
    kill("many", 40);
    const std::vector<std::string> ended = lines_of((folder.path / "ended").string());
    runtime_options chosen = options_of(folder.path.string(), service.url());
    chosen.threads = 4;
    runtime rt(chosen);
    offer(rt, folder.path.string());
    const program flow = loaded(rt, steps);
    std::vector<std::future<result<answer>>> all;
    for (int i = 0; i < 60; ++i) {
        const std::string tag = "step of " + std::to_string(i);
        all.push_back(flow.call("one", tag, {.tag = tag}, boost::asio::use_future));
    }
    int recorded = 0;
    for (auto& each : all) {
        const auto one = wait_for(std::move(each));
        ASSERT_TRUE(one) << to_text(one.error());
        recorded += one->is_recorded() ? 1 : 0;
    }
    EXPECT_GE(recorded, static_cast<int>(ended.size()));
    for (const std::string& each : ended) EXPECT_EQ(service.requests("step of " + each), 1);
    for (int i = 0; i < 60; ++i) EXPECT_LE(service.requests("step of " + std::to_string(i)), 2);
}

} // namespace
} // namespace heddle
