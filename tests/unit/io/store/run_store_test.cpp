#include "run_store_fixture.hpp"

#include "store/sqlite_database.hpp"

namespace heddle::store {
namespace {

using ports::row_status;
using ::testing::HasSubstr;

class run_store_test : public run_store_fixture {};

TEST_F(run_store_test, keeps_all_of_a_row_until_it_is_opened_again) {
    const std::string large(100'000, 'x');
    const std::string binary("\0\xff\1", 3);
    {
        const auto store = open(run_opening::create);
        ASSERT_TRUE(store->begin_row(row_of(3), "id-3", "{\"a\":1}"));
        ASSERT_TRUE(append(*store, 3, record_of(1, binary)));
        ports::step_record plain = record_of(2, large);
        plain.content = {};
        plain.kind = ports::step_kind::cut;
        ASSERT_TRUE(append(*store, 3, plain));
        ASSERT_TRUE(store->begin_row(row_of(1), "id-1", "{}"));
        ASSERT_TRUE(end(*store, 1));
        ASSERT_TRUE(store->set_manifest({{"main.heddle", "abc", large}}));
    }
    const auto store = open(run_opening::resume);
    const auto known = loop.run(store->known_rows(loop.context())).value();
    ASSERT_EQ(known.size(), 2U);
    EXPECT_EQ(known[0].row, 1U);
    EXPECT_EQ(known[0].status, row_status::done);
    EXPECT_EQ(known[1].row, 3U);
    EXPECT_EQ(known[1].status, row_status::begun);
    EXPECT_EQ(known[1].id, row_of(3).id);
    EXPECT_EQ(known[1].content, row_of(3).content);
    auto kept = records(*store, 3);
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept[0].body, binary);
    EXPECT_EQ(kept[0].path, record_of(1).path);
    EXPECT_EQ(kept[0].content, record_of(1).content);
    EXPECT_EQ(kept[0].at, 0.5);
    EXPECT_EQ(kept[0].name, "ask");
    EXPECT_EQ(kept[0].spent.cost_usd, 0.25);
    EXPECT_EQ(kept[1].body, large);
    EXPECT_EQ(kept[1].kind, ports::step_kind::cut);
    EXPECT_TRUE(kept[1].content.is_zero());
    // What follows comes behind.
    ASSERT_TRUE(append(*store, 3, record_of(9)));
    kept = records(*store, 3);
    ASSERT_EQ(kept.size(), 3U);
    EXPECT_EQ(kept[2].path, record_of(9).path);
    const auto sources = loop.run(store->manifest(loop.context())).value();
    ASSERT_EQ(sources.size(), 1U);
    EXPECT_EQ(sources[0].text, large);
    EXPECT_EQ(sources[0].digest, "abc");
    const auto row = loop.run(store->row(1, loop.context())).value();
    ASSERT_TRUE(row && row->ended);
    EXPECT_EQ(row->id, "id-1");
    EXPECT_EQ(row->ended->value_json, "{\"v\":1}");
    EXPECT_EQ(row->ended->duration_ms, 1234);
    EXPECT_TRUE(row->ended->maybe_paid);
    EXPECT_FALSE(*loop.run(store->row(2, loop.context())));
}

TEST_F(run_store_test, counts_rows_and_what_was_spent) {
    {
        const auto store = open();
        for (std::uint64_t row = 0; row < 5; ++row)
            ASSERT_TRUE(store->begin_row(row_of(row), "i", "{}"));
        for (std::uint64_t row = 0; row < 5; ++row)
            ASSERT_TRUE(append(*store, row, record_of(row)));
        ASSERT_TRUE(end(*store, 0));
        ASSERT_TRUE(end(*store, 1, row_status::failed));
        ASSERT_TRUE(end(*store, 9, row_status::rejected)); // never begun
        ASSERT_TRUE(store->restart_row(1));
        ASSERT_TRUE(append(*store, 1, record_of(0)));
        ASSERT_TRUE(loop.run(store->flush(loop.context())));
        EXPECT_EQ(records(*store, 1).size(), 1U);
        EXPECT_EQ(store->totals().spent.requests, 6U);
    }
    const auto store = open(run_opening::resume);
    const ports::run_totals totals = store->totals();
    EXPECT_EQ(totals.begun, 4U);
    EXPECT_EQ(totals.done, 1U);
    EXPECT_EQ(totals.failed, 0U);
    EXPECT_EQ(totals.rejected, 1U);
    EXPECT_EQ(totals.spent.requests, 6U);
    EXPECT_EQ(totals.spent.input_tokens, 60);
    EXPECT_DOUBLE_EQ(totals.spent.cost_usd, 1.5);
}

TEST_F(run_store_test, knows_what_is_not_in_the_output_yet) {
    {
        const auto store = open();
        for (std::uint64_t row = 0; row < 6; ++row) {
            ASSERT_TRUE(store->begin_row(row_of(row), "i", "{}"));
            if (row == 2) continue;
            ASSERT_TRUE(end(*store, row));
        }
        ASSERT_TRUE(store->note_emitted({0, 3}, 77));
        EXPECT_EQ(store->emitted_size(), 77U);
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(store->emitted_size(), 77U);
    const auto left = loop.run(store->ends_to_emit(0, 2, loop.context())).value();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].row, 1U);
    EXPECT_EQ(left[0].value_json, "{\"v\":1}");
    EXPECT_EQ(left[1].row, 4U);
    const auto rest = loop.run(store->ends_to_emit(5, 10, loop.context())).value();
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].row, 5U);
    ASSERT_TRUE(loop.run(store->forget_output(loop.context())));
    EXPECT_EQ(store->emitted_size(), 0U);
    EXPECT_EQ(loop.run(store->ends_to_emit(0, 10, loop.context())).value().size(), 5U);
}

