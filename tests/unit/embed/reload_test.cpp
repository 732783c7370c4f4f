// Programs that follow their files.
#include "embed_harness.hpp"
#include "scratch_folder.hpp"

#include "imported_files.hpp"

#include <gmock/gmock.h>
#include <sanitizers.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using file_clock = std::filesystem::file_time_type::clock;
using testing::called;
using testing::comes_true;
using ::testing::Contains;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* endless = "(define (f) 0) (let loop ((i 0)) (loop (+ i 1)))";

/// Files that are replaced as a whole, each time with another time.
class versions {
public:
    std::string write(const std::string& name, const std::string& text) {
        const std::string fresh = folder_.write(name + ".new", text);
        std::filesystem::last_write_time(fresh, file_clock::now() + std::chrono::hours(++count_));
        std::filesystem::rename(fresh, folder_.path / name);
        return (folder_.path / name).string();
    }

private:
    testing::scratch_folder folder_;
    int count_ = 0;
};

/// Lines of a log, from all threads.
class logged_lines {
public:
    std::function<void(log_level, std::string_view, std::string_view)> log() {
        return [this](log_level, std::string_view, std::string_view line) {
            const std::lock_guard held(mutex_);
            lines_.emplace_back(line);
        };
    }
    std::vector<std::string> lines() const {
        const std::lock_guard held(mutex_);
        return lines_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

class embed_reload : public ::testing::Test {
protected:
    program load(runtime& rt, const std::string& file,
                 std::chrono::nanoseconds reload_timeout = 60s) {
        auto flow = rt.load(
            file, {.reload = true, .reload_interval = 0ns, .reload_timeout = reload_timeout});
        EXPECT_TRUE(flow.has_value()) << (flow ? "" : to_text(flow.error()));
        return flow ? *flow : program();
    }
    static bool comes(const program& flow, int result) {
        return comes_true([&] { return called(flow, "f").value().value() == json(result); });
    }

    /// Calls have the result of the version before until the log has the failure of a new one.
    bool fails_to_load(const program& flow, int result) {
        return comes_true([&] {
            EXPECT_EQ(called(flow, "f").value().value(), json(result));
            return !log.lines().empty();
        });
    }

    versions files;
    logged_lines log;
};

TEST_F(embed_reload, follows_the_file_and_keeps_what_works) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    runtime rt(testing::with_model({.log = log.log()}));
    const program flow = load(rt, file);
    const auto fixed = rt.load(file);
    EXPECT_EQ(called(flow, "f").value().value(), json(1));
    files.write("f.heddle", "(define (f) 2)");
    EXPECT_TRUE(comes(flow, 2));
    files.write("f.heddle", "(define (f) (nonsense))");
    EXPECT_TRUE(fails_to_load(flow, 2));
    files.write("f.heddle", "(define (f) 3)");
    EXPECT_TRUE(comes(flow, 3));
    EXPECT_EQ(called(*fixed, "f").value().value(), json(1));
}

TEST_F(embed_reload, never_looks_at_an_interval_without_end) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    runtime rt(testing::with_model());
    const auto flow =
        rt.load(file, {.reload = true, .reload_interval = std::chrono::nanoseconds::max()});
    ASSERT_TRUE(flow);
    files.write("f.heddle", "(define (f) 2)");
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(called(*flow, "f").value().value(), json(1));
        std::this_thread::sleep_for(1ms);
    }
}

TEST_F(embed_reload, follows_what_the_file_imports) {
    files.write("inner.heddle", "(define (g) 1)");
    files.write("outer.heddle", "(import \"inner.heddle\")");
    const std::string file = files.write("f.heddle", "(import \"outer.heddle\")\n(define (f) (g))");
    runtime rt(testing::with_model({.log = log.log()}));
    const program flow = load(rt, file);
    EXPECT_TRUE(comes(flow, 1));
    files.write("inner.heddle", "(define (g) 2)");
    EXPECT_TRUE(comes(flow, 2));
    files.write("outer.heddle", "(import \"missing.heddle\")");
    EXPECT_TRUE(fails_to_load(flow, 2));
    files.write("missing.heddle", "(define (g) 3)");
    EXPECT_TRUE(comes(flow, 3));
}

TEST_F(embed_reload, a_version_that_does_not_end_is_logged_and_later_ones_are_loaded) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    runtime rt(testing::with_model({.log = log.log()}));
    constexpr auto most = 50ms * sanitizers::slowed_down;
    const program flow = load(rt, file, most);
    files.write("f.heddle", endless);
    EXPECT_TRUE(comes_true([&] {
        EXPECT_EQ(called(flow, "f").value().value(), json(1));
        return !log.lines().empty();
    }));
    EXPECT_THAT(log.lines(), Contains(HasSubstr("f.heddle\" was not loaded in " +
                                                std::to_string(most / 1ms) + " ms")));
    files.write("f.heddle", "(define (f) 2)");
    EXPECT_TRUE(comes(flow, 2));
}

