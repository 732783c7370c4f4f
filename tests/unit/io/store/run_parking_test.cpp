// What is parked in batches, kept with the run.
#include "run_store_fixture.hpp"

#include "store/sqlite_database.hpp"

#include <heddle/store/run_parking.hpp>

namespace heddle::store {
namespace {

class run_parking_test : public run_store_fixture {
protected:
    static parked_call call_of(std::uint64_t row, std::uint64_t content, std::string body = "{}") {
        parked_call call;
        call.row = row;
        call.path = {row, 1};
        call.content = {5, content};
        call.service = "openai";
        call.model = "m";
        call.body = std::move(body);
        call.least.requests = 1;
        call.least.input_tokens = 10;
        call.least.cost_usd = 0.5;
        call.least.estimated = true;
        return call;
    }
    static parked_batch batch_of(std::uint64_t number) {
        parked_batch batch;
        batch.number = number;
        batch.service = "openai";
        batch.model = "m";
        batch.mark = "mark";
        batch.at = 1000;
        return batch;
    }
    void change(run_store& store, parking_change what) {
        ASSERT_TRUE(store.change_parking(std::move(what)));
        ASSERT_TRUE(loop.run(store.flush(loop.context())));
    }
    parking_reader& reader() {
        if (!reader_) reader_ = std::make_unique<parking_reader>(*workers, folder);
        return *reader_;
    }
    std::vector<parked_call> group(std::size_t max_calls, std::size_t max_bytes) {
        return loop
            .run(reader().calls_of_group({"openai", "m", 0, 0}, max_calls, max_bytes, 0,
                                         loop.context()))
            .value();
    }
    std::vector<std::uint64_t> rows() { return loop.run(reader().rows(loop.context())).value(); }
    std::unique_ptr<parking_reader> reader_;
};

TEST_F(run_parking_test, keeps_a_call_once_until_it_is_settled) {
    {
        const auto store = open(run_opening::create);
        change(*store, call_parked{call_of(3, 7, "first")});
        change(*store, call_parked{call_of(3, 7, "the same again")});
        change(*store, call_parked{call_of(3, 8, "second")});
        change(*store, call_parked{call_of(1, 7, "third")});
    }
    const auto store = open(run_opening::resume);
    EXPECT_EQ(rows(), (std::vector<std::uint64_t>{1, 3}));
    const auto calls = group(100, 1000);
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[0].body, "first");
    EXPECT_EQ(calls[1].content, (ports::digest128{5, 8}));
    EXPECT_EQ(calls[2].least.cost_usd, 0.5);
    EXPECT_EQ(group(2, 1000).size(), 2U);
    EXPECT_EQ(group(100, 11).size(), 2U);
    EXPECT_EQ(group(100, 1).size(), 1U) << "one is always returned";
    const auto groups = loop.run(reader().groups(loop.context())).value();
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].calls, 3U);
    EXPECT_EQ(groups[0].bytes, 16U);

    batch_intended intended{batch_of(1), {calls[0].number, calls[2].number}};
    change(*store, intended);
    EXPECT_EQ(group(100, 1000).size(), 1U);
    const auto inside = loop.run(reader().calls_of_batch(1, loop.context())).value();
    ASSERT_EQ(inside.size(), 2U);
    EXPECT_EQ(inside[1].row, 1U);
    auto sums = loop.run(reader().sums(loop.context())).value();
    EXPECT_EQ(sums.collected, 1U);
    EXPECT_EQ(sums.submitted, 2U);
    EXPECT_EQ(sums.least.requests, 3U);

    ports::step_record response = record_of(1, "a response");
    response.kind = ports::step_kind::request;
    const call_settled settled{calls[0].number, 3, response};
    change(*store, settled);
    change(*store, settled); // as a process does that died before it noted the end of the batch
    ASSERT_EQ(records(*store, 3).size(), 1U);
    EXPECT_EQ(records(*store, 3)[0].body, "a response");
    EXPECT_EQ(store->totals().spent.requests, 1U);

    change(*store, calls_returned{1, true, false});
    const auto left = group(100, 1000);
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[1].tries, 1U);
    EXPECT_EQ(left[0].tries, 0U);
    EXPECT_EQ(rows(), (std::vector<std::uint64_t>{1, 3}));

    change(*store, calls_dropped{3});
    EXPECT_EQ(rows(), (std::vector<std::uint64_t>{1}));
    change(*store, calls_dropped{});
    EXPECT_TRUE(rows().empty());
}

TEST_F(run_parking_test, counts_what_may_have_been_paid_for) {
    const auto store = open(run_opening::create);
    change(*store, call_parked{call_of(3, 7)});
    change(*store, call_parked{call_of(4, 7)});
    const auto calls = group(100, 1000);
    change(*store, batch_intended{batch_of(1), {calls[0].number, calls[1].number}});
    change(*store, calls_returned{1, true, true});
    EXPECT_EQ(store->totals().maybe_paid, 2U);
    EXPECT_DOUBLE_EQ(store->totals().spent.cost_usd, 1.0);
    const auto kept = records(*store, 4);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].kind, ports::step_kind::lost);
    EXPECT_EQ(kept[0].content, (ports::digest128{5, 7}));
}

TEST_F(run_parking_test, keeps_batches_for_listings) {
    const auto store = open(run_opening::create);
    EXPECT_TRUE(loop.run(reader().batches(loop.context())).value().empty());
    change(*store, call_parked{call_of(3, 7)});
    change(*store, batch_intended{batch_of(1), {group(1, 100)[0].number}});
    auto batch = loop.run(reader().batches(loop.context())).value().at(0);
    EXPECT_EQ(batch.phase, batch_phase::intended);
    EXPECT_EQ(batch.calls, 1U);
    batch.phase = batch_phase::submitted;
    batch.id = "batch_1";
    batch.state = "running";
    batch.answered = 1;
    batch.was_too_large = true;
    change(*store, batch_noted{batch});
    const auto found = loop.run(reader().batches(loop.context())).value().at(0);
    EXPECT_EQ(found.phase, batch_phase::submitted);
    EXPECT_EQ(found.id, "batch_1");
    EXPECT_EQ(found.mark, "mark");
    EXPECT_EQ(found.at, 1000);
    EXPECT_EQ(found.state, "running");
    EXPECT_EQ(found.answered, 1U);
    EXPECT_TRUE(found.was_too_large);
}

TEST_F(run_parking_test, a_run_of_an_earlier_layout_has_nothing_parked) {
    { const auto store = open(run_opening::create); }
    {
        auto database = sqlite_database::open((folder + "/run.db").c_str()).value();
        ASSERT_TRUE(
            database.run("DROP TABLE parked_calls; DROP TABLE parked_batches; "
                         "PRAGMA user_version = 2"));
    }
    EXPECT_TRUE(rows().empty());
    const auto store = open(run_opening::resume);
    change(*store, call_parked{call_of(3, 7)});
    EXPECT_EQ(rows().size(), 1U);
}

} // namespace
} // namespace heddle::store
