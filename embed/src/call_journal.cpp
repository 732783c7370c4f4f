#include "call_journal.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/failure.hpp>
#include <heddle/rows/row.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace heddle::embed {

namespace {

/// The entry of the manifest by which the journal of a runtime is known.
constexpr const char* kind_entry = "calls of a runtime";
constexpr std::size_t rows_of_a_sweep = 500;
constexpr std::chrono::minutes max_pause{10}; ///< between two sweeps
constexpr std::chrono::seconds pause_between_openings{1};

store::run_durability durability_of(journal_durability wanted) noexcept {
    switch (wanted) {
    case journal_durability::fsync: return store::run_durability::fsync;
    case journal_durability::group: return store::run_durability::group;
    case journal_durability::off: return store::run_durability::off;
    }
    return store::run_durability::group;
}

/// What began or ended before it is too old: milliseconds since 1970.
std::int64_t oldest(std::chrono::nanoseconds keep, const coro::call_context& context) {
    using std::chrono::milliseconds;
    const auto now = context.loop->time_of_day().time_since_epoch();
    return (std::chrono::duration_cast<milliseconds>(now) -
            std::chrono::duration_cast<milliseconds>(keep))
        .count();
}

error closed() { return error(runtime_errc::stopped, "the runtime is shutting down"); }

error in_use(const std::string& tag) {
    return error(
               runtime_errc::tag_in_use,
               "a call with the tag " + json_string(utf8::shortened(tag, 100)) + " is in progress")
        .with_hint("wait for its end; the next call with the tag returns its answer")
        .with_retryable(true);
}

} // namespace

tag_claim& tag_claim::operator=(tag_claim&& other) noexcept {
    if (this == &other) return *this;
    release();
    journal_ = std::exchange(other.journal_, nullptr);
    tag_ = std::move(other.tag_);
    row_ = other.row_;
    is_stored_ = other.is_stored_;
    store_ = std::move(other.store_);
    return *this;
}

void tag_claim::note_begun(const ports::digest128& content) noexcept {
    row_.content = content;
    is_stored_ = true;
    journal_->note_begun(row_);
}

error tag_claim::noted(error failure) const {
    if (failure.code() == errc::io_error) journal_->note_failed(failure);
    return failure;
}

void tag_claim::release() noexcept {
    if (!journal_) return;
    store_.reset(); // first: who claims next finds it free
    std::exchange(journal_, nullptr)->release(row_.id, is_stored_);
}

result<std::unique_ptr<call_journal>> call_journal::open(
    const journal_options& options, const std::vector<coro::event_loop*>& loops) {
    if (options.store && !options.directory.empty()) {
        return error(errc::invalid_argument,
                     "runtime_options::journal has both a directory and a store");
    }
    std::unique_ptr<call_journal> opened(new call_journal(options, loops));
    HEDDLE_TRY(contents found, opened->open_store());
    opened->take(std::move(found));
    return opened;
}

result<call_journal::contents> call_journal::open_store() {
    contents found;
    if (options_.store) {
        found.host = std::make_shared<host_run_store>(options_.store, *workers_);
        found.store = found.host;
        return found;
    }
    store::run_store_options wanted;
    wanted.folder = options_.directory;
    wanted.durability = durability_of(options_.durability);
    HEDDLE_TRY(found.store, store::open_run_store(*workers_, std::move(wanted)));
    boost::asio::io_context here{1};
    coro::event_loop loop(here);
    result<void> outcome;
    std::exception_ptr thrown;
    const auto perform = [](call_journal* self, contents* of, result<void>* into,
                            coro::call_context context) -> coro::task<void> {
        result<void> did = co_await self->read(of, context);
        *into = std::move(did);
    };
    coro::spawn(loop, perform(this, &found, &outcome, {&loop, nullptr, {}}),
                [&](std::exception_ptr why) { thrown = std::move(why); });
    here.run();
    if (thrown) std::rethrow_exception(thrown);
    if (!outcome) return std::move(outcome).error();
    return found;
}

/// What the store has, without what is too old.
coro::task<result<void>> call_journal::read(contents* into, coro::call_context context) {
    store::run_store& store = *into->store;
    result<std::vector<store::manifest_entry>> entries = co_await store.manifest(context);
    if (!entries) co_return std::move(entries).error();
    const bool is_ours = std::any_of(entries->begin(), entries->end(),
                                     [](const auto& each) { return each.name == kind_entry; });
    result<std::vector<ports::known_row>> rows = co_await store.known_rows(context);
    if (!rows) co_return std::move(rows).error();
    if (!is_ours && (!entries->empty() || !rows->empty())) {
        co_return error(errc::invalid_argument, "runtime_options::journal: " + options_.directory +
                                                    " is the directory of another run")
            .with_hint("name a directory of its own");
    }
    if (!is_ours) {
        result<void> noted = store.set_manifest({{kind_entry, "1", {}}});
        if (!noted) co_return noted;
    }
    for (const ports::known_row& each : *rows) {
        into->calls[each.id] = {each.row, each.content, true, false};
        into->next_row = std::max(into->next_row, each.row + 1);
    }
    if (options_.keep == std::chrono::nanoseconds::max()) co_return result<void>();
    rows = co_await store.rows_before(oldest(options_.keep, context), rows->size(), context);
    if (!rows) co_return std::move(rows).error();
    std::vector<std::uint64_t> old;
    for (const ports::known_row& each : *rows) {
        into->calls.erase(each.id);
        old.push_back(each.row);
    }
    co_return old.empty() ? result<void>() : store.forget_rows(std::move(old));
}

void call_journal::take(contents opened) {
    const std::lock_guard held(mutex_);
    store_ = std::move(opened.store);
    host_ = std::move(opened.host);
    calls_ = std::move(opened.calls);
    next_row_ = opened.next_row;
    failure_.reset();
}

