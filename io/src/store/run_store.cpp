#include <heddle/store/run_store.hpp>

#include "store/run_reader.hpp"
#include "store/run_writer.hpp"

#include <heddle/ports/value_of_work.hpp>

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

namespace heddle::store {

namespace {

class sqlite_run_store final : public run_store {
public:
    sqlite_run_store(ports::worker_port& workers, run_store_options options,
                     std::unique_ptr<run_writer> writer, std::shared_ptr<run_hold> hold,
                     std::unique_ptr<run_reader> reader, const run_sums& sums)
        : workers_(workers), options_(std::move(options)), hold_(std::move(hold)),
          writer_(std::move(writer)), reader_(std::move(reader)), read_totals_(sums.totals),
          emitted_size_(sums.emitted_size), phase_(sums.phase) {}

    result<void> begin_row(const ports::known_row& row, std::string id, std::string text) override {
        return queue(row_begun{row, std::move(id), std::move(text)});
    }
    result<void> restart_row(std::uint64_t row) override { return queue(row_restarted{row}); }
    result<void> retry_row(std::uint64_t row) override { return queue(row_retried{row}); }
    coro::task<result<void>> outdate_rows(ports::outdated_rows which,
                                          coro::call_context context) override {
        if (which == ports::outdated_rows::all) {
            emitted_size_ = 0;
            phase_ = output_phase::beside;
        }
        return write(rows_outdated{which}, context, need::all_kept);
    }
    result<void> revise_row(std::uint64_t row, std::vector<std::uint64_t> discarded) override {
        return queue(row_revised{row, std::move(discarded)});
    }
    void use_spare(std::uint64_t row, const ports::spare_use& use) override {
        (void)queue(spare_used{row, use});
    }
    result<void> set_time(std::uint64_t row, std::int64_t at) override {
        return queue(row_timed{row, at});
    }
    result<void> forget_rows(std::vector<std::uint64_t> rows) override {
        return queue(rows_forgotten{std::move(rows)});
    }
    result<void> change_parking(parking_change change) override { return queue(std::move(change)); }
    output_phase phase() const noexcept override { return phase_; }
    result<void> set_phase(output_phase phase) override {
        phase_ = phase;
        return queue(phase_set{phase});
    }
    void note(std::uint64_t row, ports::step_record record) override {
        // Shows in the next call that waits.
        (void)queue(step_appended{row, std::move(record)});
    }
    coro::task<result<void>> append(std::uint64_t row, ports::step_record record,
                                    coro::call_context context) override {
        return write(step_appended{row, std::move(record)}, context, need::kept);
    }
    void note_work(std::uint64_t row, const ports::row_work& sum) override {
        (void)queue(work_noted{row, sum});
    }
    coro::task<result<ports::row_work>> work_of(std::uint64_t row,
                                                coro::call_context context) override {
        return read<ports::row_work>([row](run_reader& reader) { return reader.work_of(row); },
                                     context);
    }
    coro::task<result<void>> end_row(ports::row_end end, coro::call_context context) override {
        return write(std::move(end), context, need::kept);
    }
    result<void> note_emitted(std::vector<std::uint64_t> rows, std::uint64_t size) override {
        emitted_size_ = size;
        return queue(rows_emitted{std::move(rows), size});
    }
    coro::task<result<void>> forget_output(coro::call_context context) override {
        emitted_size_ = 0;
        return write(rows_emitted{{}, 0, true}, context, need::all_kept);
    }
    coro::task<result<void>> keep_output_of(std::vector<std::uint64_t> rows,
                                            coro::call_context context) override {
        return write(rows_emitted{std::move(rows), emitted_size_, true}, context, need::all_kept);
    }
    std::uint64_t emitted_size() const noexcept override { return emitted_size_; }
    ports::run_totals totals() const noexcept override {
        return writer_ ? writer_->totals() : read_totals_;
    }
    coro::task<result<void>> flush(coro::call_context context) override {
        return write(nothing_written{}, context, need::all_kept);
    }
    result<void> set_manifest(std::vector<manifest_entry> entries) override {
        return queue(manifest_set{std::move(entries)});
    }
    coro::task<result<void>> index_contents(coro::call_context context) override {
        return write(contents_indexed{}, context, need::all_kept);
    }

