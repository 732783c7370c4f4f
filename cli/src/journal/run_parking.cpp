#include "journal/run_parking.hpp"

#include <utility>

namespace heddle::cli {

namespace {

constexpr std::uint64_t row_number = 0; // of the only row

} // namespace

void run_parking::attach(kept_run& run, application& tools, std::function<void(std::string)> say,
                         coro::cancel_source& cancel) {
    run_ = &run;
    tools_ = &tools;
    cancel_ = &cancel;
    say_ = std::move(say);
    run.set_on_journal([this](store::run_store& journal, ports::worker_port& workers) {
        return begin(journal, workers);
    });
}

coro::task<result<void>> run_parking::begin(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    store::run_store& journal, ports::worker_port& workers) {
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    parking_request how;
    how.folder = run_->folder();
    how.has_parked = run_->manifest().has_parked;
    how.submits_again = true;
    batches_.emplace(parked_run::parts{tools_->parking(), tools_->models().batches(),
                                       tools_->prices(), std::move(how), journal, workers, say_,
                                       [run = run_] { return run->note_parking(); }});
    if (cancels_) batches_->cancel_batches();
    const coro::call_context context{&tools_->loop(), cancel_, {}};
    result<void> begun = co_await batches_->begin(context);
    co_return begun;
}

bool run_parking::holds_run() const noexcept {
    return batches_ && (cancels_ || batches_->lot().waits(row_number));
}

coro::task<result<void>> run_parking::end(bool stopped, coro::call_context context) {
    if (!batches_) co_return result<void>();
    waits_ = !stopped && (holds_run() || run_->is_parked());
    if (!waits_ && !stopped) {
        if (auto forgotten = batches_->lot().forget(row_number); !forgotten) co_return forgotten;
    }
    if (!waits_) co_return result<void>();
    result<void> ended = co_await batches_->end(context);
    open_calls_ = batches_->lot().open_calls();
    open_batches_ = batches_->batches();
    problems_ = batches_->problems();
    waits_ = ended.has_value();
    co_return ended;
}

} // namespace heddle::cli
