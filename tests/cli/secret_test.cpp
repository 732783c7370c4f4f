// A key never shows, whatever happens and however much is logged.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <sys/stat.h>

namespace heddle::cli_test {
namespace {

constexpr const char* sentinel = "sk-sentinel-0123456789";

class secrets : public testing::Test {
protected:
    child_options with_key(std::string key = sentinel) const {
        child_options options;
        options.variables["OPENAI_API_KEY"] = std::move(key);
        return options;
    }
    static void expect_no_key(const child_result& ended) {
        for (const char* part : {sentinel, "0123456789", "Bearer"}) {
            EXPECT_EQ(ended.out.find(part), std::string::npos) << ended.out;
            EXPECT_EQ(ended.err.find(part), std::string::npos) << ended.err;
        }
    }
    [[nodiscard]] std::vector<std::string> ask(const std::string& url) const {
        return {"run",
                scratch.file("w.heddle",
                             "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                             "(define (main) (ask \"q\"))"),
                "--base-url",
                url,
                "-vvv",
                "--timeout",
                "3"};
    }
    scratch_directory scratch;
};

TEST_F(secrets, do_not_show_in_the_log_of_a_call) {
    model_thread model(always_answering("fine"), sentinel);
    const auto ended = run_heddle(ask(model.url()), with_key());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_FALSE(ended.err.empty()) << "-vvv logs something";
    expect_no_key(ended);
}

TEST_F(secrets, do_not_show_when_the_service_refuses_them) {
    model_thread model(always_answering("fine"), "another");
    const auto ended = run_heddle(ask(model.url()), with_key());
    EXPECT_EQ(ended.code, 1);
    expect_no_key(ended);
}

TEST_F(secrets, do_not_show_when_nobody_listens) {
    const auto ended = run_heddle(ask("http://127.0.0.1:1/v1"), with_key());
    EXPECT_EQ(ended.code, 1);
    expect_no_key(ended);
}

TEST_F(secrets, do_not_show_when_they_cannot_be_sent) {
    const auto broken = with_key(std::string(sentinel) + "\x01x");
    const auto ended = run_heddle(ask("http://127.0.0.1:1/v1"), broken);
    EXPECT_EQ(ended.code, 2);
    expect_no_key(ended);
    // Who asks no model is not bothered by a key.
    const auto unasked = run_heddle({"eval", "1", "-vvv"}, broken);
    EXPECT_EQ(unasked.code, 0);
    expect_no_key(unasked);
    const auto listed = run_heddle({"models"}, broken);
    EXPECT_NE(listed.out.find("contains a character that no key has"), std::string::npos);
    expect_no_key(listed);
}

TEST_F(secrets, cannot_be_read_by_a_workflow) {
    const auto ended = run_heddle({"eval", "(getenv \"OPENAI_API_KEY\")"}, with_key());
    EXPECT_EQ(ended.code, 1);
    expect_no_key(ended);
    // What the kernel shows of processes is not a file of any workspace.
    for (const char* file :
         {"proc/self/environ", "/proc/self/environ", "proc/1/../self/environ",
          "proc/thread-self/environ", "proc/self/mem", "proc/self/root/proc/self/environ"}) {
        for (const char* form : {"(read-file \"%\")", "(get_context (description \"%\"))"}) {
            std::string text(form);
            text.replace(text.find('%'), 1, file);
            expect_no_key(run_heddle({"eval", text, "--workspace", "/proc/self/root"}, with_key()));
            if (text.find("read-file") == std::string::npos) continue;
            const auto read = run_heddle({"eval", text, "--workspace", "/"}, with_key());
            EXPECT_EQ(read.code, 1) << read.out;
            expect_no_key(read);
        }
    }
    const auto listed =
        run_heddle({"eval", "(list-directory \"proc/self\")", "--workspace", "/"}, with_key());
    EXPECT_EQ(listed.code, 1) << listed.out;
}

TEST_F(secrets, do_not_show_in_an_address) {
    auto options = with_key();
    options.variables["OPENAI_BASE_URL"] = std::string("http://127.0.0.1:1/v1?key=") + sentinel;
    for (const std::vector<std::string>& each : {std::vector<std::string>{"models"},
                                                 {"models", "--json"},
                                                 {"models", "--ping"},
                                                 {"eval", "1", "-vvv"},
                                                 {"trust"},
                                                 {"trust", "--json"}}) {
        expect_no_key(run_heddle(each, options));
    }
    options.variables["OPENAI_BASE_URL"] = std::string("http://me:") + sentinel + "@127.0.0.1:1/v1";
    for (const std::vector<std::string>& each :
         {std::vector<std::string>{"models"}, {"models", "--json"}, {"eval", "1", "-vvv"}}) {
        expect_no_key(run_heddle(each, options));
    }
}

TEST_F(secrets, a_recording_is_its_owners_alone) {
    const std::string file = scratch.file("calls.jsonl", "an older one");
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
    const std::string rules = scratch.file("rules.json", always_answering("x"));
    const auto ended =
        run_heddle({"run", ask("").at(1), "--model", "scripted:" + rules, "--record", file});
    EXPECT_EQ(ended.code, 0) << ended.err;
    struct stat about {};
    ASSERT_EQ(::stat(file.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    EXPECT_GT(about.st_size, 20);
}

TEST_F(secrets, do_not_show_in_an_address_that_is_none) {
    for (const char* url :
         {"http://user:sentinel/x@127.0.0.1:9/v1", "http:/user:sentinel@127.0.0.1:9/v1",
          "http://user:sentinel?x@127.0.0.1:9/v1", "http://user:sentinel#x@127.0.0.1:9/v1",
          "user:sentinel@127.0.0.1:9/v1", "http://user:8x/sentinel@127.0.0.1:9/v1",
          "http://user:a@sentinel/x@127.0.0.1:9/v1", "http://user:sentinel@127.0.0.1:9/v1"}) {
        child_options options = with_key();
        options.variables["OPENAI_BASE_URL"] = url;
        for (const std::vector<std::string>& asked :
             std::vector<std::vector<std::string>>{{"models"},
                                                   {"models", "--json"},
                                                   {"models", "--ping"},
                                                   {"eval", "1", "-vvv"},
                                                   {"eval", "1", "--json"},
                                                   {"run", ask("").at(1)}}) {
            const auto ended = run_heddle(asked, options);
            EXPECT_EQ((ended.out + ended.err).find("sentinel"), std::string::npos)
                << url << "\n"
                << ended.out << ended.err;
        }
    }
}

TEST_F(secrets, do_not_show_in_a_service_that_is_misconfigured) {
    for (const char* url : {"ftp://x", "http://user:sk-sentinel-0123456789@host/v1", "not a url"}) {
        const auto ended = run_heddle({"eval", "1", "--base-url", url, "-vvv"}, with_key());
        EXPECT_EQ(ended.code, 2) << url;
        EXPECT_EQ(ended.err.find("Bearer"), std::string::npos);
        EXPECT_EQ(ended.err.find("sentinel"), std::string::npos) << ended.err;
    }
}

} // namespace
} // namespace heddle::cli_test