    coro::task<result<std::vector<ports::known_row>>> known_rows(
        coro::call_context context) override {
        return read<std::vector<ports::known_row>>(
            [](run_reader& reader) { return reader.known_rows(); }, context);
    }
    coro::task<result<std::vector<ports::known_row>>> rows_before(
        std::int64_t at, std::size_t count, coro::call_context context) override {
        return read<std::vector<ports::known_row>>(
            [at, count](run_reader& reader) { return reader.rows_before(at, count); }, context);
    }
    coro::task<result<std::vector<ports::step_record>>> records_of(
        std::uint64_t row, coro::call_context context) override {
        return read<std::vector<ports::step_record>>(
            [row](run_reader& reader) { return reader.records_of(row); }, context);
    }
    coro::task<result<std::vector<ports::row_end>>> ends_to_emit(
        std::uint64_t first, std::size_t count, coro::call_context context) override {
        return read<std::vector<ports::row_end>>(
            [first, count](run_reader& reader) { return reader.ends_to_emit(first, count); },
            context);
    }
    coro::task<result<std::vector<manifest_entry>>> manifest(coro::call_context context) override {
        return read<std::vector<manifest_entry>>(
            [](run_reader& reader) { return reader.manifest(); }, context);
    }
    coro::task<result<std::vector<run_row>>> rows(std::uint64_t first, std::size_t count,
                                                  std::optional<ports::row_status> status,
                                                  coro::call_context context) override {
        return read<std::vector<run_row>>(
            [=](run_reader& reader) { return reader.rows(first, count, status, false); }, context);
    }
    coro::task<result<std::optional<run_row>>> row(std::uint64_t number,
                                                   coro::call_context context) override {
        using one = std::optional<run_row>;
        return read<one>(
            [number](run_reader& reader) -> result<one> {
                HEDDLE_TRY(auto found, reader.rows(number, 1, std::nullopt, true));
                if (found.empty() || found.front().known.row != number) return one();
                return one(std::move(found.front()));
            },
            context);
    }
    coro::task<result<std::vector<row_failure>>> failures(std::uint64_t first, std::size_t count,
                                                          ports::row_status status,
                                                          coro::call_context context) override {
        return read<std::vector<row_failure>>(
            [=](run_reader& reader) { return reader.failures(first, count, status); }, context);
    }
    coro::task<result<std::vector<end_place>>> last_ends(std::size_t count,
                                                         coro::call_context context) override {
        return read<std::vector<end_place>>(
            [count](run_reader& reader) { return reader.last_ends(count); }, context);
    }
    coro::task<result<std::vector<end_place>>> ends_after(std::uint64_t number, std::size_t count,
                                                          coro::call_context context) override {
        return read<std::vector<end_place>>(
            [number, count](run_reader& reader) { return reader.ends_after(number, count); },
            context);
    }
    coro::task<result<std::vector<row_records>>> rows_with_open_requests(
        std::uint64_t first, std::size_t count, coro::call_context context) override {
        return read<std::vector<row_records>>(
            [first, count](run_reader& reader) {
                return reader.rows_with_open_requests(first, count);
            },
            context);
    }
    coro::task<result<std::vector<std::uint64_t>>> begun_rows_with(
        std::string name, std::uint64_t first, std::size_t count,
        coro::call_context context) override {
        return read<std::vector<std::uint64_t>>(
            [name = std::move(name), first, count](run_reader& reader) {
                return reader.begun_rows_with(name, first, count);
            },
            context);
    }
    coro::task<result<row_sample>> sample_rows(coro::call_context context) override {
        return read<row_sample>([](run_reader& reader) { return reader.sample_rows(); }, context);
    }
    coro::task<result<std::vector<content_record>>> records_with(
        ports::digest128 content, coro::call_context context) override {
        return read<std::vector<content_record>>(
            [content](run_reader& reader) { return reader.records_with(content); }, context);
    }

private:
    enum class need : std::uint8_t {
        kept,    ///< as durable as the run asks
        all_kept ///< in the file, and at once
    };

