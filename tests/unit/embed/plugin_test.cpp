#include "embed_harness.hpp"
#include "scratch_folder.hpp"

#include <heddle/base/utf8.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using ::testing::HasSubstr;
using testing::loaded;
using testing::scratch_folder;
using namespace std::chrono_literals;

/// Answers in capital letters, from a thread of its own.
class shouting_model final : public model_provider {
public:
    std::string name() const override { return "house"; }
    void complete(model_request request, call, piece_sink on_piece, completion done) override {
        const std::string asked = request.messages.back().text;
        if (asked == "throw") throw std::runtime_error("out of order");
        if (asked == "drop") return;
        on_piece("HE");
        asio::post(pool_, [done, model = request.model] {
            done(model_response{"HELLO FROM " + model, 10, 5});
        });
    }
    ~shouting_model() override { pool_.join(); }

private:
    asio::thread_pool pool_{1};
};

constexpr const char* asks =
    "(defatom t (params q) (instructions \"{{q}}\")) "
    "(define (f q) (content (t q)))";

TEST(embed_plugins, a_provider_answers_tasks) {
    runtime rt({.providers = {std::make_shared<shouting_model>()}, .model = "house:big"});
    const program flow = loaded(rt, asks);
    const auto ended = called(flow, "f", "x");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->text(), "HELLO FROM big");
    EXPECT_EQ(ended->used().input_tokens, 10);
    EXPECT_EQ(ended->used().output_tokens, 5);
    EXPECT_FALSE(ended->used().cost_usd()); // nobody knows its price
    EXPECT_TRUE(to_json(ended->used()).at("cost_usd").is_null());
    for (const char* wrong : {"throw", "drop"}) {
        const auto failed = called(flow, "f", wrong);
        ASSERT_FALSE(failed) << wrong;
        EXPECT_EQ(http_status(failed.error()), 502) << wrong;
    }
    job streamed = flow.start("f", "x");
    const auto first = streamed.next(asio::use_future).get();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->text, "HE");
}

/// Reports pieces from a thread of its own, also when nobody wants them any more.
class talking_model final : public model_provider {
public:
    std::string name() const override { return "house"; }
    void complete(model_request request, call, piece_sink on_piece, completion done) override {
        const bool is_late = request.messages.back().text == "late";
        threads_.emplace_back([this, is_late, on_piece, done] {
            std::string text;
            for (int i = 0; i < 200; ++i) {
                const std::string piece = std::to_string(i) + " ";
                on_piece(piece);
                text += piece;
            }
            if (is_late) released_.get_future().wait();
            on_piece("late");
            done(model_response{is_late ? text : text + "late", 10, 5});
            on_piece("too late");
        });
    }
    void release() { released_.set_value(); }
    ~talking_model() override {
        for (std::thread& each : threads_) each.join();
    }

private:
    std::promise<void> released_;
    std::vector<std::thread> threads_;
};

TEST(embed_plugins, a_provider_reports_pieces_from_any_thread) {
    const auto model = std::make_shared<talking_model>();
    {
        runtime rt({.providers = {model}, .function_grace = 20ms});
        const program flow = loaded(rt, asks);
        for (int i = 0; i < 5; ++i) {
            job streamed = flow.start("f", "x");
            std::string text;
            while (const auto next = streamed.next(asio::use_future).get()) text += next->text;
            const auto ended = testing::wait_for(streamed.result(asio::use_future));
            ASSERT_TRUE(ended) << to_text(ended.error());
            EXPECT_EQ(text, ended->text());
        }
        job left = flow.start("f", "late", {.timeout = 50ms});
        EXPECT_FALSE(testing::wait_for(left.result(asio::use_future)));
    }
    model->release(); // it reports to a runtime that is gone
}

