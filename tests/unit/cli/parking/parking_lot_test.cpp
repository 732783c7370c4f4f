// Requests that wait for batches, over several processes.
#include "parking/parking_lot.hpp"

#include "fake_batches.hpp"
#include "parking/parking_names.hpp"

#include "loopback_runner.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/ports/response_codec.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

#include <stdlib.h>

namespace heddle::cli {
namespace {

using providers::batch_call;
using providers::batch_response;
using providers::batch_state;
using ::testing::HasSubstr;

struct dollar_prices final : ports::price_port {
    std::optional<double> cost_usd(std::string_view, std::string_view model,
                                   const ports::token_usage& usage) const override {
        if (model != "m") return std::nullopt;
        return static_cast<double>(usage.input + usage.output) / 1000;
    }
};

class parking_lots : public ::testing::Test {
protected:
    parking_lots() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-park-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        above = name;
        auto fake = std::make_unique<fake_batches>();
        service = fake.get();
        services["openai"] = std::move(fake);
        begin_process();
    }
    ~parking_lots() override {
        lot.reset();
        reader.reset();
        store.reset();
        std::error_code ignored;
        std::filesystem::remove_all(above, ignored);
    }

    /// As a process that is killed and started again.
    void begin_process(std::chrono::seconds settling = std::chrono::seconds(-1),
                       bool parks = true) {
        lot.reset();
        reader.reset();
        store.reset();
        store::run_store_options options;
        options.folder = (above / "run").string();
        store = store::open_run_store(*workers, options).value();
        reader = std::make_unique<store::parking_reader>(*workers, options.folder);
        parking_lot::parts of{*store, *reader, services, prices, parks, settling};
        of.time = [this](const coro::call_context& context) {
            return context.loop->time_of_day() + ahead;
        };
        lot = std::make_unique<parking_lot>(of);
        ASSERT_TRUE(on.run(lot->begin(on.context())));
    }
    void park(std::uint64_t row, std::uint64_t content, std::string body) {
        store::parked_call call;
        call.row = row;
        call.path = {row, 1};
        call.content = {9, content};
        call.service = "openai";
        call.model = "m";
        call.body = std::move(body);
        ASSERT_TRUE(lot->park(std::move(call)));
    }
    std::vector<std::string> submit(bool all = true) {
        return on.run(lot->submit(all, on.context())).value();
    }
    parking_look look() { return on.run(lot->look(on.context())).value(); }
    std::vector<ports::step_record> records(std::uint64_t row) {
        return on.run(store->records_of(row, on.context())).value();
    }
    std::string response_of(std::uint64_t row) {
        const auto all = records(row);
        if (all.size() != 1 || all[0].kind != ports::step_kind::request) return "none";
        return ports::decode_response(all[0].body).value().text;
    }

    std::filesystem::path above;
    std::chrono::seconds ahead{0}; ///< of the lot's clock
    loopback::runner on;
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(on.loop, 2);
    dollar_prices prices;
    setup::batch_services services;
    fake_batches* service = nullptr;
    std::unique_ptr<store::run_store> store;
    std::unique_ptr<store::parking_reader> reader;
    std::unique_ptr<parking_lot> lot;
};

TEST_F(parking_lots, a_response_becomes_a_record_of_its_row) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    EXPECT_EQ(lot->open_calls(), 2U);
    EXPECT_TRUE(submit().empty());
    ASSERT_EQ(service->batches.size(), 1U);
    EXPECT_EQ(service->batches[0].calls.size(), 2U);
    begin_process();
    EXPECT_TRUE(lot->waits(1));
    EXPECT_FALSE(lot->waits(3));
    EXPECT_EQ(look().waiting, 1U);
    service->end();
    const parking_look seen = look();
    EXPECT_EQ(seen.answered, 2U);
    EXPECT_EQ(seen.waiting, 0U);
    EXPECT_TRUE(seen.frees_rows());
    EXPECT_FALSE(lot->waits(1));
    EXPECT_EQ(lot->open_calls(), 0U);
    EXPECT_EQ(response_of(2), "to \"b\"");
    const ports::step_record record = records(1).at(0);
    EXPECT_EQ(record.path, (ports::digest128{1, 1}));
    EXPECT_EQ(record.content, (ports::digest128{9, 1}));
    EXPECT_EQ(record.spent.requests, 1U);
    EXPECT_EQ(record.spent.input_tokens, 1000);
    EXPECT_DOUBLE_EQ(record.spent.cost_usd, 0.55) << "half the price";
    EXPECT_DOUBLE_EQ(store->totals().spent.cost_usd, 1.1);
    // Nothing is looked at any more.
    const int polls = service->polls;
    look();
    EXPECT_EQ(service->polls, polls);
}

