#include "batch/threads/row_worker.hpp"

#include "service_options.hpp"

#include <heddle/base/detached_error.hpp>
#include <heddle/coro/run_on.hpp>

#include <system_error>
#include <utility>

namespace heddle::cli {

row_worker::row_worker(const parts& of)
    : of_(of), home_(of.home.loop().address()), loop_(context_), observer_(&of.counter),
      imports_(home_, of.home.imported()) {}

result<std::unique_ptr<row_worker>> row_worker::start(const parts& of) {
    std::unique_ptr<row_worker> object(new row_worker(of));
    HEDDLE_CHECK(object->open());
    object->busy_.emplace(object->context_.get_executor());
    try {
        object->thread_ = std::thread([&context = object->context_] { context.run(); });
    } catch (const std::system_error& thrown) {
        return error(thrown.code(), "no thread for rows could be started")
            .with_hint("--threads with a lower number, or a higher limit of processes");
    }
    return object;
}

row_worker::~row_worker() {
    if (!thread_.joinable()) return;
    context_.stop();
    thread_.join();
}

result<void> row_worker::open() {
    static const parking_slot without_batches;
    setup::service_set_options asked =
        service_options(of_.program.name, of_.options, of_.variables, without_batches);
    asked.home = &of_.home.services();
    asked.index_file.reset(); // written by one thread
    HEDDLE_TRY(services_,
               setup::service_set::create(loop_, of_.home.engine().log(), std::move(asked)));
    tasks::task_system_parts tasks = services_->task_parts();
    add_row_parts(of_.options, tasks);

    host::engine_parts parts = services_->engine_parts();
    parts.imports = &imports_;
    parts.print = of_.home.print();
    const auto wait_in = [this](output_room& room) {
        return [home = home_, room = &room](coro::call_context context) {
            return coro::run_on(home, context,
                                [room](coro::call_context there) { return room->wait(there); });
        };
    };
    parts.print_room = wait_in(of_.home.room_to_print());
    parts.log_room = wait_in(of_.home.room_to_log());
    parts.operators = [this, shared = std::make_shared<const tasks::task_system_parts>(
                                 std::move(tasks))](host::session& session) {
        tasks::session_parts own(*shared);
        own.observer = observer_;
        return std::make_unique<tasks::session_tasks>(session, shared, own);
    };
    engine_ = std::make_unique<host::engine>(loop_, std::move(parts));
    sessions_.emplace(row_place{*engine_, services_->bounds(), of_.counter, observer_}, of_.program,
                      of_.loaded.notes());
    return {};
}

coro::task<result<void>> row_worker::load(coro::call_context context) {
    return coro::run_on(loop_.address(), context,
                        [this](coro::call_context there) { return load_here(there); });
}

coro::task<result<row_outcome>> row_worker::attempt(rows::row row, std::uint64_t seed,
                                                    std::shared_ptr<setup::row_log> steps,
                                                    coro::deadline until,
                                                    coro::call_context context) {
    class counted_row {
    public:
        explicit counted_row(std::size_t& rows) : rows_(rows) { ++rows_; }
        ~counted_row() { --rows_; }
        counted_row(const counted_row&) = delete;
        counted_row& operator=(const counted_row&) = delete;

    private:
        std::size_t& rows_;
    } const counted(rows_);
    std::shared_ptr<row_log_link> link;
    if (steps) link = std::make_shared<row_log_link>(home_, std::move(steps));
    coro::task<result<row_outcome>> work =
        coro::run_on(loop_.address(), context,
                     [this, row = std::move(row), seed, link = std::move(link),
                      until](coro::call_context there) {
                         return attempt_here(&row, seed, link.get(), until, there);
                     });
    result<row_outcome> outcome = co_await std::move(work);
    co_return outcome;
}

coro::task<result<void>> row_worker::close() {
    const coro::call_context context{&of_.home.loop(), nullptr, {}};
    return coro::run_on(loop_.address(), context,
                        [this](coro::call_context) { return close_here(); });
}

coro::task<result<void>> row_worker::load_here(coro::call_context context) {
    result<std::unique_ptr<row_session>> first = co_await sessions_->open(context);
    if (!first) {
        if (!first.error().is_cancelled()) load_failure_ = sessions_->last_failure();
        co_return detached_error(first.error());
    }
    sessions_->end_loading();
    co_return result<void>();
}

coro::task<result<row_outcome>> row_worker::attempt_here(const rows::row* row, std::uint64_t seed,
                                                         row_log_link* steps, coro::deadline until,
                                                         coro::call_context context) {
    row_outcome outcome;
    result<std::unique_ptr<row_session>> taken = co_await sessions_->open(context);
    if (!taken) {
        if (!context.cancelled()) co_return detached_error(taken.error());
        outcome.what = row_outcome::kind::cancelled;
        co_return outcome;
    }
    host::run_options bounds = services_->bounds();
    bounds.cancel = context.cancel;
    bounds.until = until;
    bounds.random_seed = seed;
    bounds.steps = steps;
    outcome = co_await attempt_row(taken->get(), &of_.binding, row, bounds);
    taken = std::unique_ptr<row_session>();
    if (steps && steps->is_parked() && outcome.what == row_outcome::kind::failed)
        outcome.what = row_outcome::kind::waiting;
    co_return outcome;
}

coro::task<result<void>> row_worker::close_here() {
    sessions_.reset();
    engine_.reset();
    co_await services_->close();
    co_return result<void>();
}

} // namespace heddle::cli