void call_journal::note_failed(const error& failure) {
    const std::lock_guard held(mutex_);
    if (host_ && !host_->has_failed()) return; // of the records of one call
    if (!failure_) failure_ = failure;
}

coro::task<void> call_journal::recover(coro::call_context context) {
    const auto now = std::chrono::steady_clock::now();
    // Shared: the work is copied, and the store is to end before it is opened again.
    const auto failed = std::make_shared<std::shared_ptr<store::run_store>>();
    {
        const std::lock_guard held(mutex_);
        const bool is_free = store_ == nullptr || store_.use_count() == (host_ ? 2 : 1);
        if (is_closed_ || !failure_ || !is_free || now < next_opening_) co_return;
        next_opening_ = now + pause_between_openings; // nobody else meanwhile
        host_ = nullptr;
        *failed = std::exchange(store_, nullptr);
    }
    const auto opened = std::make_shared<result<contents>>(contents());
    const ports::worker_port::work open_again = [this, failed, opened](const std::atomic<bool>&) {
        failed->reset();
        *opened = open_store();
    };
    const result<void> ran = co_await workers_->run(open_again, {context.loop, nullptr, {}});
    if (ran && *opened) {
        take(std::move(**opened));
        co_return;
    }
    const std::lock_guard held(mutex_);
    failure_ = ran ? opened->error() : ran.error();
    next_opening_ = std::chrono::steady_clock::now() + pause_between_openings;
}

result<tag_claim> call_journal::claim(const std::string& tag) {
    const ports::digest128 id = rows::digest_of_id(tag);
    const std::lock_guard held(mutex_);
    if (is_closed_) return closed();
    if (failure_) return *failure_;
    if (!store_) return closed();
    const auto [found, is_new] = calls_.try_emplace(id);
    known_call& known = found->second;
    if (known.is_claimed) return in_use(tag);
    if (is_new) known.row = next_row_++;
    if (host_) { // what it has is found out when it is read
        host_->name_row(known.row, tag);
        known.is_stored = true;
    }
    known.is_claimed = true;
    ports::known_row row;
    row.row = known.row;
    row.id = id;
    row.content = known.content;
    return tag_claim(*this, tag, row, known.is_stored, store_);
}

void call_journal::note_begun(const ports::known_row& row) noexcept {
    const std::lock_guard held(mutex_);
    const auto found = calls_.find(row.id);
    if (found == calls_.end()) return;
    found->second.content = row.content;
    found->second.is_stored = true;
}

void call_journal::release(const ports::digest128& tag, bool is_stored) noexcept {
    const std::lock_guard held(mutex_);
    const auto found = calls_.find(tag);
    if (found == calls_.end()) return;
    found->second.is_claimed = false;
    if (host_) host_->let_go(found->second.row);
    if (!is_stored || host_) calls_.erase(found);
}

/// The tag is claimed meanwhile, since the host may take its time.
result<bool> call_journal::forget_in_host(const std::string& tag) {
    HEDDLE_TRY(const tag_claim claimed, claim(tag));
    return static_cast<host_run_store&>(claimed.store()).forget(tag);
}

result<bool> call_journal::forget(const std::string& tag) {
    if (options_.store) return forget_in_host(tag);
    const std::lock_guard held(mutex_);
    if (is_closed_) return closed();
    if (failure_) return *failure_;
    const auto found = calls_.find(rows::digest_of_id(tag));
    if (found == calls_.end()) return false;
    if (found->second.is_claimed) return in_use(tag);
    HEDDLE_CHECK(store_->forget_rows({found->second.row}));
    calls_.erase(found);
    return true;
}

bool call_journal::begin_sweep() {
    if (options_.store || options_.keep == std::chrono::nanoseconds::max()) return false;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard held(mutex_);
    if (!store_ || now < next_sweep_) return false;
    next_sweep_ = now + std::min<std::chrono::nanoseconds>(options_.keep / 8, max_pause);
    return true;
}

std::size_t call_journal::forget_rows(const std::vector<ports::known_row>& rows) {
    const std::lock_guard held(mutex_);
    std::vector<std::uint64_t> old;
    for (const ports::known_row& each : rows) {
        const auto found = calls_.find(each.id);
        const bool is_known = found != calls_.end() && found->second.row == each.row;
        if (is_known && found->second.is_claimed) continue; // it is being worked on
        if (is_known) calls_.erase(found);
        old.push_back(each.row);
    }
    const std::size_t count = old.size();
    if (store_ && count != 0) (void)store_->forget_rows(std::move(old)); // or a later sweep does
    return count;
}

coro::task<void> call_journal::sweep(coro::call_context context) {
    if (!begin_sweep()) co_return;
    std::shared_ptr<store::run_store> held;
    {
        const std::lock_guard locked(mutex_);
        held = store_;
    }
    if (!held) co_return;
    const result<std::vector<ports::known_row>> rows =
        co_await held->rows_before(oldest(options_.keep, context), rows_of_a_sweep, context);
    if (!rows) co_return;
    const std::size_t count = forget_rows(*rows);
    if (count < rows_of_a_sweep) co_return;
    const std::lock_guard locked(mutex_);
    next_sweep_ = {}; // there are more
}

coro::task<void> call_journal::close(coro::call_context context) {
    std::shared_ptr<store::run_store> last;
    {
        const std::lock_guard held(mutex_);
        is_closed_ = true;
        host_ = nullptr;
        last = std::exchange(store_, nullptr);
    }
    if (!last) co_return;
    (void)co_await last->flush(context);
    last.reset(); // before the workers
    workers_.reset();
}

} // namespace heddle::embed