TEST_F(parking_lots, a_batch_that_is_not_full_waits_for_more) {
    service->most = {3, 1'000'000};
    for (std::uint64_t i = 0; i < 7; ++i) park(i, i, "\"x\"");
    EXPECT_TRUE(lot->is_full());
    submit(false);
    EXPECT_EQ(service->batches.size(), 2U);
    submit(true);
    EXPECT_EQ(service->batches.size(), 3U);
    EXPECT_EQ(service->batches[2].calls.size(), 1U);
}

TEST_F(parking_lots, a_submission_that_was_not_acknowledged_is_found_again) {
    park(1, 1, "\"a\"");
    service->loses_responses = true;
    EXPECT_THAT(submit().at(0), HasSubstr("found out later"));
    service->loses_responses = false;
    service->end();
    begin_process();
    EXPECT_TRUE(submit().empty()); // it is in a batch, as far as anybody knows
    EXPECT_EQ(look().answered, 1U);
    EXPECT_EQ(service->times("\"a\""), 1U);
    EXPECT_EQ(response_of(1), "to \"a\"");
    EXPECT_EQ(store->totals().maybe_paid, 0U);
}

TEST_F(parking_lots, a_submission_that_never_arrived_is_repeated_when_that_is_sure) {
    park(1, 1, "\"a\"");
    service->loses_submissions = true;
    submit();
    service->loses_submissions = false;
    begin_process(std::chrono::seconds(60));
    EXPECT_EQ(look().waiting, 1U) << "it may be on its way";
    submit();
    EXPECT_EQ(service->times("\"a\""), 0U);
    begin_process();
    EXPECT_EQ(look().returned, 1U);
    submit();
    EXPECT_EQ(service->times("\"a\""), 1U);
    service->end();
    EXPECT_EQ(look().answered, 1U);
    EXPECT_EQ(store->totals().maybe_paid, 0U);
}

// The time counted from before the upload, which may take longer than it.
TEST_F(parking_lots, a_submission_is_looked_for_from_the_first_look_on) {
    park(1, 1, "\"a\"");
    service->loses_submissions = true;
    submit();
    service->loses_submissions = false;
    ahead += std::chrono::seconds(2);
    begin_process(std::chrono::seconds(1));
    EXPECT_EQ(look().waiting, 1U) << "the process that submitted it may just have ended";
    ahead += std::chrono::seconds(2);
    begin_process(std::chrono::seconds(1));
    EXPECT_EQ(look().returned, 1U);
}

TEST_F(parking_lots, without_marks_a_batch_is_found_by_its_size) {
    service->keeps_marks = false;
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    service->loses_responses = true;
    submit();
    service->loses_responses = false;
    service->end();
    begin_process();
    EXPECT_EQ(look().answered, 2U);
    EXPECT_EQ(service->times("\"a\""), 1U);
}

// They were submitted again, and nobody knew that they may have been paid twice.
TEST_F(parking_lots, without_marks_a_batch_of_unknown_size_is_waited_for) {
    service->keeps_marks = service->shows_sizes = false;
    park(1, 1, "\"a\"");
    service->loses_responses = true;
    submit();
    service->loses_responses = false;
    begin_process();
    parking_look seen = look();
    EXPECT_EQ(seen.waiting, 1U);
    EXPECT_EQ(seen.returned, 0U);
    service->batches[0].status.total = 1;
    service->end();
    EXPECT_EQ(look().answered, 1U);
    EXPECT_EQ(service->times("\"a\""), 1U);
    // One whose size is never shown is known by its results.
    park(2, 2, "\"b\"");
    service->loses_responses = true;
    submit();
    service->end();
    EXPECT_EQ(look().answered, 1U);
    EXPECT_EQ(store->totals().maybe_paid, 0U);
}

