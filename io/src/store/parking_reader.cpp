#include <heddle/store/run_parking.hpp>

#include "store/packed_text.hpp"
#include "store/run_file.hpp"

#include <heddle/ports/value_of_work.hpp>

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

namespace heddle::store {

namespace {

std::uint64_t count_in(const sqlite_statement& asked, int column) {
    return static_cast<std::uint64_t>(asked.number(column));
}

/// All but the body, from eight columns and those of the spending.
constexpr const char* call_columns =
    "number, row, path, content, service, model, tries, batch, requests, input_tokens, "
    "output_tokens, cost, unpriced, estimated";

parked_call call_in(const sqlite_statement& asked) {
    parked_call call;
    call.number = count_in(asked, 0);
    call.row = count_in(asked, 1);
    call.path = digest_in(asked.bytes(2));
    call.content = digest_in(asked.bytes(3));
    call.service = asked.bytes(4);
    call.model = asked.bytes(5);
    call.tries = static_cast<std::uint32_t>(asked.number(6));
    call.batch = count_in(asked, 7);
    call.least = spending_in(asked, 8);
    return call;
}

} // namespace

/// One connection, which the first question opens. Threads: any; one question at a time.
class parking_reader::tables {
public:
    explicit tables(std::string folder) : folder_(std::move(folder)) {}

    result<std::vector<std::uint64_t>> rows() {
        std::vector<std::uint64_t> found;
        HEDDLE_CHECK(each(
            "SELECT DISTINCT row FROM parked_calls ORDER BY row", [](auto&) {},
            [&](sqlite_statement& asked) -> result<bool> {
                found.push_back(count_in(asked, 0));
                return true;
            }));
        return found;
    }
    result<parking_sums> sums() {
        parking_sums found;
        HEDDLE_CHECK(each(
            "SELECT batch = 0, count(*), sum(requests), sum(input_tokens), "
            "sum(output_tokens), sum(cost), sum(unpriced), max(estimated) FROM parked_calls "
            "GROUP BY batch = 0",
            [](auto&) {},
            [&](sqlite_statement& asked) -> result<bool> {
                (asked.number(0) != 0 ? found.collected : found.submitted) = count_in(asked, 1);
                found.least += spending_in(asked, 2);
                return true;
            }));
        return found;
    }
    result<std::vector<call_group>> groups() {
        std::vector<call_group> found;
        HEDDLE_CHECK(each(
            "SELECT service, model, count(*), sum(size) FROM parked_calls "
            "WHERE batch = 0 GROUP BY service, model",
            [](auto&) {},
            [&](sqlite_statement& asked) -> result<bool> {
                found.push_back({std::string(asked.bytes(0)), std::string(asked.bytes(1)),
                                 count_in(asked, 2), count_in(asked, 3)});
                return true;
            }));
        return found;
    }
    result<std::vector<parked_call>> calls_of_group(const call_group& group, std::size_t max_calls,
                                                    std::size_t max_bytes, std::size_t overhead) {
        std::vector<parked_call> found;
        std::size_t bytes = 0;
        HEDDLE_CHECK(each(
            std::string("SELECT ") + call_columns +
                ", body FROM parked_calls WHERE batch = 0 AND service = ? AND "
                "model = ? ORDER BY number LIMIT ?",
            [&](sqlite_statement& asked) {
                asked.bind_text(group.service).bind_text(group.model).bind(key_of(max_calls));
            },
            [&](sqlite_statement& asked) -> result<bool> {
                parked_call call = call_in(asked);
                HEDDLE_TRY(call.body, unpack_text(asked.bytes(14)));
                bytes += call.body.size() + overhead;
                if (bytes > max_bytes && !found.empty()) return false;
                found.push_back(std::move(call));
                return true;
            }));
        return found;
    }
    result<std::vector<parked_call>> calls_of_batch(std::uint64_t batch) {
        std::vector<parked_call> found;
        HEDDLE_CHECK(each(
            std::string("SELECT ") + call_columns +
                " FROM parked_calls WHERE batch = ? ORDER BY number",
            [&](sqlite_statement& asked) { asked.bind(key_of(batch)); },
            [&](sqlite_statement& asked) -> result<bool> {
                found.push_back(call_in(asked));
                return true;
            }));
        return found;
    }
    result<std::vector<parked_batch>> batches() {
        std::vector<parked_batch> found;
        HEDDLE_CHECK(each(
            "SELECT number, phase, service, model, mark, id, at, calls, answered, "
            "failed, state, too_large FROM parked_batches ORDER BY number",
            [](auto&) {},
            [&](sqlite_statement& asked) -> result<bool> {
                parked_batch batch;
                batch.number = count_in(asked, 0);
                batch.phase = static_cast<batch_phase>(asked.number(1));
                batch.service = asked.bytes(2);
                batch.model = asked.bytes(3);
                batch.mark = asked.bytes(4);
                batch.id = asked.bytes(5);
                batch.at = asked.number(6);
                batch.calls = count_in(asked, 7);
                batch.answered = count_in(asked, 8);
                batch.failed = count_in(asked, 9);
                batch.state = asked.bytes(10);
                batch.was_too_large = asked.number(11) != 0;
                found.push_back(std::move(batch));
                return true;
            }));
        return found;
    }

private:
    /// `take` returns whether it wants more.
    template <class Bind, class Take>
    result<void> each(const std::string& question, Bind&& bind, Take&& take) {
        const std::lock_guard held(lock_);
        const auto ask = [&]() -> result<void> {
            if (!database_) {
                HEDDLE_TRY(sqlite_database opened, open_to_read(folder_));
                database_.emplace(std::move(opened));
            }
            if (!is_there_) {
                HEDDLE_TRY(sqlite_statement looked,
                           database_->prepare("SELECT 1 FROM sqlite_schema WHERE "
                                              "name = 'parked_batches'"));
                HEDDLE_TRY(is_there_, looked.step());
                if (!is_there_) return {}; // a run of an earlier version: nothing is parked
            }
            HEDDLE_TRY(sqlite_statement asked, database_->prepare(question));
            bind(asked.begin());
            for (;;) {
                HEDDLE_TRY(const bool there, asked.step());
                if (!there) return {};
                HEDDLE_TRY(const bool more, take(asked));
                if (!more) return {};
            }
        };
        auto asked = ask();
        if (!asked) return in_run(folder_, std::move(asked).error());
        return {};
    }

