// What rows have taken, in which order they have ended, and which of them have requests under way.
#include "run_store_fixture.hpp"

#include "store/sqlite_database.hpp"

namespace heddle::store {
namespace {

using ports::row_status;

class run_store_ends : public run_store_fixture {
protected:
    void begin(run_store& store, std::uint64_t row) {
        ASSERT_TRUE(store.begin_row(row_of(row), "id", "{}"));
    }
    void end_with(run_store& store, std::uint64_t row, row_status status,
                  const ports::row_work& work) {
        ports::row_end ended;
        ended.row = row;
        ended.status = status;
        ended.attempts = work.attempts;
        ended.duration_ms = work.duration_ms;
        ASSERT_TRUE(loop.run(store.end_row(ended, loop.context())));
    }
    [[nodiscard]] ports::row_work work_of(run_store& store, std::uint64_t row) {
        return loop.run(store.work_of(row, loop.context())).value();
    }
    [[nodiscard]] std::vector<std::uint64_t> last(run_store& store, std::size_t count) {
        std::vector<std::uint64_t> rows;
        for (const end_place& each : loop.run(store.last_ends(count, loop.context())).value())
            rows.push_back(each.row);
        return rows;
    }
    [[nodiscard]] std::vector<end_place> after(run_store& store, std::uint64_t number) {
        return loop.run(store.ends_after(number, 100, loop.context())).value();
    }
    [[nodiscard]] std::vector<std::uint64_t> open_rows(run_store& store) {
        std::vector<std::uint64_t> rows;
        for (const row_records& each :
             loop.run(store.rows_with_open_requests(0, 100, loop.context())).value())
            rows.push_back(each.row);
        return rows;
    }
    static ports::step_record of_step(ports::step_kind kind, std::uint64_t path) {
        ports::step_record record = record_of(path, "the body");
        record.kind = kind;
        return record;
    }
};

TEST_F(run_store_ends, are_in_runs_that_one_process_holds) {
    { const auto store = open(); }
    auto hold = hold_run(folder);
    ASSERT_TRUE(hold);
    EXPECT_TRUE(is_run_open(folder));
    EXPECT_FALSE(hold_run(folder));
    hold->reset();
    EXPECT_FALSE(is_run_open(folder));
    const auto store = open(run_opening::resume);
    EXPECT_FALSE(hold_run(folder));
}

TEST_F(run_store_ends, keep_what_the_row_has_taken_before) {
    {
        const auto store = open();
        for (const std::uint64_t row : {1, 2, 3, 4}) begin(*store, row);
        end_with(*store, 1, row_status::failed, {3, 4000});
        end_with(*store, 2, row_status::done, {1, 700});
        ASSERT_TRUE(store->retry_row(1));
        EXPECT_EQ(work_of(*store, 1).attempts, 3U) << "as soon as it goes on";
        ASSERT_TRUE(store->revise_row(2, {}));
        store->note_work(3, {2, 100}); // and after that a process has recorded and was killed
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(loop.run(store->flush(loop.context())));
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(work_of(*store, 1).attempts, 3U);
    EXPECT_EQ(work_of(*store, 1).duration_ms, 4000);
    EXPECT_EQ(work_of(*store, 2).attempts, 1U);
    EXPECT_EQ(work_of(*store, 2).duration_ms, 700);
    EXPECT_EQ(work_of(*store, 3).attempts, 2U);
    EXPECT_EQ(work_of(*store, 3).duration_ms, 500) << "until its last record";
    EXPECT_EQ(work_of(*store, 4).attempts, 0U);
    EXPECT_EQ(work_of(*store, 4).duration_ms, 0);
    ASSERT_TRUE(store->forget_rows({1}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(work_of(*store, 1).attempts, 0U);
}

TEST_F(run_store_ends, add_the_clocks_of_earlier_versions_of_the_program) {
    {
        const auto store = open();
        begin(*store, 3);
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(store->revise_row(3, {}));
        store->note_work(3, {1, 500});
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(loop.run(store->flush(loop.context())));
        EXPECT_EQ(work_of(*store, 3).attempts, 1U);
        EXPECT_EQ(work_of(*store, 3).duration_ms, 1000);
        ASSERT_TRUE(store->revise_row(3, {}));
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(loop.run(store->flush(loop.context())));
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(work_of(*store, 3).duration_ms, 1500);
}

// Records that an edit leaves as they are counted once more with each edit.
TEST_F(run_store_ends, count_each_clock_once) {
    const auto store = open();
    begin(*store, 3);
    ports::step_record sent = record_of(1);
    sent.kind = ports::step_kind::sent;
    for (int edit = 1; edit <= 3; ++edit) {
        ASSERT_TRUE(append(*store, 3, sent));
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(store->revise_row(3, {}));
        ASSERT_TRUE(loop.run(store->flush(loop.context())));
        EXPECT_EQ(work_of(*store, 3).duration_ms, 500 * edit);
    }
}

TEST_F(run_store_ends, are_in_the_order_in_which_they_came) {
    std::uint64_t seen = 0;
    {
        const auto store = open();
        for (const std::uint64_t row : {1, 2, 3}) begin(*store, row);
        for (const std::uint64_t row : {3, 1, 2})
            end_with(*store, row, row_status::failed, {1, 10});
        EXPECT_EQ(last(*store, 2), (std::vector<std::uint64_t>{1, 2}));
        EXPECT_EQ(last(*store, 10), (std::vector<std::uint64_t>{3, 1, 2}));
        seen = after(*store, 0).back().number;
        EXPECT_TRUE(after(*store, seen).empty());
        ASSERT_TRUE(store->retry_row(2));
    }
    const auto store = open(run_opening::resume);
    EXPECT_TRUE(after(*store, seen).empty());
    end_with(*store, 2, row_status::failed, {2, 20}); // as before
    const auto again = after(*store, seen);
    ASSERT_EQ(again.size(), 1U) << "the number of the end that was dropped is not used again";
    EXPECT_EQ(again.front().row, 2U);
    EXPECT_EQ(last(*store, 10), (std::vector<std::uint64_t>{3, 1, 2}));
}

/// A journal of a version that did not number them.
TEST_F(run_store_ends, without_numbers_are_in_the_order_of_their_rows) {
    {
        const auto store = open();
        for (const std::uint64_t row : {1, 2, 3}) begin(*store, row);
        for (const std::uint64_t row : {3, 1}) end_with(*store, row, row_status::done, {1, 10});
    }
    {
        auto database = sqlite_database::open(folder + "/run.db");
        ASSERT_TRUE(database);
        ASSERT_TRUE(
            database->run("DROP INDEX ends_in_order; ALTER TABLE ends DROP COLUMN ended;"
                          "DROP TABLE work; DELETE FROM meta WHERE name = 'ended'"));
    }
    EXPECT_EQ(last(*open(run_opening::read), 10), (std::vector<std::uint64_t>{1, 3}));
    const auto store = open(run_opening::resume);
    EXPECT_EQ(last(*store, 10), (std::vector<std::uint64_t>{1, 3}));
    end_with(*store, 2, row_status::done, {1, 10});
    EXPECT_EQ(last(*store, 10), (std::vector<std::uint64_t>{1, 3, 2}));
    EXPECT_EQ(after(*store, 0).size(), 1U);
    ASSERT_TRUE(store->revise_row(3, {}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(work_of(*store, 3).attempts, 1U);
}

TEST_F(run_store_ends, are_in_the_output_as_is_said_at_once) {
    {
        const auto store = open();
        for (const std::uint64_t row : {1, 2, 3}) {
            begin(*store, row);
            end_with(*store, row, row_status::done, {1, 10});
        }
        ASSERT_TRUE(store->note_emitted({1, 2}, 55));
        ASSERT_TRUE(loop.run(store->keep_output_of({2}, loop.context())));
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(store->emitted_size(), 55U);
    std::vector<std::uint64_t> emitted;
    for (const ports::known_row& each : loop.run(store->known_rows(loop.context())).value())
        if (each.emitted) emitted.push_back(each.row);
    EXPECT_EQ(emitted, (std::vector<std::uint64_t>{2}));
}

TEST_F(run_store_ends, leave_out_rows_with_requests_that_may_have_been_paid_for) {
    const auto store = open();
    for (std::uint64_t row = 0; row < 6; ++row) begin(*store, row);
    ASSERT_TRUE(append(*store, 1, of_step(ports::step_kind::sent, 1)));
    ASSERT_TRUE(append(*store, 2, of_step(ports::step_kind::sent, 1)));
    ASSERT_TRUE(append(*store, 2, of_step(ports::step_kind::answer, 1)));
    ASSERT_TRUE(append(*store, 3, of_step(ports::step_kind::answer, 1)));
    ASSERT_TRUE(append(*store, 3, of_step(ports::step_kind::sent, 1))); // again
    ASSERT_TRUE(append(*store, 3, of_step(ports::step_kind::answer, 2)));
    ASSERT_TRUE(append(*store, 4, of_step(ports::step_kind::request, 1)));
    ASSERT_TRUE(append(*store, 5, of_step(ports::step_kind::sent, 1)));
    ASSERT_TRUE(end(*store, 5));
    EXPECT_EQ(open_rows(*store), (std::vector<std::uint64_t>{1, 3}));
    const auto rows = loop.run(store->rows_with_open_requests(2, 100, loop.context())).value();
    ASSERT_EQ(rows.size(), 1U);
    ASSERT_EQ(rows[0].records.size(), 3U);
    EXPECT_EQ(rows[0].records[0].body, "");
    EXPECT_EQ(rows[0].records[1].body, "the body");
    EXPECT_EQ(rows[0].records[1].number, 1U);
    EXPECT_EQ(loop.run(store->begun_rows_with("ask", 0, 10, loop.context())).value(),
              (std::vector<std::uint64_t>{4}))
        << "only the responses of requests count";
}

// All of the rows were read with their texts, and their errors one by one.
TEST_F(run_store_ends, of_failures_are_read_with_their_errors_a_few_at_a_time) {
    const auto store = open();
    const std::string large(std::size_t{5} << 20, 'x');
    for (std::uint64_t row = 1; row <= 4; ++row) {
        ASSERT_TRUE(store->begin_row(row_of(row), "id " + std::to_string(row), "{}"));
        ports::row_end ended;
        ended.row = row;
        ended.status = row == 2 ? row_status::done : row_status::failed;
        ended.error_json = row == 4 ? "\"no\"" : "\"" + large + "\"";
        ASSERT_TRUE(loop.run(store->end_row(ended, loop.context())));
    }
    const auto failures = [&](std::uint64_t first, row_status status) {
        return loop.run(store->failures(first, 100, status, loop.context())).value();
    };
    const auto all = failures(0, row_status::failed);
    ASSERT_EQ(all.size(), 2U) << "no more than 8 MB, but for the last one";
    EXPECT_EQ(all[0].known.row, 1U);
    EXPECT_EQ(all[1].known.row, 3U);
    EXPECT_EQ(all[1].id, "id 3");
    const auto rest = failures(4, row_status::failed);
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].error_json, "\"no\"");
    EXPECT_TRUE(failures(0, row_status::rejected).empty());
}

} // namespace
} // namespace heddle::store