TEST_F(parking_lots, a_batch_whose_size_stays_unknown_counts_as_maybe_paid) {
    service->keeps_marks = service->shows_sizes = false;
    park(1, 1, "\"a\"");
    service->loses_responses = true;
    submit();
    ahead += std::chrono::hours(48);
    const parking_look seen = look();
    EXPECT_EQ(seen.returned, 1U);
    EXPECT_THAT(seen.problems.at(0), HasSubstr("a batch of unknown size"));
    EXPECT_EQ(store->totals().maybe_paid, 1U);
}

TEST_F(parking_lots, a_refused_batch_of_unknown_size_is_not_waited_for) {
    service->keeps_marks = service->shows_sizes = false;
    park(1, 1, "\"a\"");
    service->loses_responses = true;
    submit();
    service->end(batch_state::refused);
    EXPECT_EQ(look().returned, 1U);
    EXPECT_EQ(store->totals().maybe_paid, 0U);
}

TEST_F(parking_lots, what_cannot_be_decided_counts_as_maybe_paid) {
    service->keeps_marks = false;
    for (int i = 0; i < 2; ++i) { // of others, of the same size
        fake_batches::batch other;
        other.status.id = "other" + std::to_string(i);
        other.status.total = 1;
        other.calls.push_back({"row-1", "{}"});
        service->batches.push_back(other);
    }
    park(1, 1, "\"a\"");
    service->loses_submissions = true;
    submit();
    service->loses_submissions = false;
    begin_process();
    const parking_look seen = look();
    EXPECT_EQ(seen.returned, 1U);
    EXPECT_THAT(seen.problems.at(0), HasSubstr("maybe paid"));
    EXPECT_EQ(store->totals().maybe_paid, 1U);
}

TEST_F(parking_lots, results_of_another_batch_are_not_taken) {
    service->keeps_marks = false;
    fake_batches::batch other;
    other.status.id = "other";
    other.status.total = 1;
    other.calls.push_back({"row-1", "{}"});
    service->batches.push_back(other);
    park(1, 1, "\"a\"");
    service->loses_submissions = true;
    submit();
    service->loses_submissions = false;
    begin_process();
    service->end();
    EXPECT_EQ(look().returned, 1U);
    EXPECT_TRUE(lot->waits(1));
    EXPECT_EQ(store->totals().maybe_paid, 1U);
    submit();
    service->end();
    EXPECT_EQ(look().answered, 1U);
}

TEST_F(parking_lots, a_download_that_breaks_goes_on_where_it_was) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    submit();
    service->end();
    service->breaks_after = 1;
    parking_look seen = look();
    EXPECT_EQ(seen.answered, 1U);
    EXPECT_EQ(seen.waiting, 1U);
    EXPECT_FALSE(seen.problems.empty());
    service->breaks_after.reset();
    begin_process();
    seen = look();
    EXPECT_EQ(seen.answered, 1U) << "the first one is not counted again";
    EXPECT_EQ(seen.waiting, 0U);
    EXPECT_EQ(records(1).size(), 1U);
    EXPECT_EQ(store->totals().spent.requests, 2U);
    EXPECT_EQ(service->batches.size(), 1U);
}

