// `heddle index`, and get_context in a workflow.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <filesystem>

namespace heddle::cli_test {
namespace {

namespace json = boost::json;

class index_command : public testing::Test {
protected:
    index_command() {
        scratch.file("tree/pool.cpp", "// Keeps connections.\n");
        scratch.file("tree/limiter.cpp", "// Waits for tokens.\n");
        scratch.file("tree/.gitignore", "*.log\n");
        scratch.file("tree/out.log", "connections tokens\n");
        scratch.file("elsewhere/notes.md", "# Connections\n");
    }
    /// Runs in the scratch directory.
    [[nodiscard]] child_result heddle(const std::vector<std::string>& arguments) const {
        child_options options;
        options.directory = scratch.path();
        return run_heddle(arguments, options);
    }
    [[nodiscard]] std::string real(const std::string& name) const {
        return std::filesystem::canonical(scratch.path() + "/" + name).string();
    }
    scratch_directory scratch;
};

TEST_F(index_command, counts_and_finds) {
    auto ended = heddle({"index", "tree"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "indexed tree: 3 files\n");
    ended = heddle({"index", "tree", "--query", "connections"});
    EXPECT_NE(ended.out.find("pool.cpp"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("out.log"), std::string::npos) << ended.out;
    ended = heddle({"index", "tree", "--query", "nothing-of-that"});
    EXPECT_EQ(ended.out, "none of 3 indexed files matches\n");
    ended = heddle({"index", "tree", "--include", "pool.*", "--json"});
    EXPECT_EQ(json::parse(ended.out).at("added"), json::value(1));
}

TEST_F(index_command, of_a_file_reports_that_it_is_not_a_directory) {
    const auto ended = heddle({"index", "tree/pool.cpp"});
    EXPECT_NE(ended.code, 0);
    EXPECT_NE(ended.err.find("pool.cpp\": it is not a directory"), std::string::npos) << ended.err;
    const auto missing = heddle({"index", "none"});
    EXPECT_NE(missing.err.find("there is no directory \"none\""), std::string::npos) << missing.err;
}

TEST_F(index_command, answers_in_json) {
    const auto ended = heddle({"index", "tree", "--query", "tokens", "--metadata", "--json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const json::value response = json::parse(ended.out);
    ASSERT_EQ(response.at("matches").as_array().size(), 1U);
    const json::value& match = response.at("matches").at(0);
    EXPECT_EQ(match.at("path").as_string().c_str(), real("tree/limiter.cpp"));
    EXPECT_EQ(match.at("metadata").as_string(), "limiter.cpp (text/x-c++): Waits for tokens.");
    EXPECT_GT(match.at("relevance_score").as_double(), 0);
}

TEST_F(index_command, keeps_its_index) {
    const std::vector<std::string> command{"index", "tree", "--index-file", "kept", "--json"};
    EXPECT_EQ(json::parse(heddle(command).out).at("added"), json::value(3));
    EXPECT_EQ(json::parse(heddle(command).out).at("unchanged"), json::value(3));
    scratch.file("kept", "heddle index\nrubbish");
    auto ended = heddle(command);
    EXPECT_EQ(json::parse(ended.out).at("added"), json::value(3));
    EXPECT_NE(ended.err.find("a new one is created"), std::string::npos) << ended.err;
    EXPECT_EQ(json::parse(heddle(command).out).at("unchanged"), json::value(3));
}

TEST_F(index_command, keeps_nothing_of_another_directory) {
    const std::vector<std::string> command{"index",   "tree",        "--index-file", "kept",
                                           "--query", "connections", "--json"};
    const auto count = [](const child_result& ended) {
        return json::parse(ended.out).at("matches").as_array().size();
    };
    EXPECT_EQ(count(heddle(command)), 1U);
    std::vector<std::string> other = command;
    other[1] = "elsewhere";
    EXPECT_EQ(count(heddle(other)), 1U);
    // A workflow finds what it would find without the file.
    EXPECT_EQ(count(heddle(command)), 1U);
    const auto ended = heddle({"eval", "(get_context (query \"connections\"))", "-w", "elsewhere",
                               "--index-file", "kept"});
    EXPECT_EQ(ended.out, "(\"" + real("elsewhere/notes.md") + "\")\n") << ended.err;
}

TEST_F(index_command, reports_that_the_index_file_is_a_link) {
    ASSERT_EQ(heddle({"index", "tree", "--index-file", "kept"}).code, 0);
    std::filesystem::create_symlink("kept", scratch.path() + "/link");
    std::filesystem::create_symlink("none", scratch.path() + "/dangling");
    for (const char* const name : {"link", "dangling"}) {
        const auto ended = heddle({"index", "tree", "--index-file", name});
        EXPECT_EQ(ended.code, 1);
        EXPECT_NE(ended.err.find("\" is a symbolic link"), std::string::npos) << ended.err;
        EXPECT_NE(ended.err.find("hint: name the file itself"), std::string::npos) << ended.err;
    }
    const auto ended = heddle(
        {"eval", "(get_context (query \"connections\"))", "-w", "tree", "--index-file", "link"});
    EXPECT_NE(ended.err.find("link\" is a symbolic link"), std::string::npos) << ended.err;
}

TEST_F(index_command, never_replaces_what_is_no_index) {
    const std::string precious = scratch.file("thesis.txt", std::string(100'000, 'x'));
    const auto ended = heddle({"index", "tree", "--index-file", "thesis.txt"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("thesis.txt\" exists and is not an index of heddle"),
              std::string::npos)
        << ended.err;
    EXPECT_NE(ended.err.find("hint: name another file"), std::string::npos) << ended.err;
    EXPECT_EQ(std::filesystem::file_size(precious), 100'000U);
}

TEST_F(index_command, names_what_is_wrong) {
    auto ended = heddle({"index", "absent"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("absent"), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "");
    ended = heddle({"index", "tree", "--limit", "0"});
    EXPECT_EQ(ended.code, 2);
}

TEST_F(index_command, get_context_looks_through_the_workspace) {
    const auto ended = heddle({"eval", "(get_context (query \"connections\"))", "-w", "tree"});
    EXPECT_EQ(ended.out, "(\"" + real("tree/pool.cpp") + "\")\n") << ended.err;
}

TEST_F(index_command, get_context_looks_through_what_index_names) {
    auto ended = heddle({"eval", "(length (get_context (query \"connections\")))", "-w", "tree",
                         "--index", "tree", "--index", "elsewhere"});
    EXPECT_EQ(ended.out, "2\n") << ended.err;
    ended = heddle({"eval", "(get_context (query \"connections\"))", "--index", "absent"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("--index: there is no directory \"absent\""), std::string::npos)
        << ended.err;
}

TEST_F(index_command, the_workspace_may_be_below_the_program) {
    scratch.file("part.heddle", "(define word \"connections\")");
    scratch.file("w.heddle", "(import \"part.heddle\") (length (get_context (query word)))");
    const auto ended = heddle({"run", "w.heddle", "--workspace", "elsewhere"});
    EXPECT_EQ(ended.out, "1\n") << ended.err;
}

TEST_F(index_command, what_get_context_finds_can_be_read) {
    const auto ended = heddle(
        {"eval", "(map read-file (get_context (query \"connections\")))", "-w", "tree", "-v"});
    EXPECT_EQ(ended.out, "(\"// Keeps connections.\\n\")\n") << ended.err;
    EXPECT_NE(ended.err.find("indexing "), std::string::npos) << ended.err;
}

TEST_F(index_command, folders_above_the_root_are_no_words) {
    scratch.file("billing/a.txt", "cats purr\n");
    scratch.file("billing/b.txt", "dogs bark\n");
    scratch.file("billing/fees/c.txt", "birds sing\n");
    EXPECT_EQ(heddle({"index", "billing", "--query", "billing"}).out,
              "none of 3 indexed files matches\n");
    const auto below = heddle({"index", "billing", "--query", "fees", "--json"});
    const json::value response = json::parse(below.out);
    const auto& matches = response.at("matches").as_array();
    ASSERT_EQ(matches.size(), 1U) << below.out;
    EXPECT_EQ(matches[0].at("path").as_string().c_str(), real("billing/fees/c.txt"));
    EXPECT_EQ(heddle({"eval", "(get_context (query \"explain billing\"))", "-w", "billing"}).out,
              "()\n");
}

TEST_F(index_command, a_model_that_fails_to_choose_leaves_the_usual_number) {
    for (int i = 0; i < 60; ++i) {
        scratch.file("many/f" + std::to_string(i) + ".txt", "loom and heddle\n");
    }
    scratch.file("fails.json", R"({"rules": [{"match": ".*", "error": {"status": 400}}]})");
    const auto ended = heddle({"eval", "(length (get_context (query \"loom\")))", "--index", "many",
                               "--match-with-model", "--model", "scripted:fails.json"});
    EXPECT_EQ(ended.out, "20\n") << ended.err;
}

} // namespace
} // namespace heddle::cli_test
