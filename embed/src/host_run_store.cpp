#include "host_run_store.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/thread_without_signals.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/rows/row.hpp>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <utility>

namespace heddle::embed {

namespace {

/// An io_error whatever the host reports: the journal is tried again after one.
error failure_of_store(const error& failure) {
    return error(errc::io_error, "the journal of the host: " + failure.message())
        .with_hint(failure.info().hint);
}

/// `use` of the store, where an exception is an error.
template <class Use>
auto used(Use use) -> decltype(use()) {
    try {
        auto outcome = use();
        if (!outcome) return failure_of_store(outcome.error());
        return outcome;
    } catch (...) {
        return failure_of_store(error_of_exception("it"));
    }
}

/// The call as its records leave it.
result<recorded_row> read_row(journal_store& host, const std::string& tag) {
    HEDDLE_TRY(const std::vector<std::string> records, used([&] { return host.load(tag); }));
    recorded_row read;
    for (const std::string& each : records) {
        HEDDLE_TRY(journal_event event, event_of(each));
        read.apply(std::move(event));
    }
    return read;
}

template <class T>
coro::task<result<T>> at_once(result<T> outcome) {
    co_return outcome;
}

} // namespace

/// Who waits for an append, on a loop that does not run out of work meanwhile.
struct host_run_store::waiter {
    using executor = decltype(boost::asio::prefer(
        std::declval<coro::executor>(), boost::asio::execution::outstanding_work.tracked));

