// Runs that other versions of heddle have begun. tests/data/old_runs holds real ones: of four rows,
// a and d are done, b failed at its judgement, and the process was killed during that of c.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace heddle::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class old_runs : public batch_fixture, public testing::WithParamInterface<const char*> {
protected:
    /// Puts a run into the scratch directory as if it had been begun there.
    void take(const std::string& name) {
        fs::copy(fs::path(heddle::test_paths::data_folder()) / "old_runs" / name, scratch.path(),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        replace("out.jsonl.run/run.json", "@DIRECTORY@", scratch.path());
    }
    void replace(const std::string& file, const std::string& from, const std::string& to) {
        std::string text = scratch.text_of(file);
        ASSERT_NE(text.find(from), std::string::npos) << file << ": " << text;
        for (auto at = text.find(from); at != std::string::npos;
             at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
        scratch.file(file, text);
    }
    /// The command that began the run, for a service at another address.
    [[nodiscard]] child_result continued(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o", "--base-url", model.url(),
                                     "--json"};
        all.insert(all.end(), more.begin(), more.end());
        return batch(all);
    }
    [[nodiscard]] static boost::json::object summary_of(const child_result& ended) {
        return boost::json::parse(ended.out).as_object();
    }
    /// SQLite's user_version is the number of the layout: four bytes of the header.
    static constexpr int place_of_layout = 63; ///< the lowest of them
    [[nodiscard]] int layout() const {
        return scratch.text_of("out.jsonl.run/run.db").at(place_of_layout);
    }
    void set_layout(char number) const {
        std::fstream file(path("out.jsonl.run/run.db"),
                          std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(place_of_layout);
        file.put(number);
    }

    model_thread model{R"rules({"rules": [
        {"match": "judge draft two", "text": "x", "error": {"status": 400, "message": "no"}},
        {"match": "judge", "text": "good"},
        {"match": "^draft (\\w+)", "template": "draft {{1}} made"}]})rules"};
};

// What a digest of the program covers has grown since, so all rows run again.
TEST_P(old_runs, go_on_with_the_responses_that_they_had) {
    take(GetParam());
    EXPECT_EQ(layout(), 1);
    const auto ended = continued();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(model.counters().requests, 2U) << "the judgements of b and c";
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}, {"c", 1}, {"d", 1}}));
    EXPECT_EQ(ids_in("out.jsonl.failed.jsonl"), (std::map<std::string, int>{{"b", 1}}));
    for (const auto& line : lines_of("out.jsonl")) EXPECT_EQ(line.at("value").as_string(), "good");
    const auto summary = summary_of(ended);
    EXPECT_EQ(summary.at("spent").at("requests").to_number<int>(),
              9 + summary.at("maybe_paid").to_number<int>());
    EXPECT_EQ(layout(), 6) << "an earlier heddle must refuse it from now on";
}

TEST_P(old_runs, keep_after_an_edit_what_was_paid_for) {
    take(GetParam());
    replace("w.heddle", "judge {{q}}", "judge well {{q}}");
    const auto ended = continued();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 4U) << "a judgement of each row";
    expect_each_row_once(4);
    const auto summary = summary_of(ended);
    EXPECT_EQ(summary.at("spent").at("requests").to_number<int>(),
              11 + summary.at("maybe_paid").to_number<int>());
}

TEST_P(old_runs, run_failed_rows_again) {
    take(GetParam());
    EXPECT_EQ(continued({"--retry-failed"}).code, 4) << "c waits for a command without it";
    EXPECT_EQ(model.counters().requests, 1U) << "the judgement of b";
}

INSTANTIATE_TEST_SUITE_P(layouts, old_runs, testing::Values("layout_1", "layout_1_with_notes"),
                         [](const auto& named) { return std::string(named.param); });

class foreign_runs : public old_runs {
protected:
    /// Nothing is asked, and no file of the run changes.
    void expect_refused(const std::string& message) {
        const std::string before = scratch.text_of("out.jsonl.run/run.db");
        for (const auto& ended :
             {continued(), continued({"--plan"}),
              run_heddle({"runs", "export", path("out.jsonl"), "--out", "-"})}) {
            EXPECT_EQ(ended.code, 2) << ended.err;
            EXPECT_THAT(ended.err, HasSubstr(message));
            EXPECT_THAT(ended.err, AnyOf(HasSubstr("hint: "), HasSubstr("\"hint\":")));
        }
        EXPECT_EQ(model.counters().requests, 0U);
        EXPECT_EQ(scratch.text_of("out.jsonl.run/run.db"), before);
        EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}, {"d", 1}}));
    }
};

TEST_F(foreign_runs, of_a_later_layout_are_refused) {
    take("layout_1_with_notes");
    set_layout(7);
    expect_refused("newer version of heddle (layout 7)");
}

TEST_F(foreign_runs, of_a_layout_before_all_others_are_refused) {
    take("layout_1_with_notes");
    set_layout(0);
    expect_refused("older version of heddle (layout 0)");
}

TEST_F(foreign_runs, with_a_later_description_are_refused) {
    take("layout_1_with_notes");
    replace("out.jsonl.run/run.json", "\"version\":1", "\"version\":2");
    expect_refused("is of version 2");
}

} // namespace
} // namespace heddle::cli_test
