// One file has one name in a context, whatever links lead to it.
#include "context_testing.hpp"

#include <sstream>

namespace heddle::tasks {
namespace {

using testing::context_bench;
using testing::context_harness;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::paths_of;

/// A workspace with links to directories and files.
struct linked_bench : context_bench {
    linked_bench() {
        folder.file("notes/warp.md", "warp");
        folder.file("secrets/k.md", "key");
        folder.file("other/deep/d.md", "deep");
        folder.file("other/x.md", "OTHER");
        folder.file("x.md", "ROOT");
        link("notes/warp.md", "alias.md");
        link("secrets", "sl");
        link("other/deep", "dl");
    }
    void link(const std::string& target, const std::string& name) const {
        std::filesystem::create_symlink(target, folder.path / name);
    }
    /// The context of a call that names these files, separated by spaces.
    assembled_context with_files(const std::string& names, task_template declared = {}) {
        std::string clause = "((files (";
        std::stringstream words(names);
        for (std::string name; words >> name;) clause += '"' + name + "\" ";
        auto context = make(std::move(declared), clause + ")))");
        EXPECT_TRUE(context) << (context ? "" : context.error().message());
        return context ? **context : assembled_context();
    }
};

TEST(names_in_a_context, of_a_path_behind_a_link_are_of_the_file_that_is_read) {
    linked_bench b;
    const assembled_context context = b.with_files("dl/../x.md");
    EXPECT_EQ(context.text, "<context>\n<file path=\"other/x.md\">\nOTHER\n</file>\n</context>");
    EXPECT_THAT(paths_of(b.with_files(b.folder.at("dl/../x.md"))), ElementsAre("other/x.md"));
    EXPECT_THAT(paths_of(b.with_files("x.md dl/../x.md other/x.md")),
                ElementsAre("x.md", "other/x.md"));
}

TEST(names_in_a_context, are_one_for_each_file) {
    linked_bench b;
    EXPECT_THAT(paths_of(b.with_files("alias.md notes/warp.md ./notes/../alias.md")),
                ElementsAre("notes/warp.md"));
    EXPECT_THAT(paths_of(b.with_files("sl/k.md secrets/k.md")), ElementsAre("secrets/k.md"));
    // With a path that names the workspace by way of another directory.
    const std::string again = "/../" + b.folder.path.filename().string() + "/alias.md";
    EXPECT_THAT(paths_of(b.with_files(b.folder.path.string() + again)),
                ElementsAre("notes/warp.md"));
}

TEST(names_in_a_context, are_what_the_limit_of_files_counts) {
    linked_bench b;
    b.options.max_files = 3;
    const assembled_context all =
        b.with_files("alias.md notes/warp.md ./x.md x.md other/x.md ./other/../other/x.md");
    EXPECT_THAT(paths_of(all), ElementsAre("notes/warp.md", "x.md", "other/x.md"));
    EXPECT_THAT(all.warnings, IsEmpty());
    const assembled_context cut = b.with_files("x.md ./x.md alias.md other/x.md secrets/k.md");
    EXPECT_EQ(paths_of(cut).size(), 3U);
    EXPECT_THAT(cut.warnings, ElementsAre("only the first 3 of 4 files are taken"));
}

TEST(names_in_a_context, through_links_do_not_evade_the_patterns_of_the_assembly) {
    linked_bench b;
    task_template declared;
    declared.assembly.excluded = {"secrets/"};
    const assembled_context context = b.with_files("sl/k.md alias.md", declared);
    EXPECT_THAT(paths_of(context), ElementsAre("notes/warp.md"));
    EXPECT_EQ(context.text.find("key"), std::string::npos) << context.text;
}

TEST(names_in_a_context, that_lead_nowhere_are_reported_as_they_are_spelled) {
    linked_bench b;
    b.link("/etc/passwd", "out.md");
    b.link("loop.md", "loop.md");
    const assembled_context context = b.with_files("none/../x.md out.md loop.md dl/../../../x.md");
    EXPECT_THAT(context.parts, IsEmpty());
    EXPECT_THAT(
        context.warnings,
        ElementsAre(HasSubstr("none/../x.md is left out"), HasSubstr("out.md is left out"),
                    HasSubstr("loop.md is left out"), HasSubstr("dl/../../../x.md is left out")));
}

TEST(names_in_a_context, of_the_caller_and_of_the_task_are_compared_without_links) {
    context_harness w;
    w.folder.file("notes/warp.md", "warp");
    std::filesystem::create_symlink("notes/warp.md", w.folder.path / "alias.md");
    w.llm.say("done");
    EXPECT_EQ(w.json("(defatom ask (params) (instructions \"Go\") (file_paths (\"alias.md\"))) "
                     "(with ((files '(\"notes/warp.md\"))) "
                     "(get-in (ask) '(notes context_files)))"),
              R"(["notes/warp.md"])");
}

} // namespace
} // namespace heddle::tasks