    explicit waiter(coro::event_loop& loop)
        : home(boost::asio::prefer(loop.get_executor(),
                                   boost::asio::execution::outstanding_work.tracked)) {}
    coro::wait_point finished;
    std::optional<error> failure;
    executor home;
};

host_run_store::host_run_store(std::shared_ptr<journal_store> host, ports::worker_port& workers)
    : host_(std::move(host)), workers_(workers),
      thread_(coro::thread_without_signals([this] { run(); })) {}

host_run_store::~host_run_store() {
    {
        const std::lock_guard held(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void host_run_store::name_row(std::uint64_t row, std::string tag) {
    const std::lock_guard held(mutex_);
    rows_[row].tag = std::move(tag);
}

void host_run_store::let_go(std::uint64_t row) noexcept {
    const std::lock_guard held(mutex_);
    rows_.erase(row);
}

bool host_run_store::has_failed() {
    const std::lock_guard held(mutex_);
    return failure_.has_value();
}

result<bool> host_run_store::forget(const std::string& tag) {
    {
        std::unique_lock held(mutex_);
        // No call has the tag: nothing of it is added any more.
        changed_.wait(held, [&, last = queued_] { return finished_ >= last; });
        if (failure_) return *failure_;
    }
    return used([&] { return host_->forget(tag); });
}

result<void> host_run_store::add(std::uint64_t row, journal_event event,
                                 std::shared_ptr<waiter> waits) {
    {
        const std::lock_guard held(mutex_);
        if (failure_) return *failure_;
        named_row& known = rows_[row];
        queue_.push_back({{known.tag, bytes_of(event)}, std::move(waits)});
        ++queued_;
        known.state.apply(std::move(event));
    }
    changed_.notify_all();
    return {};
}

coro::task<result<void>> host_run_store::wait_for(std::shared_ptr<waiter> mine,
                                                  coro::call_context context) {
    const coro::wake woken = co_await mine->finished.wait(context);
    if (woken != coro::wake::notified) {
        co_return error::cancelled(woken == coro::wake::cancelled ? context.cancel->reason()
                                                                  : cancel_reason::deadline);
    }
    if (mine->failure) co_return *mine->failure;
    co_return result<void>();
}

coro::task<result<void>> host_run_store::add_and_wait(std::uint64_t row, journal_event event,
                                                      coro::call_context context) {
    const auto mine = std::make_shared<waiter>(*context.loop);
    result<void> kept = add(row, std::move(event), mine);
    if (kept) kept = co_await wait_for(mine, context);
    co_return kept;
}

result<void> host_run_store::begin_row(const ports::known_row& row, std::string /*id*/,
                                       std::string text) {
    return add(row.row, call_begun{row.content, std::move(text)});
}

result<void> host_run_store::retry_row(std::uint64_t row) { return add(row, call_retried{}); }

result<void> host_run_store::revise_row(std::uint64_t row, std::vector<std::uint64_t> discarded) {
    return add(row, call_revised{std::move(discarded)});
}

void host_run_store::use_spare(std::uint64_t row, const ports::spare_use& use) {
    (void)add(row, use); // a failure shows in the next record
}

coro::task<result<void>> host_run_store::append(std::uint64_t row, ports::step_record record,
                                                coro::call_context context) {
    return add_and_wait(row, std::move(record), context);
}

void host_run_store::note(std::uint64_t row, ports::step_record record) {
    (void)add(row, std::move(record));
}

void host_run_store::note_work(std::uint64_t row, const ports::row_work& sum) {
    (void)add(row, sum);
}

coro::task<result<ports::row_work>> host_run_store::work_of(std::uint64_t row,
                                                            coro::call_context /*context*/) {
    const std::lock_guard held(mutex_);
    return at_once<ports::row_work>(rows_[row].state.work());
}

coro::task<result<void>> host_run_store::end_row(ports::row_end end, coro::call_context context) {
    const std::uint64_t row = end.row;
    return add_and_wait(row, std::move(end), context);
}

coro::task<result<std::vector<ports::step_record>>> host_run_store::records_of(
    std::uint64_t row, coro::call_context /*context*/) {
    const std::lock_guard held(mutex_);
    return at_once<std::vector<ports::step_record>>(rows_[row].state.records);
}

coro::task<result<std::optional<store::run_row>>> host_run_store::row(std::uint64_t number,
                                                                      coro::call_context context) {
    // To its end: the tag must not become free while the host reads its records.
    const auto read = std::make_shared<result<recorded_row>>(recorded_row());
    std::string tag;
    {
        const std::lock_guard held(mutex_);
        tag = rows_[number].tag;
    }
    const ports::worker_port::work job = [read, host = host_, tag](const std::atomic<bool>&) {
        *read = read_row(*host, tag);
    };
    const result<void> ran = co_await workers_.run(job, {context.loop, nullptr, {}});
    if (!ran) co_return ran.error();
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    if (!*read) co_return read->error();
    recorded_row& found = **read;
    if (!found.is_known) co_return std::optional<store::run_row>();
    store::run_row whole;
    whole.known.row = number;
    whole.known.id = rows::digest_of_id(tag);
    whole.known.content = found.content;
    whole.known.status = found.status;
    whole.id = tag;
    whole.text = found.text;
    whole.ended = found.ended;
    const std::lock_guard held(mutex_);
    rows_[number].state = std::move(found);
    co_return std::optional(std::move(whole));
}

coro::task<result<void>> host_run_store::flush(coro::call_context context) {
    const auto mine = std::make_shared<waiter>(*context.loop);
    {
        const std::lock_guard held(mutex_);
        if (failure_) co_return *failure_;
        queue_.push_back({{}, mine});
        ++queued_;
    }
    changed_.notify_all();
    result<void> kept = co_await wait_for(mine, context);
    co_return kept;
}

result<void> host_run_store::append_to_host(const std::vector<queued>& all) {
    std::vector<journal_record> records;
    for (const queued& each : all) {
        if (!each.record.tag.empty()) records.push_back(each.record);
    }
    if (records.empty()) return {};
    return used([&] { return host_->append(records); });
}

void host_run_store::run() {
    std::unique_lock held(mutex_);
    for (;;) {
        changed_.wait(held, [&] { return !queue_.empty() || is_ending_; });
        if (queue_.empty()) return;
        std::vector<queued> all = std::exchange(queue_, {});
        std::optional<error> failure = failure_; // of what was appended before
        held.unlock();
        if (!failure) {
            if (auto kept = append_to_host(all); !kept) failure = std::move(kept).error();
        }
        held.lock();
        failure_ = failure;
        finished_ += all.size();
        held.unlock();
        changed_.notify_all();
        for (queued& each : all) {
            if (!each.waits) continue;
            each.waits->failure = failure;
            const waiter::executor home = each.waits->home;
            boost::asio::post(home, [woken = std::move(each.waits)] { woken->finished.notify(); });
        }
        held.lock();
    }
}

error host_run_store::of_batches() {
    return {errc::internal, "a journal of a host has no rows of batches"};
}

coro::task<result<std::vector<ports::known_row>>> host_run_store::known_rows(
    coro::call_context /*context*/) {
    return at_once<std::vector<ports::known_row>>(std::vector<ports::known_row>());
}

coro::task<result<std::vector<ports::known_row>>> host_run_store::rows_before(
    std::int64_t /*at*/, std::size_t /*count*/, coro::call_context /*context*/) {
    return at_once<std::vector<ports::known_row>>(std::vector<ports::known_row>());
}

coro::task<result<std::vector<store::manifest_entry>>> host_run_store::manifest(
    coro::call_context /*context*/) {
    return at_once<std::vector<store::manifest_entry>>(std::vector<store::manifest_entry>());
}

coro::task<result<void>> host_run_store::outdate_rows(ports::outdated_rows /*which*/,
                                                      coro::call_context /*context*/) {
    return at_once<void>(of_batches());
}

coro::task<result<std::vector<ports::row_end>>> host_run_store::ends_to_emit(
    std::uint64_t /*first*/, std::size_t /*count*/, coro::call_context /*context*/) {
    return at_once<std::vector<ports::row_end>>(of_batches());
}

coro::task<result<void>> host_run_store::forget_output(coro::call_context /*context*/) {
    return at_once<void>(of_batches());
}

coro::task<result<void>> host_run_store::keep_output_of(std::vector<std::uint64_t> /*rows*/,
                                                        coro::call_context /*context*/) {
    return at_once<void>(of_batches());
}

coro::task<result<std::vector<store::run_row>>> host_run_store::rows(
    std::uint64_t /*first*/, std::size_t /*count*/, std::optional<ports::row_status> /*status*/,
    coro::call_context /*context*/) {
    return at_once<std::vector<store::run_row>>(of_batches());
}

coro::task<result<std::vector<store::row_failure>>> host_run_store::failures(
    std::uint64_t /*first*/, std::size_t /*count*/, ports::row_status /*status*/,
    coro::call_context /*context*/) {
    return at_once<std::vector<store::row_failure>>(of_batches());
}

coro::task<result<std::vector<store::end_place>>> host_run_store::last_ends(
    std::size_t /*count*/, coro::call_context /*context*/) {
    return at_once<std::vector<store::end_place>>(of_batches());
}

coro::task<result<std::vector<store::end_place>>> host_run_store::ends_after(
    std::uint64_t /*number*/, std::size_t /*count*/, coro::call_context /*context*/) {
    return at_once<std::vector<store::end_place>>(of_batches());
}

coro::task<result<std::vector<store::row_records>>> host_run_store::rows_with_open_requests(
    std::uint64_t /*first*/, std::size_t /*count*/, coro::call_context /*context*/) {
    return at_once<std::vector<store::row_records>>(of_batches());
}

coro::task<result<std::vector<std::uint64_t>>> host_run_store::begun_rows_with(
    std::string /*name*/, std::uint64_t /*first*/, std::size_t /*count*/,
    coro::call_context /*context*/) {
    return at_once<std::vector<std::uint64_t>>(of_batches());
}

coro::task<result<store::row_sample>> host_run_store::sample_rows(coro::call_context /*context*/) {
    return at_once<store::row_sample>(of_batches());
}

coro::task<result<void>> host_run_store::index_contents(coro::call_context /*context*/) {
    return at_once<void>(of_batches());
}

coro::task<result<std::vector<store::content_record>>> host_run_store::records_with(
    ports::digest128 /*content*/, coro::call_context /*context*/) {
    return at_once<std::vector<store::content_record>>(of_batches());
}

} // namespace heddle::embed
