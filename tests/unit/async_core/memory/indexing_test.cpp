#include "memory_testing.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace heddle::memory {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class indexing : public testing::memory_test {
protected:
    indexing() { open(); }
};

TEST_F(indexing, finds_text_files_below_the_root) {
    put("a.cpp", "// The warp: warp.\nint warp;");
    put("sub/b.py", "import re\n\nre.sub('x', text, 'warp')\n# of a loom");
    put("sub/deep/c.md", "# Weft\n");
    const index_report report = index(here());
    EXPECT_EQ(report.added, 3U);
    EXPECT_EQ(report.root, root.string());
    EXPECT_TRUE(report.complete);
    EXPECT_THAT(names("warp"), UnorderedElementsAre("a.cpp", "sub/b.py"));
    EXPECT_THAT(names("weft"), ElementsAre("sub/deep/c.md"));
    ports::memory_request request;
    request.query = "warp";
    request.limit = 1;
    request.include_content = true;
    const auto response = ask(request);
    ASSERT_TRUE(response);
    ASSERT_EQ(response->matches.size(), 1U);
    const ports::memory_match& best = response->matches[0];
    EXPECT_EQ(best.path, (root / "a.cpp").string());
    EXPECT_EQ(best.id, best.path);
    EXPECT_EQ(best.content_type, "text/x-c++");
    EXPECT_EQ(best.metadata, "a.cpp (text/x-c++): The warp: warp.");
    EXPECT_EQ(best.content, "// The warp: warp.\nint warp;");
    EXPECT_GT(best.relevance, 0);
    EXPECT_LE(best.relevance, 1);
    EXPECT_EQ(response->context_summary, "the best 1 of 3 indexed files: a.cpp");
}

TEST_F(indexing, leaves_out_binary_large_and_odd_files) {
    put("text.txt", "weaver");
    put("zero.bin", std::string("weaver\0", 7));
    put("latin.txt", "weaver caf\xE9");
    put("large.txt", std::string(2000, ' ') + "weaver");
    stdfs::create_symlink(root / "text.txt", root / "link.txt");
    ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
    put("bad\xFFname.txt", "weaver");
    index_options options = here();
    options.max_file_bytes = 1000;
    const index_report report = index(options);
    EXPECT_THAT(names("weaver"), ElementsAre("text.txt"));
    EXPECT_EQ(report.skipped_binary, 2U);
    EXPECT_EQ(report.skipped_large, 1U);
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("not UTF-8")));
}

TEST_F(indexing, honours_gitignore_at_each_level) {
    put(".gitignore", "*.log\n/build/\nsecret*\n");
    put("src/.gitignore", "!keep.log\n/local.txt\n");
    for (const char* name : {"a.txt", "a.log", "build/out.txt", "src/build/in.txt", "src/x.log",
                             "src/keep.log", "src/local.txt", "src/sub/local.txt", "secrets/a.txt",
                             ".git/config", "src/.hidden.txt"}) {
        put(name, "cloth");
    }
    (void)index(here());
    EXPECT_THAT(names("cloth"), UnorderedElementsAre("a.txt", "src/build/in.txt", "src/keep.log",
                                                     "src/sub/local.txt", "src/.hidden.txt"));
    index_options all = here();
    all.honour_gitignore = false;
    (void)index(all);
    EXPECT_THAT(names("cloth"), Contains("a.log"));
    EXPECT_THAT(names("cloth"), Not(Contains(".git/config")));
}

TEST_F(indexing, chooses_by_patterns) {
    for (const char* name :
         {"a.cpp", "b.py", "src/c.cpp", "docs/d.md", "docs/e.cpp", "gen/f.cpp"}) {
        put(name, "cloth");
    }
    index_options options = here();
    options.include = {"*.cpp", "docs/"};
    options.exclude = {"gen/", "e.*"};
    (void)index(options);
    EXPECT_THAT(names("cloth"), UnorderedElementsAre("a.cpp", "src/c.cpp", "docs/d.md"));
}