    [[nodiscard]] result<void> queue(write_change change) {
        if (!writer_) return only_read();
        return writer_->add(std::move(change), nullptr);
    }

    coro::task<result<void>> write(write_change change, coro::call_context context, need wanted) {
        if (!writer_) co_return only_read();
        const bool waits = wanted == need::all_kept || options_.durability != run_durability::off ||
                           writer_->is_full();
        if (!waits) co_return writer_->add(std::move(change), nullptr);
        const auto mine = std::make_shared<write_waiter>(*context.loop);
        if (auto added = writer_->add(std::move(change), mine, wanted == need::all_kept); !added)
            co_return std::move(added).error();
        const coro::wake woken = co_await mine->finished.wait(context);
        if (woken != coro::wake::notified) {
            co_return error::cancelled(woken == coro::wake::cancelled ? context.cancel->reason()
                                                                      : cancel_reason::deadline);
        }
        if (mine->failure) co_return *mine->failure;
        co_return result<void>();
    }

    template <class Answer>
    coro::task<result<Answer>> read(std::function<result<Answer>(run_reader&)> question,
                                    coro::call_context context) {
        return ports::value_of_work<Answer>(
            workers_,
            [question = std::move(question), reader = reader_](const std::atomic<bool>&) {
                return question(*reader);
            },
            context);
    }

    [[nodiscard]] error only_read() const {
        return error(errc::io_error, "run " + options_.folder + " was opened for reading only");
    }

    ports::worker_port& workers_;
    run_store_options options_;
    std::shared_ptr<run_hold> hold_; ///< released after the last write
    std::unique_ptr<run_writer> writer_;
    std::shared_ptr<run_reader> reader_;
    ports::run_totals read_totals_;
    std::atomic<std::uint64_t> emitted_size_;
    std::atomic<output_phase> phase_;
};

result<void> make_folder(const run_store_options& options) {
    const bool makes =
        options.opening == run_opening::create || options.opening == run_opening::create_or_resume;
    if (makes && ::mkdir(options.folder.c_str(), 0700) == 0) return {};
    const int why = makes ? errno : EEXIST;
    struct stat about {};
    if (why == EEXIST && ::stat(options.folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode))
        return {};
    return error(errc::io_error,
                 "run " + options.folder + ": " + std::strerror(why == EEXIST ? ENOENT : why))
        .with_hint(makes ? "the parent folder must exist and be writable"
                         : "check whether the folder is the right one");
}

} // namespace

result<std::unique_ptr<run_store>> open_run_store(ports::worker_port& workers,
                                                  run_store_options options) {
    HEDDLE_CHECK(make_folder(options));
    auto reader = std::make_unique<run_reader>(options.folder);
    std::shared_ptr<run_hold> hold = std::exchange(options.hold, nullptr);
    std::unique_ptr<run_writer> writer;
    run_sums sums;
    if (options.opening == run_opening::read) {
        HEDDLE_TRY(sums, reader->sums());
    } else {
        if (!hold) {
            HEDDLE_TRY(hold, hold_run(options.folder));
        }
        HEDDLE_TRY(run_table_writer tables, run_table_writer::open(options));
        sums = tables.sums();
        writer = std::make_unique<run_writer>(std::move(tables), options);
    }
    return std::unique_ptr<run_store>(std::make_unique<sqlite_run_store>(
        workers, std::move(options), std::move(writer), std::move(hold), std::move(reader), sums));
}

} // namespace heddle::store
