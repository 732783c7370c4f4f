#include <heddle/fs/workspace_files.hpp>

#include "fs/file_work.hpp"

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::fs {
namespace {

namespace stdfs = std::filesystem;
using namespace std::chrono_literals;
using loopback::runner;

class workspace_files : public ::testing::Test {
protected:
    workspace_files() {
        static std::atomic<int> count{0};
        base = stdfs::temp_directory_path() /
               ("heddle-fs-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
        root = base / "root";
        stdfs::create_directories(root / "sub" / "deep");
        stdfs::create_directories(base / "root-sibling");
        put(root / "a.txt", "alpha");
        put(root / "sub" / "b.txt", "beta");
        put(base / "outside.txt", "secret");
        put(base / "root-sibling" / "c.txt", "secret");
        open();
    }
    ~workspace_files() override {
        files.reset();
        stdfs::remove_all(base);
    }

    static void put(const stdfs::path& path, const std::string& text) {
        std::ofstream(path, std::ios::binary) << text;
    }
    static std::string get(const stdfs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void open(workspace_options options = {}) {
        files = *make_workspace_files(root.string(), test.loop, options);
    }

    [[nodiscard]] result<std::string> read(std::string path) {
        return test.run(files->read(std::move(path), test.context()));
    }
    [[nodiscard]] result<void> write(std::string path, std::string text) {
        return test.run(files->write(std::move(path), std::move(text), test.context()));
    }
    [[nodiscard]] result<bool> exists(std::string path) {
        return test.run(files->exists(std::move(path), test.context()));
    }
    [[nodiscard]] result<std::vector<std::string>> list(std::string path) {
        return test.run(files->list(std::move(path), test.context()));
    }
    [[nodiscard]] std::string name_of(std::string path) {
        const auto names = test.run(files->names_of({std::move(path)}, test.context()));
        return names ? names->at(0) : names.error().message();
    }
    /// Every operation refuses the path.
    void expect_refused(const std::string& path) {
        SCOPED_TRACE(path);
        const auto code = make_error_code(errc::invalid_argument);
        EXPECT_EQ(read(path).error().code(), code);
        EXPECT_EQ(write(path, "x").error().code(), code);
        EXPECT_EQ(exists(path).error().code(), code);
        EXPECT_EQ(list(path).error().code(), code);
    }

    stdfs::path base;
    stdfs::path root;
    runner test;
    std::shared_ptr<ports::file_port> files;
};

TEST_F(workspace_files, files_below_the_root_are_read_by_any_way_of_writing_their_path) {
    for (const std::string& path :
         {std::string("sub/b.txt"), std::string("./sub//b.txt"), std::string("sub/deep/../b.txt"),
          (root / "sub/b.txt").string()}) {
        const auto text = read(path);
        ASSERT_TRUE(text) << path << ": " << text.error().message();
        EXPECT_EQ(*text, "beta");
    }
}

TEST_F(workspace_files, a_file_has_one_name_whatever_links_lead_to_it) {
    stdfs::create_directory_symlink("sub/deep", root / "to-deep");
    stdfs::create_symlink(root / "sub/b.txt", root / "absolute");
    stdfs::create_symlink("../../a.txt", root / "sub/deep/up");
    stdfs::create_directory_symlink(root, base / "other-root");
    for (const std::string& path :
         {std::string("sub/b.txt"), std::string("./sub//b.txt/"), std::string("to-deep/../b.txt"),
          std::string("absolute"), (root / "sub/b.txt").string(),
          (root / "to-deep/../b.txt").string(), (root / "../root/absolute").string()}) {
        EXPECT_EQ(name_of(path), "sub/b.txt") << path;
    }
    EXPECT_EQ(name_of("to-deep/up"), "a.txt");
    EXPECT_EQ(name_of("to-deep/none"), "sub/deep/none");
    // A link does not name a file whose name cannot be shown.
    stdfs::create_symlink("sub/b\xFF.txt", root / "shown.txt");
    EXPECT_EQ(name_of("shown.txt"), "sub/b\uFFFD.txt");
    // What cannot be read below the root keeps its spelling.
    stdfs::create_symlink(base / "outside.txt", root / "out");
    for (const std::string& path :
         {std::string("out"), std::string("../outside.txt"), std::string("to-deep/../../../x"),
          std::string("none/../a.txt"), (base / "outside.txt").string(), std::string("."),
          std::string("a\0b", 3), std::string()}) {
        EXPECT_EQ(name_of(path), path);
    }
}

TEST_F(workspace_files, what_is_missing_is_not_found) {
    EXPECT_EQ(read("none.txt").error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(read("none/a.txt").error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(read("a.txt/b").error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(write("none/a.txt", "x").error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(list("none").error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(exists("none/a.txt").value(), false);
    EXPECT_EQ(exists("none").value(), false);
    EXPECT_EQ(exists("a.txt").value(), true);
    EXPECT_EQ(exists("sub").value(), true);
    EXPECT_EQ(exists(".").value(), true);
    EXPECT_EQ(make_workspace_files((base / "none").string(), test.loop).error().code(),
              make_error_code(errc::not_found));
}

TEST_F(workspace_files, no_path_leads_out) {
    stdfs::create_symlink(base, root / "up");
    stdfs::create_symlink("../outside.txt", root / "relative");
    stdfs::create_symlink(base / "outside.txt", root / "absolute");
    stdfs::create_symlink("relative", root / "chain");
    for (const std::string& path :
         {std::string("../outside.txt"), std::string("sub/../../outside.txt"),
          std::string("/etc/passwd"), (base / "root-sibling/c.txt").string(),
          std::string("up/outside.txt"), std::string("relative"), std::string("absolute"),
          std::string("chain"), std::string("../root/a.txt"), std::string("a\0b", 3)}) {
        expect_refused(path);
    }
    EXPECT_EQ(get(base / "outside.txt"), "secret");
}

TEST_F(workspace_files, links_that_stay_inside_are_followed) {
    stdfs::create_symlink("../a.txt", root / "sub" / "to-a");
    stdfs::create_symlink(root / "sub", root / "to-sub");
    EXPECT_EQ(*read("sub/to-a"), "alpha");
    EXPECT_EQ(*read("to-sub/b.txt"), "beta");
    EXPECT_TRUE(write("sub/to-a", "new"));
    EXPECT_EQ(get(root / "a.txt"), "new");
    EXPECT_TRUE(stdfs::is_symlink(root / "sub" / "to-a"));
    stdfs::create_symlink("loop", root / "loop");
    EXPECT_EQ(read("loop").error().code(), make_error_code(errc::io_error));
}

TEST_F(workspace_files, only_regular_files_are_read_and_replaced) {
    ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
    for (const char* path : {"pipe", "sub", "."}) {
        EXPECT_EQ(read(path).error().code(), make_error_code(errc::invalid_argument)) << path;
        EXPECT_EQ(write(path, "x").error().code(), make_error_code(errc::invalid_argument)) << path;
    }
}

TEST_F(workspace_files, writing_replaces_in_one_step_and_leaves_nothing_beside) {
    EXPECT_TRUE(write("new.txt", "one"));
    EXPECT_EQ(get(root / "new.txt"), "one");
    ASSERT_EQ(::chmod((root / "new.txt").c_str(), 0640), 0);
    const std::string big(3'000'000, 'z');
    EXPECT_TRUE(write("new.txt", big));
    EXPECT_EQ(get(root / "new.txt"), big);
    EXPECT_EQ(*read("new.txt"), big);
    EXPECT_EQ(stdfs::status(root / "new.txt").permissions(), stdfs::perms(0640));
    EXPECT_TRUE(write("new.txt", ""));
    EXPECT_EQ(*read("new.txt"), "");
    EXPECT_EQ(*list("."), (std::vector<std::string>{"a.txt", "new.txt", "sub/"}));
}

TEST_F(workspace_files, lists_are_sorted_and_mark_directories) {
    stdfs::create_directories(root / "Z");
    stdfs::create_symlink("sub", root / "link");
    stdfs::create_symlink(base, root / "out");
    put(root / ".hidden", "");
    EXPECT_EQ(*list(""),
              (std::vector<std::string>{".hidden", "Z/", "a.txt", "link/", "out", "sub/"}));
    EXPECT_EQ(*list("sub"), (std::vector<std::string>{"b.txt", "deep/"}));
    EXPECT_EQ(*list("link/deep"), std::vector<std::string>());
    EXPECT_FALSE(list("a.txt"));
}

TEST_F(workspace_files, limits_hold) {
    workspace_options options;
    options.max_file_bytes = 4;
    options.max_entries = 1;
    open(options);
    const error too_large = read("a.txt").error();
    EXPECT_EQ(too_large.code(), make_error_code(errc::limit_exceeded));
    EXPECT_EQ(too_large.info().hint, "split it into smaller files") << "no option raises the limit";
    EXPECT_EQ(write("b.txt", "12345").error().code(), make_error_code(errc::limit_exceeded));
    EXPECT_EQ(list(".").error().code(), make_error_code(errc::limit_exceeded));
    EXPECT_TRUE(write("b.txt", "1234"));
    EXPECT_EQ(*read("b.txt"), "1234");
}

TEST_F(workspace_files, text_that_is_not_utf_8_is_refused) {
    put(root / "latin", "caf\xE9");
    EXPECT_EQ(read("latin").error().code(), make_error_code(errc::invalid_argument));
    put(root / "utf8", "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    EXPECT_TRUE(read("utf8"));
}

TEST_F(workspace_files, cancelled_and_late_calls_do_not_begin) {
    coro::cancel_source cancel;
    cancel.request(cancel_reason::user);
    const auto cancelled = test.run(files->write("x", "y", test.context(&cancel)));
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().cancelled_because(), cancel_reason::user);
    const auto late = test.run(files->write("x", "y", test.context(nullptr, runner::in(-1ms))));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
    EXPECT_FALSE(stdfs::exists(root / "x"));
}

TEST_F(workspace_files, a_cancelled_write_leaves_the_old_file_or_the_new_one_and_no_trace) {
    const std::string big(8'000'000, 'n');
    for (int i = 0; i < 20; ++i) {
        put(root / "f", "old");
        coro::cancel_source cancel;
        test.later([&] { cancel.request(cancel_reason::user); }, i * 5);
        const auto outcome = test.run(files->write("f", big, test.context(&cancel)));
        if (!outcome) {
            EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::user);
        }
        open(); // waits for the worker
        const std::string now = get(root / "f");
        EXPECT_TRUE(now == "old" || now == big) << now.size();
        EXPECT_EQ(*list("."), (std::vector<std::string>{"a.txt", "f", "sub/"}));
    }
}

TEST_F(workspace_files, an_abandoned_write_changes_nothing) {
    const auto opened = open_root(root.string());
    ASSERT_TRUE(opened);
    const abandon_flag abandoned{true};
    EXPECT_FALSE(write_file(*opened, "a.txt", "new", abandoned));
    EXPECT_EQ(get(root / "a.txt"), "alpha");
    EXPECT_EQ(*list("."), (std::vector<std::string>{"a.txt", "sub/"}));
}

// Whatever the workspace is, and however a path gets there.
TEST_F(workspace_files, what_the_kernel_makes_up_is_no_file_of_a_workspace) {
    const std::vector<std::string> from_top{"proc/self/environ",
                                            "/proc/self/environ",
                                            "proc/self/../self/environ",
                                            "proc/self/root/proc/self/environ",
                                            "proc/version",
                                            "sys/kernel/uevent_seqnum"};
    const std::vector<std::pair<std::string, std::vector<std::string>>> all{
        {"/proc", {"self/environ", "version", "self/root/proc/self/environ"}},
        {"/proc/self", {"environ", "../self/environ", "root/proc/self/environ"}},
        {"/proc/self/root", from_top},
        {"/", from_top}};
    for (const auto& [workspace, paths] : all) {
        auto opened = make_workspace_files(workspace, test.loop, {});
        ASSERT_TRUE(opened) << opened.error().message();
        files = *std::move(opened);
        for (const std::string& path : paths) {
            EXPECT_FALSE(read(path)) << workspace << " " << path;
            EXPECT_FALSE(write(path, "x")) << workspace << " " << path;
        }
        const bool top = paths == from_top;
        for (const char* path : {top ? "proc" : ".", top ? "proc/self" : "./", top ? "sys" : "."}) {
            EXPECT_FALSE(test.run(files->list(path, test.context()))) << workspace << " " << path;
        }
    }
    const auto reported = read("/proc/self/environ");
    EXPECT_NE(reported.error().message().find("generated by the kernel"), std::string::npos)
        << reported.error().message();
}

} // namespace
} // namespace heddle::fs