TEST_F(indexing, refreshes_what_has_changed) {
    put("same.txt", "carpet");
    put("other.txt", "carpet");
    put("gone.txt", "carpet");
    put("turns.txt", "carpet");
    (void)index(here());
    stdfs::remove(root / "gone.txt");
    put("other.txt", "a curtain");
    put("turns.txt", std::string("carpet\0", 7));
    put("new.txt", "carpet");
    const index_report report = index(here());
    EXPECT_EQ(report.added, 1U);
    EXPECT_EQ(report.updated, 1U);
    EXPECT_EQ(report.unchanged, 1U);
    EXPECT_EQ(report.removed, 2U);
    EXPECT_THAT(names("carpet"), UnorderedElementsAre("same.txt", "new.txt"));
    EXPECT_THAT(names("curtain"), ElementsAre("other.txt"));
    // The same size at another time.
    put("same.txt", "basket");
    age("same.txt");
    EXPECT_EQ(index(here()).updated, 1U);
    EXPECT_THAT(names("basket"), ElementsAre("same.txt"));
    // A pattern that appears later takes files out again.
    put(".gitignore", "new.txt");
    EXPECT_EQ(index(here()).removed, 1U);
    EXPECT_THAT(names("carpet"), IsEmpty());
}

TEST_F(indexing, of_one_directory_leaves_others_alone) {
    put("one/a.txt", "thread");
    put("two/b.txt", "thread");
    index_options one = here();
    one.root = (root / "one").string();
    index_options two = here();
    two.root = (root / "two").string();
    (void)index(one);
    (void)index(two);
    EXPECT_THAT(names("thread"), UnorderedElementsAre("one/a.txt", "two/b.txt"));
}

TEST_F(indexing, loops_and_bounds_of_hostile_trees) {
    put("a/b/c/d/e.txt", "spool");
    stdfs::create_directory_symlink(root / "a", root / "a" / "b" / "again");
    index_options options = here();
    options.max_depth = 3;
    index_report report = index(options);
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("too deep")));
    EXPECT_THAT(names("spool"), IsEmpty());
    report = index(here());
    EXPECT_TRUE(report.complete);
    EXPECT_THAT(names("spool"), ElementsAre("a/b/c/d/e.txt"));

    for (int i = 0; i < 30; ++i) put("many/" + std::to_string(i) + ".txt", "spool");
    options = here();
    options.max_files = 10;
    report = index(options);
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("more than 10 files")));
    // A walk that did not finish does not show what is gone.
    EXPECT_EQ(report.removed, 0U);
    options = here();
    options.max_folder_entries = 20;
    report = index(options);
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("more than 20 entries")));
    for (int i = 0; i < 30; ++i) stdfs::create_directories(root / "folders" / std::to_string(i));
    options = here();
    options.max_files = 25;
    report = index(options);
    EXPECT_FALSE(report.complete);
    EXPECT_THAT(report.warnings, Contains(HasSubstr("more than 25 folders")));
}

TEST_F(indexing, a_repository_is_indexed_as_a_whole) {
    for (const char* name :
         {"a.txt", "sub/b.txt", "sub/local.tmp", "inner/c.txt", "vendor/d.txt"}) {
        put(name, "shuttle");
    }
    stdfs::create_directories(root / ".git" / "info");
    put(".git/info/exclude", "*.tmp\n");
    stdfs::create_directories(root / "inner" / ".git");
    put("vendor/.git", "gitdir: elsewhere\n"); // a submodule
    index_options options = here();
    options.root = (root / "sub").string();
    const auto report = test.run(memory->index_git_repository(options, test.context()));
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->root, root.string());
    EXPECT_THAT(names("shuttle"), UnorderedElementsAre("a.txt", "sub/b.txt"));
    options.root = base.string();
    const auto none = test.run(memory->index_git_repository(options, test.context()));
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message(), HasSubstr("in no Git repository"));
}

TEST_F(indexing, roots_that_are_none_are_refused) {
    const auto refusal = [&](const std::string& path) {
        index_options options;
        options.root = path;
        const auto report = test.run(memory->index_directory(options, test.context()));
        return report ? std::string() : report.error().message();
    };
    EXPECT_THAT(refusal("relative/path"), HasSubstr("absolute"));
    EXPECT_THAT(refusal(""), HasSubstr("absolute"));
    EXPECT_THAT(refusal((root / "absent").string()), HasSubstr("absent"));
    put("file.txt", "x");
    EXPECT_THAT(refusal((root / "file.txt").string()), HasSubstr("file.txt"));
}

/// The real tree, but for one path that the system refuses.
class refusing_tree final : public ports::tree_port {
public:
    refusing_tree(std::shared_ptr<const ports::tree_port> real, std::string refused)
        : real_(std::move(real)), refused_(std::move(refused)) {}

