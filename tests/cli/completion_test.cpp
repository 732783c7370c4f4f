// The completion scripts in the shells that are installed here.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace heddle::cli_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

using words = std::vector<std::string>;

std::string find_program(const std::string& name) {
    for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
        if (std::filesystem::exists(folder + name)) return folder + name;
    }
    return {};
}

words lines_of(const std::string& text) {
    words result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) result.push_back(line);
    return result;
}

/// Asks a shell for what it offers; the last word is what is being typed.
class completion : public ::testing::Test {
protected:
    [[nodiscard]] words run(const std::string& shell, const words& more) const {
        words command{find_program(shell)};
        command.insert(command.end(), more.begin(), more.end());
        child_options options;
        options.variables = {{"HOME", scratch.path()}};
        options.directory = scratch.path();
        const auto ended = child_process(command, options).wait();
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.err, "");
        return lines_of(ended.out);
    }
    [[nodiscard]] std::string script(const std::string& shell) const {
        return scratch.file("script", run_heddle({"completion", shell}).out);
    }
    [[nodiscard]] words bash(const words& typed) const {
        words arguments{"--norc", "-c",
                        "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n"
                        "_heddle; [ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"",
                        "bash", script("bash")};
        arguments.insert(arguments.end(), typed.begin(), typed.end());
        return run("bash", arguments);
    }
    /// "name:description" of each, and "FILES" where files are offered.
    [[nodiscard]] words zsh(const words& typed) const {
        words arguments{"-f", "-c",
                        "before=$PATH\n"
                        "_describe() { print -rl -- \"${(@P)2}\"\n"
                        "              [[ $PATH == $before ]] || print \"PATH is $PATH\" }\n"
                        "_files() { print FILES }\n"
                        "script=$1; shift; words=(\"$@\"); CURRENT=$#words\n"
                        "set --; source $script",
                        "zsh", script("zsh")};
        arguments.insert(arguments.end(), typed.begin(), typed.end());
        return run("zsh", arguments);
    }

    /// Without their descriptions.
    [[nodiscard]] words fish(const std::string& typed) const {
        words result = run("fish", {"--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                                    script("fish"), typed});
        for (std::string& each : result) each.resize(std::min(each.find('\t'), each.size()));
        return result;
    }

    scratch_directory scratch;
};

TEST_F(completion, in_zsh_leaves_the_path_alone) {
    if (find_program("zsh").empty()) GTEST_SKIP() << "there is no zsh";
    EXPECT_THAT(zsh({"heddle", "tasks", ""}), Contains(::testing::StartsWith("list:")));
    EXPECT_THAT(zsh({"heddle", "tasks", ""}), Not(Contains(::testing::StartsWith("PATH is"))));
}

TEST_F(completion, in_fish_compares_whole_words) {
    if (find_program("fish").empty()) GTEST_SKIP() << "there is no fish";
    EXPECT_THAT(fish("heddle "), Contains("models"));
    EXPECT_THAT(fish("heddle "), Not(Contains("serve")));
    EXPECT_THAT(fish("heddle model "), Contains("serve"));
    EXPECT_THAT(fish("heddle models "), Not(Contains("serve")));
    EXPECT_THAT(fish("heddle tasks "), Contains("list"));
    EXPECT_THAT(fish("heddle tasks list "), Not(Contains("check")));
    EXPECT_THAT(fish("heddle tasks list --"), Contains("--json"));
    EXPECT_THAT(fish("./heddle tasks "), Contains("list")); // by whatever name
    EXPECT_THAT(fish("heddle run tasks "), Not(Contains("list")));
}

TEST_F(completion, in_bash_knows_commands_options_and_arguments) {
    if (find_program("bash").empty()) GTEST_SKIP() << "there is no bash";
    scratch.file("words.heddle", "");
    EXPECT_THAT(bash({"heddle", "mod"}), UnorderedElementsAre("model", "models"));
    EXPECT_THAT(bash({"heddle", "--ver"}), UnorderedElementsAre("--version"));
    EXPECT_THAT(bash({"heddle", "run", "wo"}), UnorderedElementsAre("words.heddle"));
    EXPECT_THAT(bash({"heddle", "run", "--budg"}), UnorderedElementsAre("--budget-usd"));
    EXPECT_THAT(bash({"heddle", "models", ""}), IsEmpty());
    EXPECT_THAT(bash({"heddle", "models", "--config", "wo"}), UnorderedElementsAre("words.heddle"));
    EXPECT_THAT(bash({"heddle", "models", "--ping", "wo"}), IsEmpty());
    EXPECT_THAT(bash({"heddle", "tasks", "li"}), UnorderedElementsAre("list"));
    EXPECT_THAT(bash({"heddle", "help", "ru"}), UnorderedElementsAre("run", "runs"));
    EXPECT_THAT(bash({"heddle", "help", "model", ""}), UnorderedElementsAre("serve"));
    EXPECT_THAT(bash({"heddle", "help", "run", ""}), IsEmpty());
    EXPECT_THAT(bash({"heddle", "help", "--m"}), UnorderedElementsAre("--man"));
    EXPECT_THAT(bash({"heddle", "completion", ""}), UnorderedElementsAre("bash", "zsh", "fish"));
}

TEST_F(completion, of_arguments_works_in_zsh_and_fish) {
    if (!find_program("zsh").empty()) {
        EXPECT_THAT(zsh({"heddle", "help", ""}), Contains(::testing::StartsWith("run:")));
        EXPECT_THAT(zsh({"heddle", "help", "model", ""}),
                    UnorderedElementsAre(::testing::StartsWith("serve:")));
        EXPECT_THAT(zsh({"heddle", "completion", ""}), Contains("fish"));
        EXPECT_THAT(zsh({"heddle", "completion", ""}), Not(Contains("FILES")));
        EXPECT_THAT(zsh({"heddle", "run", ""}), Contains("FILES"));
        EXPECT_THAT(zsh({"heddle", "models", ""}), Not(Contains("FILES")));
        EXPECT_THAT(zsh({"heddle", "models", "--config", ""}), Contains("FILES"));
    }
    if (!find_program("fish").empty()) {
        scratch.file("words.heddle", "");
        EXPECT_THAT(fish("heddle help "), Contains("run"));
        EXPECT_THAT(fish("heddle help model "), UnorderedElementsAre("serve"));
        EXPECT_THAT(fish("heddle completion "), UnorderedElementsAre("bash", "zsh", "fish"));
        EXPECT_THAT(fish("heddle run wo"), UnorderedElementsAre("words.heddle"));
        EXPECT_THAT(fish("heddle models wo"), IsEmpty());
    }
    if (find_program("zsh").empty() && find_program("fish").empty()) {
        GTEST_SKIP() << "there is neither zsh nor fish";
    }
}

} // namespace
} // namespace heddle::cli_test
