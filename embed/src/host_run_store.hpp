// Recorded calls in a journal of the host.
#pragma once

#include "journal_event.hpp"

#include <heddle/journal_store.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/store/run_store.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace heddle::embed {

/// Keeps what happens to the rows of calls in progress, and passes it to the store of the host, in
/// order, on a thread: what was noted meanwhile is appended together. After a failure nothing more
/// is appended, and every call fails with it. Knows only the rows that were named: a store of a
/// host has no list. What only batches use is not there.
/// Threads: any.
class host_run_store final : public store::run_store {
public:
    /// `workers` outlive it.
    host_run_store(std::shared_ptr<journal_store> host, ports::worker_port& workers);
    /// Appends what waits.
    ~host_run_store() override;
    host_run_store(const host_run_store&) = delete;
    host_run_store& operator=(const host_run_store&) = delete;

    /// A call has this number from now on, until let_go().
    void name_row(std::uint64_t row, std::string tag);
    void let_go(std::uint64_t row) noexcept;
    /// Whether an append has failed, so that all further calls do.
    [[nodiscard]] bool has_failed();
    /// Waits for the host. No call has the tag meanwhile.
    [[nodiscard]] result<bool> forget(const std::string& tag);

    result<void> begin_row(const ports::known_row& row, std::string id, std::string text) override;
    result<void> retry_row(std::uint64_t row) override;
    result<void> revise_row(std::uint64_t row, std::vector<std::uint64_t> discarded) override;
    void use_spare(std::uint64_t row, const ports::spare_use& use) override;
    coro::task<result<void>> append(std::uint64_t row, ports::step_record record,
                                    coro::call_context context) override;
    void note(std::uint64_t row, ports::step_record record) override;
    void note_work(std::uint64_t row, const ports::row_work& sum) override;
    coro::task<result<ports::row_work>> work_of(std::uint64_t row,
                                                coro::call_context context) override;
    coro::task<result<void>> end_row(ports::row_end end, coro::call_context context) override;
    coro::task<result<std::vector<ports::step_record>>> records_of(
        std::uint64_t row, coro::call_context context) override;
    coro::task<result<std::optional<store::run_row>>> row(std::uint64_t number,
                                                          coro::call_context context) override;
    coro::task<result<void>> flush(coro::call_context context) override;

    // There is no list of rows, and a host keeps times itself.
    coro::task<result<std::vector<ports::known_row>>> known_rows(coro::call_context) override;
    result<void> set_time(std::uint64_t, std::int64_t) override { return {}; }
    coro::task<result<std::vector<ports::known_row>>> rows_before(std::int64_t, std::size_t,
                                                                  coro::call_context) override;
    result<void> forget_rows(std::vector<std::uint64_t>) override { return of_batches(); }
    result<void> set_manifest(std::vector<store::manifest_entry>) override { return {}; }
    coro::task<result<std::vector<store::manifest_entry>>> manifest(coro::call_context) override;

    // Of batches.
    result<void> restart_row(std::uint64_t) override { return of_batches(); }
    coro::task<result<void>> outdate_rows(ports::outdated_rows, coro::call_context) override;
    coro::task<result<std::vector<ports::row_end>>> ends_to_emit(std::uint64_t, std::size_t,
                                                                 coro::call_context) override;
    result<void> note_emitted(std::vector<std::uint64_t>, std::uint64_t) override {
        return of_batches();
    }
    [[nodiscard]] std::uint64_t emitted_size() const noexcept override { return 0; }
    [[nodiscard]] ports::run_totals totals() const noexcept override { return {}; }
    result<void> change_parking(store::parking_change) override { return of_batches(); }
    [[nodiscard]] store::output_phase phase() const noexcept override {
        return store::output_phase::in_place;
    }
    result<void> set_phase(store::output_phase) override { return of_batches(); }
    coro::task<result<void>> forget_output(coro::call_context) override;
    coro::task<result<void>> keep_output_of(std::vector<std::uint64_t>,
                                            coro::call_context) override;
    coro::task<result<std::vector<store::run_row>>> rows(std::uint64_t, std::size_t,
                                                         std::optional<ports::row_status>,
                                                         coro::call_context) override;
    coro::task<result<std::vector<store::row_failure>>> failures(std::uint64_t, std::size_t,
                                                                 ports::row_status,
                                                                 coro::call_context) override;
    coro::task<result<std::vector<store::end_place>>> last_ends(std::size_t,
                                                                coro::call_context) override;
    coro::task<result<std::vector<store::end_place>>> ends_after(std::uint64_t, std::size_t,
                                                                 coro::call_context) override;
    coro::task<result<std::vector<store::row_records>>> rows_with_open_requests(
        std::uint64_t, std::size_t, coro::call_context) override;
    coro::task<result<std::vector<std::uint64_t>>> begun_rows_with(std::string, std::uint64_t,
                                                                   std::size_t,
                                                                   coro::call_context) override;
    coro::task<result<store::row_sample>> sample_rows(coro::call_context) override;
    coro::task<result<void>> index_contents(coro::call_context) override;
    coro::task<result<std::vector<store::content_record>>> records_with(
        ports::digest128, coro::call_context) override;

private:
    struct waiter;
    struct named_row {
        std::string tag;
        recorded_row state;
    };
    struct queued {
        journal_record record; ///< without a tag: nothing but the waiter
        std::shared_ptr<waiter> waits;
    };

    [[nodiscard]] static error of_batches();
    [[nodiscard]] result<void> add(std::uint64_t row, journal_event event,
                                   std::shared_ptr<waiter> waits = nullptr);
    [[nodiscard]] coro::task<result<void>> add_and_wait(std::uint64_t row, journal_event event,
                                                        coro::call_context context);
    [[nodiscard]] static coro::task<result<void>> wait_for(std::shared_ptr<waiter> mine,
                                                           coro::call_context context);
    [[nodiscard]] result<void> append_to_host(const std::vector<queued>& all);
    void run();

    const std::shared_ptr<journal_store> host_;
    ports::worker_port& workers_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, named_row> rows_;
    std::vector<queued> queue_;
    std::uint64_t queued_ = 0;   ///< entries so far
    std::uint64_t finished_ = 0; ///< of them, appended or failed
    bool is_ending_ = false;
    std::optional<error> failure_;
    std::thread thread_;
};

} // namespace heddle::embed