    result<std::string> resolve(const std::string& path) const override {
        return real_->resolve(path);
    }
    result<std::vector<ports::tree_entry>> list(const std::string& folder,
                                                std::size_t most) const override {
        if (folder == refused_) return refusal();
        return real_->list(folder, most);
    }
    result<std::string> read(const std::string& file, std::size_t most) const override {
        if (file == refused_) return refusal();
        return real_->read(file, most);
    }
    result<std::string> beginning(const std::string& file, std::size_t bytes) const override {
        if (file == refused_) return refusal();
        return real_->beginning(file, bytes);
    }
    result<void> replace(const std::string& file, std::string_view bytes) const override {
        return real_->replace(file, bytes);
    }

private:
    [[nodiscard]] error refusal() const {
        return error(errc::io_error, "cannot read \"" + refused_ + "\": denied");
    }
    std::shared_ptr<const ports::tree_port> real_;
    std::string refused_;
};

TEST_F(indexing, what_cannot_be_read_is_a_warning) {
    put("open/a.txt", "yarn");
    put("closed/b.txt", "yarn");
    for (const char* refused : {"closed", "closed/b.txt"}) {
        tree = std::make_shared<refusing_tree>(fs::make_local_tree(), (root / refused).string());
        open();
        const index_report report = index(here());
        EXPECT_FALSE(report.complete);
        EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("closed")));
        EXPECT_THAT(names("yarn"), ElementsAre("open/a.txt"));
    }
    tree = std::make_shared<refusing_tree>(fs::make_local_tree(), root.string());
    open();
    const auto report = test.run(memory->index_directory(here(), test.context()));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("denied"));
}

TEST_F(indexing, reports_its_progress) {
    for (int i = 0; i < 150; ++i) put(std::to_string(i) + ".txt", "bobbin");
    std::vector<index_progress> reported;
    index_options options = here();
    options.on_progress = [&](const index_progress& now) { reported.push_back(now); };
    (void)index(options);
    ASSERT_EQ(reported.size(), 3U);
    EXPECT_EQ(reported[0].files_done, 64U);
    EXPECT_EQ(reported[2].files_done, 150U);
    EXPECT_EQ(reported[2].files_total, 150U);
    EXPECT_EQ(log.count("150 added"), 1);
}

TEST_F(indexing, is_cancelled_between_files_and_goes_on_later) {
    for (int i = 0; i < 300; ++i) put(std::to_string(i) + ".txt", "bobbin");
    coro::cancel_source cancel;
    index_options options = here();
    options.on_progress = [&](const index_progress& now) {
        if (now.files_done >= 128) cancel.request(cancel_reason::user);
    };
    const auto report = test.run(memory->index_directory(options, test.context(&cancel)));
    ASSERT_FALSE(report);
    EXPECT_TRUE(report.error().is_cancelled());
    EXPECT_EQ(names("bobbin").size(), 128U);
    const index_report rest = index(here());
    EXPECT_EQ(rest.unchanged, 128U);
    EXPECT_EQ(rest.added, 172U);
}

TEST_F(indexing, is_cancelled_at_once_while_a_worker_is_busy) {
    for (int i = 0; i < 40; ++i) put(std::to_string(i) + ".txt", std::string(300'000, 'x'));
    coro::cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); });
    const auto report = test.run(memory->index_directory(here(), test.context(&cancel)));
    ASSERT_FALSE(report);
    EXPECT_TRUE(report.error().is_cancelled());
    EXPECT_EQ(index(here()).added + index(here()).unchanged, 80U); // nothing is stuck
}

TEST_F(indexing, runs_beside_look_ups) {
    for (int i = 0; i < 200; ++i) put(std::to_string(i) + ".txt", "bobbin");
    coro::nursery both(test.context());
    int responses = 0;
    bool ended = false;
    const auto do_index = [](indexing* me, bool* done) -> coro::task<result<void>> {
        const auto report = co_await me->memory->index_directory(me->here(), me->test.context());
        *done = true;
        co_return report ? result<void>() : report.error();
    };
    const auto do_ask = [](indexing* me, bool* done, int* count) -> coro::task<result<void>> {
        while (!*done) {
            ports::memory_request request;
            request.query = "bobbin";
            const auto response = co_await me->memory->relevant_files(request, me->test.context());
            if (!response) co_return response.error();
            ++*count;
        }
        co_return result<void>();
    };
    both.start(do_index(this, &ended));
    both.start(do_ask(this, &ended, &responses));
    const auto joined = test.run(both.join());
    ASSERT_TRUE(joined) << joined.error().message();
    EXPECT_GT(responses, 0);
    EXPECT_EQ(names("bobbin").size(), 200U);
}

} // namespace
} // namespace heddle::memory
