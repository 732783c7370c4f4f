#include "embed_harness.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using testing::comes_true;
using ::testing::HasSubstr;
using testing::loaded;
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

class scratch_folder {
public:
    scratch_folder()
        : path(std::filesystem::temp_directory_path() /
               ("heddle-embed-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
        std::filesystem::create_directories(path);
    }
    ~scratch_folder() { std::filesystem::remove_all(path); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    std::string write(const char* name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
    const std::filesystem::path path;
};

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

TEST(embed_reload, follows_the_file_and_keeps_what_works) {
    const scratch_folder folder;
    const std::string file = folder.write("f.heddle", "(define (f) 1)");
    runtime rt(testing::with_model());
    auto flow = rt.load(file, {.reload = true, .reload_interval = 1ms});
    ASSERT_TRUE(flow);
    const auto fixed = rt.load(file);
    EXPECT_EQ(called(*flow, "f").value().value(), json(1));
    const auto change = [&](const char* text, int hours) {
        folder.write("f.heddle", text);
        std::filesystem::last_write_time(
            file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(hours));
    };
    change("(define (f) 2)", 1);
    EXPECT_TRUE(comes_true([&] { return called(*flow, "f").value().value() == json(2); }));
    change("(define (f) (nonsense))", 2);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(called(*flow, "f").value().value(), json(2));
    change("(define (f) 3)", 3);
    EXPECT_TRUE(comes_true([&] { return called(*flow, "f").value().value() == json(3); }));
    EXPECT_EQ(called(*fixed, "f").value().value(), json(1));
}

TEST(embed_reload, follows_what_the_file_imports) {
    const scratch_folder folder;
    int hours = 0;
    const auto change = [&](const char* name, const char* text) {
        std::filesystem::last_write_time(
            folder.write(name, text),
            std::filesystem::file_time_type::clock::now() + std::chrono::hours(++hours));
    };
    change("inner.heddle", "(define (g) 1)");
    change("outer.heddle", "(import \"inner.heddle\")");
    const std::string file =
        folder.write("f.heddle", "(import \"outer.heddle\")\n(define (f) (g))");
    runtime rt(testing::with_model());
    auto flow = rt.load(file, {.reload = true, .reload_interval = 1ms});
    ASSERT_TRUE(flow);
    const auto comes = [&](int result) {
        return comes_true([&] { return called(*flow, "f").value().value() == json(result); });
    };
    EXPECT_TRUE(comes(1));
    change("inner.heddle", "(define (g) 2)");
    EXPECT_TRUE(comes(2));
    change("outer.heddle", "(import \"missing.heddle\")");
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(comes(2));
    std::this_thread::sleep_for(20ms);
    change("missing.heddle", "(define (g) 3)");
    EXPECT_TRUE(comes(3));
}

} // namespace
} // namespace heddle
