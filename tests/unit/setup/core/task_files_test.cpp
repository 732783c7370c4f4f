// Where files of task templates may lie.
#include <heddle/setup/task_files.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

namespace heddle::setup {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A directory `project` with `tasks`, and beside it a file of the user's.
class task_files_test : public ::testing::Test {
protected:
    task_files_test() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        root = std::filesystem::canonical(name);
        std::filesystem::create_directories(root / "project" / "tasks");
        write("key", "sk-very-secret");
        write("other.xml", task);
        write("project/tasks/own.xml", task);
    }
    ~task_files_test() override {
        std::error_code ignored;
        std::filesystem::remove_all(root, ignored);
    }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(root / name) << text;
    }
    void link(const std::filesystem::path& target, const std::string& name) const {
        std::filesystem::create_symlink(target, root / name);
    }
    /// A path that a project's file or a directory tasks/ leads to.
    [[nodiscard]] template_place found(const std::string& name) const {
        return {(root / name).string(), (root / "project").string()};
    }
    /// The number of templates, or what is wrong.
    [[nodiscard]] static std::string load(const std::vector<template_place>& places) {
        const auto loaded = load_templates(places, {});
        return loaded ? std::to_string(loaded->templates.size()) : loaded.error().message();
    }

    static constexpr const char* task =
        "<task name=\"t\" type=\"atomic\"><description>d</description>"
        "<instructions>i</instructions></task>";
    std::filesystem::path root;
};

// The first line of a key was shown as a mistake in XML.
TEST_F(task_files_test, a_link_in_a_directory_that_was_found_does_not_lead_out) {
    const template_place tasks = found_templates((root / "project" / "tasks").string());
    EXPECT_EQ(load({tasks}), "1");
    link(root / "key", "project/tasks/t.xml");
    EXPECT_THAT(load({tasks}),
                AllOf(HasSubstr("tasks/t.xml\" leads out of "), Not(HasSubstr("secret"))));
    std::filesystem::remove(root / "project/tasks/t.xml");
    std::filesystem::create_directory(root / "project/shared");
    write("project/shared/more.txt", "<tasks></tasks>");
    link("../shared/more.txt", "project/tasks/t.xml");
    EXPECT_EQ(load({tasks}), "1");
    std::filesystem::remove_all(root / "project/tasks");
    std::filesystem::create_directory(root / "elsewhere");
    write("elsewhere/x.xml", task);
    link(root / "elsewhere", "project/tasks");
    EXPECT_THAT(load({tasks}), HasSubstr("project/tasks\" leads out of "));
}

TEST_F(task_files_test, a_path_of_a_project_does_not_lead_out) {
    link(root / "key", "project/k");
    EXPECT_EQ(load({found("project/tasks"), found("project/tasks/own.xml")}), "1");
    for (const char* name : {"key", "other.xml", "project/../key", "project/k", ".", "none"}) {
        EXPECT_THAT(load({found(name)}),
                    AllOf(HasSubstr("\" leads out of "), Not(HasSubstr("secret"))))
            << name;
    }
    EXPECT_THAT(load({found("project/none")}), HasSubstr("there is no"));
    // What is replaced between the look and the reading.
    EXPECT_THAT(read_template_file(found("project/k")).error().message(),
                HasSubstr("leads out of"));
}

TEST_F(task_files_test, what_the_user_names_may_be_anywhere) {
    link(root / "other.xml", "project/tasks/own-link.xml");
    EXPECT_EQ(load(named_templates({(root / "project/tasks/own-link.xml").string()})), "1");
}

// They took standard input from the workflow, or waited for it.
TEST_F(task_files_test, no_stream_and_no_device_is_a_file_of_templates) {
    ASSERT_EQ(::mkfifo((root / "project/pipe").c_str(), 0600), 0);
    for (const std::string& name :
         {std::string("/dev/stdin"), std::string("/dev/fd/0"), std::string("/proc/self/fd/0"),
          std::string("/dev/zero"), (root / "project/pipe").string()}) {
        EXPECT_THAT(load(named_templates({name})), HasSubstr(name + ": is a ")) << name;
        EXPECT_FALSE(load_templates({{name, (root / "project").string()}}, {})) << name;
    }
}

} // namespace
} // namespace heddle::setup