/// Completes at once as a test wants it, or throws.
class scripted_by_test final : public model_provider {
public:
    using behavior = std::function<void(const piece_sink&, const completion&)>;
    explicit scripted_by_test(behavior does, std::string name = "house")
        : does_(std::move(does)), name_(std::move(name)) {}
    std::string name() const override { return name_; }
    void complete(model_request, call, piece_sink on_piece, completion done) override {
        does_(on_piece, done);
    }

private:
    behavior does_;
    std::string name_;
};

result<answer> answer_of(scripted_by_test::behavior does) {
    runtime rt({.providers = {std::make_shared<scripted_by_test>(std::move(does))}});
    return called(loaded(rt, asks), "f", "x");
}

TEST(embed_plugins, an_exception_of_a_provider_is_the_failure_of_the_request) {
    const auto thrown = answer_of([](const auto&, const auto&) { throw std::runtime_error("oh"); });
    ASSERT_FALSE(thrown);
    EXPECT_THAT(thrown.error().message(), HasSubstr("oh"));
    const auto carried = answer_of([](const auto&, const auto&) {
        throw error_exception(error(errc::io_error, "the line is cut").with_retry_after(1500ms));
    });
    ASSERT_FALSE(carried);
    EXPECT_THAT(carried.error().message(), HasSubstr("the line is cut"));
    EXPECT_EQ(to_json(carried.error()).at("retry_after_ms"), json(1500));
    const auto dropped = answer_of([](const auto&, const auto&) {});
    ASSERT_FALSE(dropped);
    EXPECT_THAT(dropped.error().message(), HasSubstr("destroyed its completion"));
}

TEST(embed_plugins, providers_that_no_task_could_name_are_refused) {
    const auto named = [](const std::string& name) {
        return std::make_shared<scripted_by_test>(scripted_by_test::behavior(), name);
    };
    const auto refused = [](std::vector<std::shared_ptr<model_provider>> providers) {
        const auto opened = runtime::create({.providers = std::move(providers)});
        return opened ? "it is usable" : opened.error().message();
    };
    EXPECT_THAT(refused({nullptr}), HasSubstr("null"));
    EXPECT_THAT(refused({named("")}), HasSubstr("empty"));
    EXPECT_THAT(refused({named("a:b")}), HasSubstr("\"a:b\""));
    EXPECT_THAT(refused({named("a"), named("a")}), HasSubstr("two providers"));
    EXPECT_EQ(refused({named("a"), named("b")}), "it is usable");
}

TEST(embed_plugins, a_cancellation_of_a_provider_is_the_failure_of_the_request) {
    const auto stopped = answer_of(
        [](const auto&, const auto& done) { done(error::cancelled(cancel_reason::deadline)); });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(http_status(stopped.error()), 502);
}

/// Calls the tool for the weather, and answers with its result.
class calling_model final : public model_provider {
public:
    std::string name() const override { return "house"; }
    void complete(model_request request, call, piece_sink, completion done) override {
        const std::lock_guard held(mutex);
        requests.push_back(request);
        const model_message& last = request.messages.back();
        model_response response;
        if (last.from == model_message::role::tool) response.text = "It is " + last.text;
        else response.tool_calls.push_back({"c1", "weather", json::object{{"city", "Ulm"}}});
        done(std::move(response));
    }

    std::mutex mutex;
    std::vector<model_request> requests;
};

TEST(embed_plugins, a_provider_calls_tools) {
    const auto model = std::make_shared<calling_model>();
    runtime rt({.providers = {model}});
    rt.function("weather", "The weather in a city.", {"city"},
                [](const std::string& city) { return "wet in " + city; });
    const auto ended =
        called(loaded(rt,
                      "(defatom t (params q) (instructions \"{{q}}\") (tools (weather))) "
                      "(define (f q) (content (t q)))"),
               "f", "x");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->text(), "It is wet in Ulm");
    ASSERT_EQ(model->requests.size(), 2U);
    ASSERT_EQ(model->requests[0].tools.size(), 1U);
    const model_tool& offered = model->requests[0].tools.front();
    EXPECT_EQ(offered.name, "weather");
    EXPECT_EQ(offered.documentation, "The weather in a city.");
    EXPECT_EQ(offered.parameters.at("properties").at("city").at("type"), json("string"));
    const auto& messages = model->requests[1].messages;
    ASSERT_GE(messages.size(), 2U);
    const model_message& asked = messages[messages.size() - 2];
    ASSERT_EQ(asked.tool_calls.size(), 1U);
    EXPECT_EQ(asked.tool_calls.front().arguments, json(json::object{{"city", "Ulm"}}));
    EXPECT_EQ(messages.back().tool_call_id, "c1");
    EXPECT_EQ(messages.back().tool_name, "weather");
}

