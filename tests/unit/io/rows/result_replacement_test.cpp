#include "rows_fixture.hpp"

#include "store/sqlite_database.hpp"

#include <heddle/rows/result_replacement.hpp>
#include <heddle/rows/result_writer.hpp>

#include <filesystem>

namespace heddle::rows {
namespace {

using store::sqlite_database;

class results_that_are_replaced : public rows_fixture {
protected:
    [[nodiscard]] result_output output(const std::string& name) const {
        result_output there;
        there.target.file = path(name);
        return there;
    }
    /// Result: its size.
    std::uint64_t write(const std::string& name, int rows, const std::string& value) const {
        auto to = result_writer::open(output(name)).value();
        for (int i = 1; i <= rows; ++i) {
            row_result one;
            one.id = "r" + std::to_string(i);
            one.end.row = static_cast<std::uint64_t>(i);
            one.end.value_json = value;
            EXPECT_TRUE(to->write({&one, 1}));
        }
        EXPECT_TRUE(to->flush());
        return to->size();
    }
    [[nodiscard]] std::int64_t number(const std::string& name, std::string_view question) const {
        auto database = sqlite_database::open(path(name)).value();
        auto asked = database.prepare(question).value();
        EXPECT_TRUE(asked.step().value());
        return asked.number(0);
    }
};

TEST_F(results_that_are_replaced, leave_the_other_tables_of_a_database) {
    write("a.db", 3, "1");
    sqlite_database::open(path("a.db"))
        .value()
        .run(
            "CREATE TABLE notes (t); INSERT INTO notes VALUES (7);"
            "CREATE VIEW seen AS SELECT count(*) AS n FROM results")
        .value();
    const auto size = write("a.new.db", 5, "2");
    EXPECT_FALSE(has_results(output("a.db"), size));
    EXPECT_TRUE(has_results(output("a.new.db"), size));
    ASSERT_TRUE(replace_results(output("a.db"), path("a.new.db")));
    EXPECT_TRUE(has_results(output("a.db"), size));
    EXPECT_EQ(number("a.db", "SELECT n FROM seen"), 5);
    EXPECT_EQ(number("a.db", "SELECT sum(value) FROM results"), 10);
    EXPECT_EQ(number("a.db", "SELECT t FROM notes"), 7);
    EXPECT_FALSE(std::filesystem::exists(path("a.new.db")));
}

/// A process that was killed in a transaction leaves a journal of the earlier file.
TEST_F(results_that_are_replaced, are_no_prey_of_an_earlier_journal) {
    write("a.db", 3, "1");
    {
        auto open = sqlite_database::open(path("a.db")).value();
        ASSERT_TRUE(
            open.run("PRAGMA cache_size = 1; BEGIN IMMEDIATE; CREATE TABLE big (t);"
                     "UPDATE results SET value = '9';"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                     "WHERE i < 200) INSERT INTO big SELECT randomblob(4000) FROM n"));
        for (const char* end : {"", "-journal"})
            std::filesystem::copy_file(path("a.db") + end, path("b.db") + end);
    }
    ASSERT_NE(std::filesystem::file_size(path("b.db-journal")), 0U);
    const auto size = write("b.new.db", 5, "2");
    ASSERT_TRUE(replace_results(output("b.db"), path("b.new.db")));
    EXPECT_FALSE(std::filesystem::exists(path("b.db-journal")));
    EXPECT_EQ(number("b.db", "SELECT sum(value) FROM results"), 10);
    EXPECT_EQ(number("b.db", "SELECT count(*) FROM sqlite_master WHERE name = 'big'"), 0);
    auto database = sqlite_database::open(path("b.db")).value();
    auto check = database.prepare("PRAGMA integrity_check").value();
    ASSERT_TRUE(check.step().value());
    EXPECT_EQ(check.bytes(0), "ok");
    EXPECT_TRUE(has_results(output("b.db"), size));
}

TEST_F(results_that_are_replaced, are_no_database_of_somebody_else) {
    sqlite_database::open(path("a.db")).value().run("CREATE TABLE mine (t)").value();
    write("a.new.db", 2, "1");
    EXPECT_FALSE(replace_results(output("a.db"), path("a.new.db")));
    EXPECT_EQ(number("a.new.db", "SELECT count(*) FROM results"), 2);
    EXPECT_EQ(number("a.db", "SELECT count(*) FROM mine"), 0);
}

TEST_F(results_that_are_replaced, are_known_by_their_size) {
    const auto size = write("a.jsonl", 3, "1");
    EXPECT_TRUE(has_results(output("a.jsonl"), size));
    EXPECT_FALSE(has_results(output("a.jsonl"), size - 1));
    EXPECT_FALSE(has_results(output("b.jsonl"), 0));
}

} // namespace
} // namespace heddle::rows