TEST_F(run_store_test, finds_records_by_their_content) {
    const auto store = open();
    for (const std::uint64_t row : {4, 2}) {
        ASSERT_TRUE(append(*store, row, record_of(1, "one")));
        ASSERT_TRUE(append(*store, row, record_of(2, "two")));
    }
    ASSERT_TRUE(loop.run(store->index_contents(loop.context())));
    const auto found = loop.run(store->records_with({5, 2}, loop.context())).value();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].row, 2U);
    EXPECT_EQ(found[1].row, 4U);
    EXPECT_EQ(found[1].record.body, "two");
    EXPECT_TRUE(loop.run(store->records_with({5, 3}, loop.context())).value().empty());
}

/// A row whose program has changed keeps what was paid for, and nothing else.
TEST_F(run_store_test, keeps_responses_of_an_earlier_program) {
    const auto request = [](std::uint64_t path, std::uint64_t content, std::string body) {
        ports::step_record record;
        record.kind = ports::step_kind::request;
        record.path = {path, 1};
        record.content = {5, content};
        record.name = "model";
        record.body = std::move(body);
        return record;
    };
    using ports::step_kind;
    const auto kinds = [&](run_store& store) {
        std::vector<step_kind> all;
        for (const auto& each : records(store, 3)) all.push_back(each.kind);
        return all;
    };
    {
        const auto store = open();
        ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
        ASSERT_TRUE(append(*store, 3, request(1, 7, "one")));
        ASSERT_TRUE(append(*store, 3, request(1, 7, "two")));
        ASSERT_TRUE(append(*store, 3, record_of(1)));
        ASSERT_TRUE(append(*store, 3, request(2, 8, "of a step that did not end")));
        ASSERT_TRUE(end(*store, 3));
        ASSERT_TRUE(store->note_emitted({3}, 77));
        ASSERT_TRUE(loop.run(store->outdate_rows(ports::outdated_rows::all, loop.context())));
        EXPECT_EQ(store->emitted_size(), 0U);
        ASSERT_TRUE(loop.run(store->forget_output(loop.context()))); // the row stays outdated
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(store->phase(), output_phase::beside);
    EXPECT_EQ(store->emitted_size(), 0U);
    auto known = loop.run(store->known_rows(loop.context())).value();
    ASSERT_EQ(known.size(), 1U);
    EXPECT_TRUE(known[0].outdated);
    EXPECT_FALSE(known[0].emitted);
    EXPECT_TRUE(loop.run(store->ends_to_emit(0, 9, loop.context())).value().empty());

    const auto expected = ports::revised(records(*store, 3));
    ASSERT_TRUE(store->revise_row(3, {}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(kinds(*store), (std::vector<step_kind>{step_kind::spare, step_kind::spare,
                                                     step_kind::past, step_kind::due}));
    known = loop.run(store->known_rows(loop.context())).value();
    EXPECT_FALSE(known[0].outdated);
    EXPECT_EQ(known[0].status, row_status::begun);
    const auto revised = records(*store, 3);
    EXPECT_EQ(revised[2].body, "");
    EXPECT_EQ(revised[2].spent.requests, 1U);
    ASSERT_EQ(expected.size(), revised.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(expected[i].kind, revised[i].kind) << i;
        EXPECT_EQ(expected[i].path, revised[i].path) << i;
        EXPECT_EQ(expected[i].content, revised[i].content) << i;
        EXPECT_EQ(expected[i].body, revised[i].body) << i;
    }

    store->use_spare(3, {0, {9, 9}, 2.5});
    store->use_spare(3, {3, {9, 8}, 3});
    ASSERT_TRUE(store->restart_row(3));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(kinds(*store), (std::vector<step_kind>{step_kind::spare, step_kind::past}));
    EXPECT_EQ(records(*store, 3)[0].body, "two");
    EXPECT_EQ(store->totals().spent.requests, 1U);
}

/// What a request has counted is not counted again by the step that uses its response, and what was
/// lost stays counted.
TEST_F(run_store_test, keeps_what_requests_of_an_earlier_program_have_counted) {
    const auto of_kind = [](ports::step_kind kind, std::uint64_t name) {
        ports::step_record record = record_of(name);
        record.kind = kind;
        return record;
    };
    using ports::step_kind;
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
    ASSERT_TRUE(append(*store, 3, of_kind(step_kind::sent, 1)));
    ASSERT_TRUE(append(*store, 3, of_kind(step_kind::request, 1))); // its step has not ended
    ASSERT_TRUE(append(*store, 3, of_kind(step_kind::sent, 2)));
    ASSERT_TRUE(append(*store, 3, of_kind(step_kind::lost, 2)));
    ASSERT_TRUE(append(*store, 3, of_kind(step_kind::failed, 3)));
    const double spent = store->totals().spent.cost_usd;
    const auto expected = ports::revised(records(*store, 3));
    ASSERT_TRUE(store->revise_row(3, {}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    const auto revised = records(*store, 3);
    ASSERT_EQ(revised.size(), 2U);
    EXPECT_EQ(revised[0].kind, step_kind::spare);
    EXPECT_EQ(revised[0].spent.cost_usd, record_of(1).spent.cost_usd);
    EXPECT_EQ(revised[1].kind, step_kind::past);
    EXPECT_EQ(revised[1].content, record_of(2).content);
    EXPECT_EQ(revised[1].spent.cost_usd, record_of(2).spent.cost_usd);
    ASSERT_EQ(expected.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(expected[i].kind, revised[i].kind) << i;
        EXPECT_EQ(expected[i].content, revised[i].content) << i;
        EXPECT_EQ(expected[i].spent.cost_usd, revised[i].spent.cost_usd) << i;
    }
    EXPECT_EQ(store->totals().spent.cost_usd, spent);
    EXPECT_EQ(store->totals().maybe_paid, 1U);
}

TEST_F(run_store_test, keeps_the_part_of_a_response_until_another_program_uses_it) {
    const auto store = open();
    ASSERT_TRUE(store->begin_row({3, {1, 1}, {2, 2}}, "id", "{}"));
    for (const std::string& body : {std::string("brief"), std::string(100'000, 'x')}) {
        ports::step_record record = record_of(1);
        record.kind = ports::step_kind::request;
        record.part = {7, 8};
        record.body = body;
        ASSERT_TRUE(append(*store, 3, record));
    }
    auto kept = records(*store, 3);
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept[0].part, (ports::digest128{7, 8}));
    EXPECT_EQ(kept[1].part, (ports::digest128{7, 8}));
    EXPECT_EQ(kept[0].body, "brief");
    EXPECT_EQ(kept[1].body, std::string(100'000, 'x'));
    ASSERT_TRUE(store->revise_row(3, {}));
    store->use_spare(3, {1, {9, 9}, 2.5});
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    kept = records(*store, 3);
    EXPECT_TRUE(kept.back().part.is_zero());
    EXPECT_EQ(kept.back().body, std::string(100'000, 'x'));
}

TEST_F(run_store_test, hands_a_spare_to_the_step_that_uses_it) {
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
    ports::step_record part = record_of(7, "said");
    part.kind = ports::step_kind::request;
    part.spent = {};
    ASSERT_TRUE(append(*store, 3, part));
    ASSERT_TRUE(append(*store, 3, record_of(7)));
    ASSERT_TRUE(store->revise_row(3, {}));
    store->use_spare(3, {0, {9, 9}, 2.5});
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    const auto all = records(*store, 3);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1].kind, ports::step_kind::reused) << "the last record of the row";
    EXPECT_EQ(all[1].path, (ports::digest128{9, 9}));
    EXPECT_EQ(all[1].at, 2.5);
    EXPECT_EQ(all[1].body, "said");
    // A further edit makes it a spare again.
    ASSERT_TRUE(store->revise_row(3, {}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(records(*store, 3)[1].kind, ports::step_kind::spare);
}

/// Responses that a retry has dropped leave what they cost, and are not spares.
TEST_F(run_store_test, keeps_no_response_that_was_discarded) {
    using ports::step_kind;
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
    for (const char* body : {"bad", "good"}) {
        ports::step_record part = record_of(7, body);
        part.kind = step_kind::request;
        ASSERT_TRUE(append(*store, 3, part));
    }
    const auto before = records(*store, 3);
    const auto expected = ports::revised(before, {before[0].number});
    ASSERT_TRUE(store->revise_row(3, {before[0].number}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    const auto all = records(*store, 3);
    ASSERT_EQ(all.size(), 2U);
    ASSERT_EQ(expected.size(), 2U);
    for (const auto& left : {all, expected}) {
        EXPECT_EQ(left[0].kind, step_kind::past);
        EXPECT_TRUE(left[0].content.is_zero());
        EXPECT_EQ(left[0].body, "");
        EXPECT_EQ(left[0].spent.requests, 1U);
        EXPECT_EQ(left[1].kind, step_kind::spare);
        EXPECT_EQ(left[1].body, "good");
    }
}

/// A retry drops what came before it, and not what its own steps have used.
TEST_F(run_store_test, puts_a_spare_last_that_a_step_uses) {
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
    ports::step_record part = record_of(7, "said");
    part.kind = ports::step_kind::request;
    ASSERT_TRUE(append(*store, 3, part));
    ASSERT_TRUE(store->revise_row(3, {}));
    ports::step_record failed;
    failed.kind = ports::step_kind::failed;
    ASSERT_TRUE(append(*store, 3, failed));
    store->use_spare(3, {0, {9, 9}, 2.5});
    ASSERT_TRUE(append(*store, 3, record_of(8)));
    const auto all = records(*store, 3);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].kind, ports::step_kind::failed);
    EXPECT_EQ(all[1].kind, ports::step_kind::reused);
    EXPECT_EQ(all[1].body, "said");
    EXPECT_EQ(all[2].path, record_of(8).path);
}

/// What a row costs is what its last version used, reused responses included.
TEST_F(run_store_test, samples_what_rows_use) {
    using ports::step_kind;
    const auto store = open();
    for (const std::uint64_t row : {1U, 2U}) {
        ASSERT_TRUE(store->begin_row(row_of(row), "i", "{}"));
        ports::step_record part = record_of(7, "said");
        part.kind = step_kind::request;
        ASSERT_TRUE(append(*store, row, part));
        ASSERT_TRUE(append(*store, row, part)); // of this version only
        ASSERT_TRUE(store->revise_row(row, {}));
        store->use_spare(row, {0, {9, 9}, 2.5});
        ASSERT_TRUE(end(*store, row));
    }
    ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}")); // it goes on
    ASSERT_TRUE(append(*store, 3, record_of(1)));
    const auto sample = loop.run(store->sample_rows(loop.context())).value();
    EXPECT_EQ(sample.rows, 2U);
    EXPECT_EQ(sample.spent.requests, 2U);
    EXPECT_EQ(sample.spent.cost_usd, 2 * record_of(1).spent.cost_usd);
}

/// Rows that ended with lost requests alone cost nothing in the next process: a budget had room.
TEST_F(run_store_test, samples_lost_requests_where_no_row_is_done) {
    using ports::step_kind;
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(1), "i", "{}"));
    ports::step_record lost = record_of(7);
    lost.kind = step_kind::lost;
    ASSERT_TRUE(append(*store, 1, lost));
    ASSERT_TRUE(end(*store, 1, ports::row_status::failed));
    auto sample = loop.run(store->sample_rows(loop.context())).value();
    EXPECT_EQ(sample.rows, 1U);
    EXPECT_EQ(sample.spent.cost_usd, lost.spent.cost_usd);
    ASSERT_TRUE(store->begin_row(row_of(2), "i", "{}"));
    ASSERT_TRUE(append(*store, 2, lost));
    ASSERT_TRUE(append(*store, 2, record_of(1)));
    ASSERT_TRUE(end(*store, 2));
    sample = loop.run(store->sample_rows(loop.context())).value();
    EXPECT_EQ(sample.spent.cost_usd, record_of(1).spent.cost_usd);
}

/// Runs of the layout before this one are taken over as they are.
TEST_F(run_store_test, goes_on_with_a_run_of_the_earlier_layout) {
    {
        const auto store = open();
        ASSERT_TRUE(store->begin_row(row_of(3), "i", "{}"));
        ASSERT_TRUE(append(*store, 3, record_of(1)));
    }
    {
        auto database = sqlite_database::open(folder + "/run.db").value();
        ASSERT_TRUE(
            database.run("DELETE FROM meta WHERE name = 'output_phase';"
                         "PRAGMA user_version = 1"));
    }
    { EXPECT_EQ(records(*open(run_opening::read), 3).size(), 1U); }
    {
        const auto store = open(run_opening::resume);
        EXPECT_EQ(store->phase(), output_phase::in_place);
        ASSERT_TRUE(append(*store, 3, record_of(2)));
        EXPECT_EQ(records(*store, 3).size(), 2U);
    }
    auto database = sqlite_database::open(folder + "/run.db").value();
    auto asked = database.prepare("PRAGMA user_version").value();
    ASSERT_TRUE(asked.step().value());
    EXPECT_EQ(asked.number(0), 6); // an earlier heddle refuses it from now on
}

TEST_F(run_store_test, is_read_while_it_is_written) {
    const auto store = open();
    ASSERT_TRUE(store->begin_row(row_of(1), "i", "{}"));
    ASSERT_TRUE(append(*store, 1, record_of(1)));
    const auto reader = open(run_opening::read);
    EXPECT_EQ(records(*reader, 1).size(), 1U);
    ASSERT_TRUE(append(*store, 1, record_of(2)));
    EXPECT_EQ(records(*reader, 1).size(), 2U);
    const auto listed = loop.run(reader->rows(0, 10, row_status::begun, loop.context())).value();
    EXPECT_EQ(listed.size(), 1U);
    EXPECT_TRUE(loop.run(reader->rows(0, 10, row_status::done, loop.context())).value().empty());
    EXPECT_FALSE(append(*reader, 1, record_of(3)));
    EXPECT_FALSE(reader->begin_row(row_of(2), "i", "{}"));
}

TEST_F(run_store_test, keeps_what_off_did_not_wait_for) {
    {
        auto chosen = options(run_opening::create, run_durability::off);
        chosen.max_queued = 10'000;
        const auto store = *try_open(chosen);
        for (std::uint64_t i = 0; i < 500; ++i)
            ASSERT_TRUE(append(*store, i % 7, record_of(i, std::string(200, 'b'))));
        store->note(0, record_of(500));
    }
    const auto store = open();
    std::size_t all = 0;
    for (std::uint64_t row = 0; row < 7; ++row) all += records(*store, row).size();
    EXPECT_EQ(all, 501U);
}

TEST_F(run_store_test, gathers_no_longer_than_a_commit_takes) {
    run_store_options patient = options();
    patient.group_time = std::chrono::minutes(5); // the test would run into the time limit of all
    const auto store = try_open(patient).value();
    ASSERT_TRUE(store->begin_row(row_of(1), "a", "{}"));
    for (std::uint64_t step = 0; step < 20; ++step) ASSERT_TRUE(append(*store, 1, record_of(step)));
    EXPECT_EQ(records(*store, 1).size(), 20U);
}

TEST_F(run_store_test, keeps_a_record_whose_wait_was_cancelled) {
    const auto store = open();
    coro::cancel_source cancel;
    loop.later([&] { cancel.request(cancel_reason::user); }, 1);
    const auto outcome = loop.run(store->append(1, record_of(1), loop.context(&cancel)));
    EXPECT_TRUE(outcome || outcome.error().is_cancelled());
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(records(*store, 1).size(), 1U);
}

TEST_F(run_store_test, forgets_rows_by_their_age) {
    {
        const auto store = open();
        for (std::uint64_t row = 1; row <= 4; ++row) {
            ASSERT_TRUE(store->begin_row(row_of(row), "id", "{}"));
            ASSERT_TRUE(append(*store, row, record_of(1)));
            if (row == 4) continue; // has no time
            ASSERT_TRUE(store->set_time(row, static_cast<std::int64_t>(100 * row)));
        }
        ASSERT_TRUE(end(*store, 1));
        ASSERT_TRUE(store->set_time(1, 250)); // the last one counts
    }
    const auto store = open();
    const auto before = [&](std::int64_t at, std::size_t count) {
        std::vector<std::uint64_t> rows;
        const auto found = loop.run(store->rows_before(at, count, loop.context())).value();
        for (const auto& each : found) rows.push_back(each.row);
        return rows;
    };
    EXPECT_EQ(before(200, 9), std::vector<std::uint64_t>());
    EXPECT_EQ(before(300, 9), (std::vector<std::uint64_t>{2, 1}));
    EXPECT_EQ(before(1000, 2), (std::vector<std::uint64_t>{2, 1}));
    ASSERT_TRUE(store->forget_rows({1, 2, 77}));
    ASSERT_TRUE(loop.run(store->flush(loop.context())));
    EXPECT_EQ(before(1000, 9), (std::vector<std::uint64_t>{3}));
    EXPECT_TRUE(records(*store, 1).empty());
    EXPECT_EQ(records(*store, 3).size(), 1U);
    EXPECT_FALSE(loop.run(store->row(2, loop.context())).value());
    const ports::run_totals totals = store->totals();
    EXPECT_EQ(totals.begun, 2U);
    EXPECT_EQ(totals.done, 0U);
    EXPECT_EQ(totals.spent.requests, 4U); // what was paid for stays
    // A number may be used again.
    ASSERT_TRUE(store->begin_row(row_of(1), "id", "{}"));
    ASSERT_TRUE(append(*store, 1, record_of(9)));
    EXPECT_EQ(records(*store, 1).size(), 1U);
}

} // namespace
} // namespace heddle::store
