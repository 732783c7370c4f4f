// What a service's limits mean for a whole run: nobody hangs, and routes go on.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* ask = "(defatom ask (params q) (instructions \"{{q}}\"))\n";

std::string provider(const std::string& name, const std::string& url,
                     const std::string& more = {}) {
    return "[providers." + name + "]\ntype = \"vllm\"\nbase_url = \"" + url + "\"\n" + more;
}

class limits : public ::testing::Test {
protected:
    child_result run(const std::string& config, const std::string& program,
                     std::vector<std::string> more = {}) {
        const std::string settings = scratch.file("heddle.toml", config);
        const std::string source = scratch.file("limits.heddle", program);
        std::vector<std::string> arguments{"run", source, "--config", settings};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto began = std::chrono::steady_clock::now();
        child_result ended = run_heddle(arguments);
        took = std::chrono::steady_clock::now() - began;
        return ended;
    }

    scratch_directory scratch;
    std::chrono::steady_clock::duration took{};
    /// Whoever waited for its pause would be ended by the guard of run_heddle().
    model_thread limited{R"({"rules": [{"match": ".*", "error":
        {"status": 429, "message": "Slow down.", "retry_after": 600}}]})"};
    model_thread good{always_answering("GOOD")};
};

TEST_F(limits, a_long_retry_after_fails_the_next_call_as_well_and_reports_the_wait) {
    const auto ended = run("model = \"a:m\"\n" + provider("a", limited.url()),
                           std::string(ask) +
                               "(list (get-in (ask \"1\") '(\"notes\" \"error\" \"message\"))\n"
                               "      (get-in (ask \"2\") '(\"notes\" \"error\" \"message\")))\n");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("retry after 600 s): Slow down."));
    EXPECT_THAT(ended.out, HasSubstr("a: rate limited: the service takes no call of m for "));
    EXPECT_EQ(limited.counters().requests, 1U);
}

TEST_F(limits, a_route_goes_on_while_its_first_model_asks_for_a_long_pause) {
    const auto ended =
        run("model = \"r\"\n[routes.r]\nmodels = [\"a:m\", \"b:m\"]\n" +
                provider("a", limited.url()) + provider("b", good.url()),
            std::string(ask) + "(map (lambda (q) (content (ask q))) '(\"1\" \"2\" \"3\" \"4\"))",
            {"--concurrency", "2"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(R"(("GOOD" "GOOD" "GOOD" "GOOD"))"));
    EXPECT_LE(limited.counters().requests, 2U);
}

TEST_F(limits, a_long_wait_is_reported_once_and_a_short_one_is_not) {
    model_thread slow{R"({"rules": [{"match": ".*", "text": "GOOD",
        "error": {"status": 429, "retry_after": 4, "times": 1}}]})"};
    const auto ended = run("model = \"a:m\"\n" + provider("a", slow.url()),
                           std::string(ask) + "(content (ask \"1\"))");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err,
                HasSubstr("the service responded with 429 and asked for a pause; 1 call waits"));
    EXPECT_GE(took, 4s);
}

TEST_F(limits, when_all_models_of_a_route_fail_each_of_them_is_named) {
    const auto failing = [](int status, const char* message) {
        return std::string(R"({"rules": [{"match": ".*", "error": {"status": )") +
               std::to_string(status) + R"(, "message": ")" + message + R"("}}]})";
    };
    model_thread one(failing(500, "first boom"));
    model_thread two(failing(503, "second boom"));
    model_thread three(failing(529, "third boom"));
    const std::string config = "model = \"r\"\n[routes.r]\nmodels = [\"a:m\", \"b:m\", \"c:m\"]\n" +
                               provider("a", one.url(), "max_retries = 1\n") +
                               provider("b", two.url(), "max_retries = 0\n") +
                               provider("c", three.url(), "max_retries = 0\n");
    for (const std::string form : {"(ask \"1\")", "(content (ask \"1\"))"}) {
        const auto text = run(config, std::string(ask) + form);
        EXPECT_EQ(text.code, 1);
        EXPECT_THAT(text.err,
                    ::testing::ContainsRegex("third boom[^\n]*\n(.*\n)*caused by: b: [^\n]*"
                                             "second boom\ncaused by: a: [^\n]*first boom"))
            << form;
        const auto json = run(config, std::string(ask) + form, {"--json"});
        EXPECT_THAT(json.err,
                    ::testing::ContainsRegex("\"causes\":\\[\"b: [^\"]*second boom\",\"a: "
                                             "[^\"]*first boom\"\\]"))
            << form;
    }
    const auto notes = run(config, std::string(ask) +
                                       "(let ((n (get-field (ask \"1\") \"notes\")))\n"
                                       "  (list (get-in n '(\"usage\" \"requests\"))\n"
                                       "        (get-in n '(\"error\" \"details\" \"causes\"))))");
    EXPECT_EQ(notes.code, 0) << notes.err;
    EXPECT_THAT(notes.out, StartsWith("(4 (\"b: "));
    EXPECT_THAT(notes.out, HasSubstr("first boom"));
}

// The function of a stream that is held back asks the same model, which takes one call at a time.
TEST_F(limits, a_function_that_asks_its_own_model_does_not_lock_up) {
    const std::string big(1'000'000, 'x');
    model_thread model(R"({"rules": [{"match": "^big", "text": ")" + big +
                       R"("}, {"match": ".*", "text": "small"}]})");
    const std::string program =
        "(defatom big (params q) (instructions \"big {{q}}\"))\n"
        "(defatom small (params q) (instructions \"small {{q}}\"))\n"
        "(define heard 0)\n"
        "(define asked 0)\n"
        "(stream (big \"1\") (lambda (piece)\n"
        "  (progn (set! heard (+ heard (string-length piece)))\n"
        "         (when (< asked 3)\n"
        "           (set! asked (+ asked (if (string=? (content (small \"2\")) \"small\") 1 "
        "0)))))))\n"
        "(list heard asked)\n";
    for (const char* cache : {"", "--cache"}) {
        std::vector<std::string> more{"--timeout", "30"};
        if (*cache != '\0') {
            more.insert(more.end(), {cache, "--cache-file", scratch.path() + "/cache.db"});
        }
        const auto ended = run(
            "model = \"a:m\"\n" + provider("a", model.url(), "max_in_flight = 1\n"), program, more);
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_THAT(ended.out, ::testing::ContainsRegex("\\(1000000 [23]\\)"));
    }
}

} // namespace
} // namespace heddle::cli_test