class throwing_memory final : public memory_source {
public:
    void find(memory_question, call, completion) override {
        throw error_exception(error(errc::io_error, "the index is gone"));
    }
};

TEST(embed_plugins, an_exception_of_the_memory_is_its_error) {
    runtime_options options = testing::with_model();
    options.memory = std::make_shared<throwing_memory>();
    runtime rt(options);
    const program flow = loaded(rt, "(define (recall q) (get-context-result (query q)))");
    const auto failed = called(flow, "recall", "x");
    const std::string shown = failed ? failed->value().to_string() : failed.error().message();
    EXPECT_THAT(shown, HasSubstr("the index is gone"));
}

/// The pieces of a job whose reader waits before the first one, and its answer.
std::pair<std::vector<std::string>, std::string> pieces_of(scripted_by_test::behavior does) {
    std::latch reading(1);
    auto provider = std::make_shared<scripted_by_test>([&](const auto& on_piece, const auto& done) {
        reading.wait();
        does(on_piece, done);
    });
    runtime rt({.providers = {std::move(provider)}});
    job streamed = loaded(rt, asks).start("f", "x", {.timeout = 20s});
    auto next = streamed.next(asio::use_future);
    reading.count_down();
    std::vector<std::string> pieces;
    for (auto each = next.get(); each; each = streamed.next(asio::use_future).get())
        pieces.push_back(each->text);
    const auto ended = testing::wait_for(streamed.result(asio::use_future));
    return {std::move(pieces), ended ? ended->text() : to_text(ended.error())};
}

std::string joined(const std::vector<std::string>& pieces) {
    std::string all;
    for (const std::string& each : pieces) all += each;
    return all;
}

TEST(embed_plugins, pieces_of_a_provider_are_whole_characters) {
    const std::string text = "\u2603 na\u00efve \u2603 \U0001F9F6!";
    const auto [pieces, whole] = pieces_of([&](const auto& on_piece, const auto& done) {
        for (const char each : text) on_piece(std::string(1, each));
        done(model_response{text, 1, 1});
    });
    EXPECT_EQ(whole, text);
    EXPECT_EQ(joined(pieces), text);
    for (const std::string& each : pieces) EXPECT_TRUE(utf8::is_valid(each)) << each;
}

TEST(embed_plugins, invalid_bytes_of_a_provider_are_replaced) {
    const auto [pieces, whole] = pieces_of([](const auto& on_piece, const auto& done) {
        on_piece("a\xff");
        on_piece("b\xe2\x98"); // the rest never comes
        done(model_response{"a\xff\x62\xe2\x98", 1, 1});
    });
    EXPECT_EQ(whole, "a\uFFFDb\uFFFD");
    EXPECT_EQ(joined(pieces), "a\uFFFDb\uFFFD");
}

TEST(embed_plugins, pieces_of_several_threads_keep_their_order) {
    const auto [pieces, whole] = pieces_of([](const auto& on_piece, const auto& done) {
        std::thread([&] { on_piece("one "); }).join();
        on_piece("two");
        done(model_response{"one two", 1, 1});
    });
    EXPECT_EQ(joined(pieces), whole);
}

class small_memory final : public memory_source {
public:
    void find(memory_question question, call, completion done) override {
        if (question.text.find("loom") == std::string::npos)
            return done(std::vector<memory_passage>());
        done(std::vector<memory_passage>{{"looms", "A loom has heddles.", 0.9}});
    }
};