TEST_F(parking_lots, what_expired_is_submitted_again_until_it_has_failed) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    service->responses = [](const batch_call& call) {
        if (call.body == "\"b\"") return fake_batches::replies(call);
        return batch_response{call.id, batch_response::fate::expired,
                              fake_batches::failure(ports::llm_errc::request_timeout, true)};
    };
    for (std::uint32_t i = 1; i <= parking_lot::max_tries; ++i) {
        EXPECT_TRUE(lot->waits(1) || i == 1);
        submit();
        EXPECT_EQ(service->times("\"a\""), i);
        service->end(batch_state::expired);
        look();
        begin_process();
    }
    EXPECT_EQ(service->times("\"b\""), 1U);
    EXPECT_FALSE(lot->waits(1));
    const ports::step_record record = records(1).at(0);
    EXPECT_EQ(record.kind, ports::step_kind::refused);
    EXPECT_EQ(record.content, refusal_key({9, 1}));
    const error failure = refusal_in(record.body);
    EXPECT_EQ(failure.code(), ports::llm_errc::request_timeout);
    EXPECT_EQ(failure.message(), "openai: it failed");
    EXPECT_EQ(store->totals().spent.requests, 1U);
}

// It was paid for again and again.
TEST_F(parking_lots, a_call_that_no_line_answers_is_not_submitted_without_end) {
    service->silent = "\"a\"";
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    for (std::uint32_t i = 0; i < parking_lot::max_tries + 2; ++i) {
        EXPECT_TRUE(submit().empty());
        service->end();
        look();
    }
    EXPECT_EQ(lot->open_calls(), 0U);
    EXPECT_EQ(service->times("\"a\""), parking_lot::max_tries);
    EXPECT_EQ(service->times("\"b\""), 1U);
    const auto left = records(1);
    EXPECT_TRUE(std::any_of(left.begin(), left.end(), [](const ports::step_record& each) {
        return each.kind == ports::step_kind::refused;
    }));
    EXPECT_EQ(store->totals().maybe_paid, parking_lot::max_tries - 1) << "all but the last";
}

TEST_F(parking_lots, a_request_that_is_wrong_is_not_repeated) {
    park(1, 1, "\"a\"");
    service->responses = [](const batch_call& call) {
        return fake_batches::fails(call, ports::llm_errc::invalid_request, false);
    };
    submit();
    service->end();
    EXPECT_EQ(look().failed, 1U);
    EXPECT_FALSE(lot->waits(1));
    EXPECT_EQ(records(1).at(0).kind, ports::step_kind::refused);
}

TEST_F(parking_lots, an_account_that_is_full_gets_smaller_batches_later) {
    for (std::uint64_t i = 0; i < 8; ++i) park(i, i, "\"x\"");
    submit();
    service->batches[0].status.state = batch_state::refused;
    service->batches[0].status.may_pass = true;
    service->batches[0].status.problems = {{"token_limit_exceeded", "too many tokens", {}}};
    const parking_look seen = look();
    EXPECT_EQ(seen.returned, 8U);
    EXPECT_THAT(seen.problems.at(0), HasSubstr("too many tokens"));
    submit();
    ASSERT_EQ(service->batches.size(), 2U) << "the next waits for the end of this one";
    EXPECT_EQ(service->batches[1].calls.size(), 4U);
    service->end();
    look();
    submit();
    ASSERT_EQ(service->batches.size(), 3U);
    service->end();
    EXPECT_EQ(look().answered, 4U);
}

TEST_F(parking_lots, a_batch_that_was_refused_names_its_wrong_requests) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    submit();
    service->batches[0].status.state = batch_state::refused;
    service->batches[0].status.problems = {{"invalid_json_line", "not JSON", 1}};
    const parking_look seen = look();
    EXPECT_EQ(seen.failed, 1U);
    EXPECT_EQ(records(2).at(0).kind, ports::step_kind::refused);
    EXPECT_TRUE(lot->waits(1));
    submit();
    service->end();
    EXPECT_EQ(look().answered, 1U);
}

TEST_F(parking_lots, a_refused_submission_leaves_its_calls) {
    park(1, 1, "\"a\"");
    service->refuses_submissions = true;
    EXPECT_THAT(submit().at(0), HasSubstr("it failed"));
    service->refuses_submissions = false;
    begin_process();
    EXPECT_TRUE(submit().empty());
    EXPECT_EQ(service->times("\"a\""), 1U);
}