TEST_F(embed_reload, a_newer_version_ends_the_load_of_the_one_before) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    std::atomic<int> begun{0};
    runtime_options options = testing::with_model({.log = log.log()});
    options.print = [&](std::string_view) { ++begun; };
    runtime rt(options);
    const program flow = load(rt, file, 600s);
    files.write("g.heddle", "(define (g) 2)");
    files.write("f.heddle", "(import \"g.heddle\") (print \"x\") " + std::string(endless));
    const auto calls_until = [&](int count) {
        return comes_true(
            [&] { return called(flow, "f").value().value() == json(1) && begun == count; });
    };
    EXPECT_TRUE(calls_until(1));
    files.write("g.heddle", "(define (g) 3)"); // also of what it imports
    EXPECT_TRUE(calls_until(2));
    files.write("f.heddle", "(define (f) 4)");
    EXPECT_TRUE(comes(flow, 4));
    EXPECT_TRUE(log.lines().empty());
}

TEST_F(embed_reload, the_end_of_the_runtime_ends_a_load) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    {
        runtime rt(testing::with_model());
        const program flow = load(rt, file, 600s);
        files.write("f.heddle", endless);
        EXPECT_TRUE(comes_true([&] {
            (void)called(flow, "f");
            return rt.stats().all.loads == 2;
        }));
    }
}

TEST_F(embed_reload, sees_what_changes_while_the_program_is_loaded) {
    const std::string file = files.write("f.heddle", "(print \"loading\") (define (f) 1)");
    runtime_options options = testing::with_model();
    options.print = [&](std::string_view) { files.write("f.heddle", "(define (f) 2)"); };
    runtime rt(options);
    const program flow = load(rt, file);
    EXPECT_TRUE(comes(flow, 2));
}

/// A change may leave the same time: the clock of a file system goes in steps.
TEST(embed_imported_files, counts_what_was_just_written_as_changed) {
    const testing::scratch_folder folder;
    const std::string file = folder.write("f", "");
    const auto at = [&](std::chrono::milliseconds offset) {
        const auto begun = file_clock::now();
        std::filesystem::last_write_time(file, begun + offset);
        embed::imported_files seen;
        seen.note(file, embed::imported_files::time_to_note(file, begun));
        return seen.changed();
    };
    EXPECT_TRUE(at(-2ms));
    EXPECT_TRUE(at(0ms));
    EXPECT_FALSE(at(-1h));
    EXPECT_FALSE(at(1h));
}

TEST_F(embed_reload, all_threads_and_calls_import_the_same) {
    files.write("g.heddle", "(define (g) 1)");
    const std::string shared = files.write("f.heddle", "(import \"g.heddle\")\n(define (f) (g))");
    const std::string loaded_by_each_call =
        files.write("each.heddle",
                    "(import \"g.heddle\")\n(define (f) (g))\n"
                    "(define count (let ((n 0)) (lambda () (set! n (+ n 1)))))");
    runtime rt(testing::with_model({.threads = 3}));
    std::vector<program> flows;
    for (const std::string& file : {shared, loaded_by_each_call})
        flows.push_back(rt.load(file).value());
    files.write("g.heddle", "(define (g) 2)");
    for (const program& flow : flows) {
        for (int i = 0; i < 6; ++i) EXPECT_EQ(called(flow, "f").value().value(), json(1));
    }
    EXPECT_EQ(called(rt.load(shared).value(), "f").value().value(), json(2));
}

TEST_F(embed_reload, a_mistake_in_what_it_imports_ends_calls_on_no_thread) {
    files.write("g.heddle", "(define (g) 1)");
    const std::string file = files.write("f.heddle", "(import \"g.heddle\")\n(define (f) (g))");
    runtime rt(testing::with_model({.threads = 3, .log = log.log()}));
    const program flow = load(rt, file);
    files.write("g.heddle", "(define (g) ");
    for (int i = 0; i < 6 || log.lines().empty(); ++i) {
        const auto ended = called(flow, "f");
        ASSERT_TRUE(ended.has_value()) << to_text(ended.error());
        EXPECT_EQ(ended->value(), json(1));
    }
}

TEST_F(embed_reload, touches_nothing_of_a_runtime_that_is_gone) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    asio::io_context context;
    program flow;
    {
        runtime rt(context, host_threads::one, testing::with_model());
        flow = load(rt, file);
    }
    context.restart();
    context.poll();
    files.write("f.heddle", "(define (f) 2)");
    const auto refused = called(flow, "f");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), make_error_code(runtime_errc::stopped));
    context.restart();
    EXPECT_EQ(context.poll(), 0U); // it might be gone as well
}

TEST_F(embed_reload, keeps_nothing_of_a_runtime_that_is_gone) {
    const std::string file = files.write("f.heddle", "(define (f) 1)");
    auto held = std::make_shared<int>();
    const std::weak_ptr<int> left = held;
    {
        program flow;
        {
            runtime_options options = testing::with_model();
            options.print = [held = std::move(held)](std::string_view) {};
            runtime rt(std::move(options));
            flow = load(rt, file);
        }
        files.write("f.heddle", "(define (f) 2)");
        EXPECT_FALSE(called(flow, "f"));
    }
    EXPECT_TRUE(left.expired());
}

} // namespace
} // namespace heddle