    std::string folder_;
    std::mutex lock_;
    std::optional<sqlite_database> database_;
    bool is_there_ = false;
};

parking_reader::parking_reader(ports::worker_port& workers, std::string folder)
    : workers_(workers), tables_(std::make_shared<tables>(std::move(folder))) {}
parking_reader::~parking_reader() = default;

template <class Answer>
coro::task<result<Answer>> parking_reader::read(std::function<result<Answer>(tables&)> question,
                                                coro::call_context context) {
    return ports::value_of_work<Answer>(
        workers_,
        [question = std::move(question), from = tables_](const std::atomic<bool>&) {
            return question(*from);
        },
        context);
}

coro::task<result<std::vector<std::uint64_t>>> parking_reader::rows(coro::call_context context) {
    return read<std::vector<std::uint64_t>>([](tables& from) { return from.rows(); }, context);
}
coro::task<result<parking_sums>> parking_reader::sums(coro::call_context context) {
    return read<parking_sums>([](tables& from) { return from.sums(); }, context);
}
coro::task<result<std::vector<call_group>>> parking_reader::groups(coro::call_context context) {
    return read<std::vector<call_group>>([](tables& from) { return from.groups(); }, context);
}
coro::task<result<std::vector<parked_call>>> parking_reader::calls_of_group(
    call_group group, std::size_t max_calls, std::size_t max_bytes, std::size_t overhead,
    coro::call_context context) {
    return read<std::vector<parked_call>>(
        [=](tables& from) { return from.calls_of_group(group, max_calls, max_bytes, overhead); },
        context);
}
coro::task<result<std::vector<parked_call>>> parking_reader::calls_of_batch(
    std::uint64_t batch, coro::call_context context) {
    return read<std::vector<parked_call>>(
        [batch](tables& from) { return from.calls_of_batch(batch); }, context);
}
coro::task<result<std::vector<parked_batch>>> parking_reader::batches(coro::call_context context) {
    return read<std::vector<parked_batch>>([](tables& from) { return from.batches(); }, context);
}

} // namespace heddle::store