TEST_F(parking_lots, a_batch_that_is_not_found_is_not_repeated_at_once) {
    park(1, 1, "\"a\"");
    submit();
    service->batches.clear(); // another key
    const parking_look seen = look();
    EXPECT_EQ(seen.waiting, 1U);
    EXPECT_THAT(seen.problems.at(0), HasSubstr("key"));
    EXPECT_TRUE(lot->waits(1));
    EXPECT_TRUE(submit().empty());
    EXPECT_TRUE(service->batches.empty());
}

TEST_F(parking_lots, a_batch_that_is_not_found_is_repeated_after_48_hours) {
    using namespace std::chrono_literals;
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    submit();
    service->batches.clear();
    ahead += 48h - 1min;
    begin_process();
    parking_look seen = look();
    EXPECT_EQ(seen.waiting, 1U);
    EXPECT_TRUE(submit().empty());
    EXPECT_TRUE(service->batches.empty());
    ahead += 1min;
    seen = look();
    EXPECT_EQ(seen.waiting, 0U);
    EXPECT_EQ(seen.returned, 2U);
    EXPECT_EQ(store->totals().maybe_paid, 2U);
    EXPECT_TRUE(lot->waits(1));
    EXPECT_TRUE(submit().empty());
    ASSERT_EQ(service->batches.size(), 1U);
    EXPECT_EQ(service->batches[0].calls.size(), 2U);
    // The time begins anew with the second batch.
    ahead += 47h;
    service->end();
    EXPECT_EQ(look().answered, 2U);
    EXPECT_EQ(records(1).back().kind, ports::step_kind::request);
}

// Results of a batch that has ended, and that its service does not hand out.
TEST_F(parking_lots, results_that_are_lost_are_asked_for_again_after_48_hours) {
    using namespace std::chrono_literals;
    park(1, 1, "\"a\"");
    submit();
    service->end();
    service->breaks_after = 0;
    ahead += 48h - 1min;
    EXPECT_EQ(look().waiting, 1U);
    EXPECT_EQ(service->submissions, 1);
    ahead += 1min;
    EXPECT_EQ(look().returned, 1U);
    EXPECT_EQ(store->totals().maybe_paid, 1U);
    service->breaks_after.reset();
    submit();
    EXPECT_EQ(service->submissions, 2);
    service->end();
    EXPECT_EQ(look().answered, 1U);
}

TEST_F(parking_lots, cancelled_batches_have_what_was_performed_and_return_the_rest) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    park(3, 3, "\"c\"");
    submit();
    begin_process();
    service->performed_until_cancelled = 2;
    const auto problems = on.run(lot->cancel(on.context())).value();
    EXPECT_TRUE(problems.empty());
    const parking_look seen = look();
    EXPECT_EQ(seen.answered, 2U);
    EXPECT_EQ(seen.returned, 1U);
    EXPECT_EQ(lot->open_batches(), 0U);
    EXPECT_EQ(response_of(2), "to \"b\"");
    EXPECT_EQ(store->totals().spent.requests, 2U);
    EXPECT_EQ(store->totals().maybe_paid, 0U);
    // Nothing is left to cancel, and a later process goes on.
    EXPECT_TRUE(on.run(lot->cancel(on.context())).value().empty());
    begin_process();
    submit();
    service->end();
    EXPECT_EQ(look().answered, 1U);
    EXPECT_EQ(service->times("\"a\""), 1U);
}

// They counted as possibly paid.
TEST_F(parking_lots, what_a_service_has_not_performed_is_not_counted) {
    service->ends_when_cancelled = true;
    service->performed_until_cancelled = 1;
    service->silent = "\"d\"";
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    park(3, 3, "\"c\"");
    submit();
    EXPECT_TRUE(on.run(lot->cancel(on.context())).value().empty());
    EXPECT_EQ(look().returned, 2U);
    EXPECT_EQ(store->totals().spent.requests, 1U);
    EXPECT_EQ(store->totals().maybe_paid, 0U);
    // A call without any line may have been performed.
    service->performed_until_cancelled = 0;
    park(4, 4, "\"d\"");
    submit();
    EXPECT_TRUE(on.run(lot->cancel(on.context())).value().empty());
    EXPECT_EQ(look().returned, 3U);
    EXPECT_EQ(store->totals().maybe_paid, 1U);
}