class map_files final : public file_source {
public:
    result<std::string> read(const std::string& path) override {
        const std::lock_guard held(mutex_);
        const auto found = files_.find(path);
        if (found == files_.end()) return error(errc::not_found, "there is no " + path);
        return found->second;
    }
    result<void> write(const std::string& path, std::string text) override {
        const std::lock_guard held(mutex_);
        files_[path] = std::move(text);
        return {};
    }
    result<bool> exists(const std::string& path) override {
        const std::lock_guard held(mutex_);
        return files_.contains(path);
    }
    result<std::vector<std::string>> list(const std::string&) override {
        throw std::runtime_error("not here");
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> files_;
};

TEST(embed_plugins, files_and_memory_are_those_of_the_host) {
    runtime_options options = testing::with_model();
    options.files = std::make_shared<map_files>();
    options.memory = std::make_shared<small_memory>();
    runtime rt(options);
    const program flow =
        loaded(rt,
               "(define (save text) (write-file \"a.txt\" text) (read-file \"a.txt\")) "
               "(define (absent) (read-file \"b.txt\")) "
               "(define (names) (list-directory \".\")) "
               "(define (recall q) (get-context-result (query q)))");
    EXPECT_EQ(called(flow, "save", "kept").value().text(), "kept");
    EXPECT_THAT(called(flow, "absent").error().message(), HasSubstr("b.txt"));
    EXPECT_FALSE(called(flow, "names"));
    const auto found = called(flow, "recall", "loom");
    ASSERT_TRUE(found) << to_text(found.error());
    EXPECT_THAT(found->value().to_string(), HasSubstr("looms"));
}

TEST(embed_plugins, print_and_log_reach_the_host) {
    std::mutex mutex;
    std::string printed;
    std::string logged;
    runtime_options options = testing::with_model();
    options.print = [&](std::string_view text) {
        const std::lock_guard held(mutex);
        printed += text;
    };
    options.log = [&](log_level, std::string_view, std::string_view line) {
        const std::lock_guard held(mutex);
        logged += line;
        throw std::runtime_error("a log that fails");
    };
    runtime rt(options);
    const program flow = loaded(rt, "(define (f) (print \"out\") (log-message \"note\"))");
    EXPECT_TRUE(called(flow, "f"));
    const std::lock_guard held(mutex);
    EXPECT_THAT(printed, HasSubstr("out"));
    EXPECT_THAT(logged, HasSubstr("note"));
}

TEST(embed_hints, name_no_options_of_the_command_line) {
    const scratch_folder folder;
    const auto refused = [](runtime_options options) {
        auto opened = runtime::create(std::move(options));
        return opened ? std::string("it is usable") : to_text(opened.error());
    };
    const std::string missing = (folder.path / "none").string();
    for (const std::string& seen : {
             refused({.config_text = "[cache]\nenabled = true\n", .tasks = {missing}}),
             refused({.workspace = missing}),
             refused({.config_text = "model = \"any-model\""}),
         }) {
        EXPECT_NE(seen, "it is usable");
        EXPECT_EQ(seen.find("--"), seen.npos) << seen;
    }
    runtime rt(testing::with_model());
    const auto flow = rt.load_text("flow.heddle", "(define (f) (lookup-in-the-house 1))");
    ASSERT_FALSE(flow);
    EXPECT_EQ(flow.error().info().hint, "define it, or import the file that does");
}

TEST(embed_model, of_the_program_is_not_replaced_by_a_variable) {
    struct variable {
        variable() { ::setenv("HEDDLE_MODEL", "nosuch:model", 1); }
        ~variable() { ::unsetenv("HEDDLE_MODEL"); }
    };
    const variable set;
    const char* const config =
        "model = \"house:one\"\n"
        "[providers.house]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    const auto opened = runtime::create({.config_text = config});
    EXPECT_TRUE(opened) << (opened ? "" : to_text(opened.error()));
}

} // namespace
} // namespace heddle