// After the fourth time they had failed.
TEST_F(parking_lots, what_was_cancelled_by_hand_is_submitted_again_each_time) {
    for (const bool ends : {false, true}) {
        service->ends_when_cancelled = ends;
        const std::uint64_t row = ends ? 2 : 1;
        park(row, row, "\"a\"");
        for (int i = 0; i < 6; ++i) {
            submit();
            EXPECT_TRUE(on.run(lot->cancel(on.context())).value().empty());
            const parking_look seen = look();
            EXPECT_EQ(seen.returned, 1U);
            EXPECT_EQ(seen.failed, 0U);
        }
        submit();
        service->end();
        EXPECT_EQ(look().answered, 1U);
    }
}

TEST_F(parking_lots, a_batch_that_cannot_be_cancelled_is_named) {
    park(1, 1, "\"a\"");
    submit();
    service->end(); // meanwhile
    const auto problems = on.run(lot->cancel(on.context())).value();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems.front(), HasSubstr("is not cancelled"));
    EXPECT_EQ(look().answered, 1U);
}

TEST_F(parking_lots, without_parking_only_what_is_in_batches_goes_on) {
    park(1, 1, "\"a\"");
    submit();
    park(2, 2, "\"b\"");
    begin_process(std::chrono::seconds(-1), false);
    EXPECT_TRUE(lot->waits(1));
    EXPECT_FALSE(lot->waits(2)) << "it is asked in the usual way";
    service->end();
    EXPECT_EQ(look().answered, 1U);
}

TEST_F(parking_lots, rows_that_have_ended_need_no_calls) {
    park(1, 1, "\"a\"");
    park(2, 2, "\"b\"");
    ASSERT_TRUE(lot->forget(1));
    EXPECT_EQ(lot->open_calls(), 1U);
    EXPECT_EQ(lot->open_spending().requests, 1U) << "they counted for --max-calls";
    submit();
    EXPECT_EQ(service->times("\"a\""), 0U);
    EXPECT_EQ(service->times("\"b\""), 1U);
}

/// Wherever a process is killed, the service performs each request once.
TEST_F(parking_lots, calls_are_submitted_once_over_many_ends_of_processes) {
    service->most = {2, 1'000'000};
    for (std::uint64_t i = 0; i < 9; ++i) park(i, i, "\"" + std::to_string(i) + "\"");
    for (int turn = 0; turn < 40; ++turn) {
        service->loses_responses = turn % 3 == 0;
        service->loses_submissions = turn % 4 == 1;
        service->refuses_submissions = turn % 7 == 2;
        if (turn % 5 == 0) service->breaks_after = 1;
        else service->breaks_after.reset();
        submit();
        if (turn % 2 == 1) service->end();
        if (turn % 6 != 5) look();
        begin_process();
    }
    service->breaks_after.reset();
    service->end();
    look();
    for (std::uint64_t i = 0; i < 9; ++i) {
        EXPECT_EQ(service->times("\"" + std::to_string(i) + "\""), 1U) << i;
        EXPECT_EQ(response_of(i), "to \"" + std::to_string(i) + "\"");
    }
    EXPECT_EQ(store->totals().maybe_paid, 0U);
}

TEST(parking_names, have_the_time_since_when_a_batch_is_looked_for) {
    EXPECT_EQ(looked_for_since(looked_for_state(1'800'000'000)), 1'800'000'000);
    EXPECT_EQ(looked_for_since("not acknowledged"), std::nullopt);
    EXPECT_EQ(looked_for_since("looked for since"), std::nullopt);
}

TEST(parking_names, fit_every_service) {
    store::parked_call call;
    call.number = 123456789012345;
    call.content = {1, 0xabcdef0123456789};
    EXPECT_EQ(parked_call_id(call), "c123456789012345-23456789");
    EXPECT_LE(parked_call_id(call).size(), max_call_id);
    EXPECT_NE(new_batch_mark(), new_batch_mark());
    EXPECT_LE(new_batch_mark().size(), 64U);
}

} // namespace
} // namespace heddle::cli
