#include <heddle/memory/memory_system.hpp>

#include <heddle/base/utf8.hpp>

#include "memory/shared_index.hpp"
#include "memory/snapshot.hpp"
#include "memory/walk/file_text.hpp"

#include <algorithm>
#include <filesystem>

namespace heddle::memory {

namespace {

// One piece of work: short enough that a look-up does not wait long for the lock or a thread.
constexpr std::size_t batch_files = 64;
constexpr std::uint64_t batch_bytes = 2 * 1024 * 1024;

/// The result of a piece of work, kept by both sides.
template <class T>
using box = std::shared_ptr<std::optional<result<T>>>;
template <class T>
[[nodiscard]] box<T> make_box() {
    return std::make_shared<std::optional<result<T>>>();
}

/// The value of a box after its work, or why there is none.
template <class T>
[[nodiscard]] result<T> opened(const result<void>& ran, const box<T>& content) {
    if (!ran) return ran.error();
    if (!*content) return error(errc::internal, "a piece of work has no result");
    return std::move(**content);
}

[[nodiscard]] std::size_t batch_end(const std::vector<found_file>& files, std::size_t from) {
    std::uint64_t bytes = 0;
    std::size_t to = from;
    while (to < files.size() && to - from < batch_files && (to == from || bytes < batch_bytes)) {
        bytes += files[to++].stamp.bytes;
    }
    return to;
}

[[nodiscard]] result<void> check_described(described_file& file) {
    if (!file.path.starts_with('/')) {
        return error(errc::invalid_argument,
                     "the memory takes absolute paths only, not \"" + file.path + "\"");
    }
    if (!utf8::is_valid(file.path) || !utf8::is_valid(file.metadata) ||
        file.path.find('\0') != std::string::npos) {
        return error(errc::invalid_argument, "a path or its description is not UTF-8 text");
    }
    if (file.metadata.size() > max_metadata_bytes) {
        return error(errc::limit_exceeded, "the description of \"" + file.path +
                                               "\" is longer than " +
                                               std::to_string(max_metadata_bytes) + " bytes");
    }
    file.path = std::filesystem::path(file.path).lexically_normal().string();
    return {};
}

[[nodiscard]] std::string reported(const index_report& report, std::chrono::milliseconds took) {
    std::string text = "indexed " + report.root + ": ";
    const auto count = [&](std::size_t number, std::string_view what) {
        if (number != 0) text += std::to_string(number) + " " + std::string(what) + ", ";
    };
    count(report.added, "added");
    count(report.updated, "updated");
    count(report.removed, "removed");
    count(report.unchanged, "unchanged");
    count(report.skipped_binary, "binary");
    count(report.skipped_large, "too large");
    return text + std::to_string(took.count()) + " ms";
}

// Jobs are made in plain functions: what a lambda captures inside of a co_await expression is
// destroyed twice by g++ 12.

using work = ports::worker_port::work;
using index_handle = std::shared_ptr<shared_index>;

[[nodiscard]] work plan_job(index_handle index, box<shared_index::plan> into,
                            std::shared_ptr<const index_options> wanted, bool repository) {
    return [index, into, wanted, repository](const std::atomic<bool>& abandoned) {
        into->emplace(index->make_plan(*wanted, repository, abandoned));
    };
}

[[nodiscard]] work read_job(index_handle index, std::shared_ptr<const shared_index::plan> object,
                            std::shared_ptr<index_report> report, std::size_t from,
                            std::size_t to) {
    return [index, object, report, from, to](const std::atomic<bool>& abandoned) {
        index->read_files(*object, from, to, *report, abandoned);
    };
}

[[nodiscard]] work remove_job(index_handle index,
                              std::shared_ptr<const shared_index::plan> object) {
    return [index, object](const std::atomic<bool>&) { index->remove(object->gone); };
}

[[nodiscard]] work describe_job(index_handle index, std::vector<described_file> files) {
    auto given = std::make_shared<std::vector<described_file>>(std::move(files));
    return [index, given](const std::atomic<bool>&) { index->describe(std::move(*given)); };
}

[[nodiscard]] work response_job(index_handle index, box<ports::memory_response> into,
                                ports::memory_request request, std::size_t default_limit) {
    auto asked = std::make_shared<const ports::memory_request>(std::move(request));
    return [index, into, asked, default_limit](const std::atomic<bool>&) {
        into->emplace(index->answer(*asked, default_limit));
    };
}

[[nodiscard]] work save_job(index_handle index, box<void> into, std::string file) {
    return [index, into, file](const std::atomic<bool>&) { into->emplace(index->save(file)); };
}

[[nodiscard]] work load_job(index_handle index, box<void> into, std::string file) {
    return [index, into, file](const std::atomic<bool>&) { into->emplace(index->load(file)); };
}

[[nodiscard]] work keep_job(index_handle index, box<std::size_t> into,
                            std::vector<std::string> roots) {
    return [index, into, roots = std::move(roots)](const std::atomic<bool>&) {
        into->emplace(index->keep_below(roots));
    };
}

[[nodiscard]] work size_job(index_handle index, box<std::size_t> into) {
    return [index, into](const std::atomic<bool>&) { into->emplace(index->size()); };
}

} // namespace

struct memory_system::shared : shared_index {
    using shared_index::shared_index;
};

struct memory_system::plan : shared_index::plan {};

memory_system::memory_system(ports::worker_port& workers,
                             std::shared_ptr<const ports::tree_port> tree, memory_options options)
    : workers_(workers), options_(std::move(options)),
      shared_(std::make_shared<shared>(std::move(tree))) {}

memory_system::~memory_system() = default;

bool is_unusable_index(const error& failure) noexcept {
    return dynamic_cast<const unusable_index*>(failure.info().payload.get()) != nullptr;
}

void memory_system::say(log_level level, const std::string& line) const {
    if (options_.log && options_.log->enabled(level)) options_.log->write(level, "memory", line);
}

coro::task<result<void>> memory_system::update_index(std::vector<described_file> files,
                                                     coro::call_context context) {
    for (described_file& file : files) {
        if (auto fits = check_described(file); !fits) co_return std::move(fits).error();
    }
    work job = describe_job(shared_, std::move(files));
    result<void> ran = co_await workers_.run(std::move(job), context);
    co_return ran;
}

coro::task<result<index_report>> memory_system::index_directory(index_options options,
                                                                coro::call_context context) {
    return index(std::move(options), false, context);
}

coro::task<result<index_report>> memory_system::index_git_repository(index_options options,
                                                                     coro::call_context context) {
    return index(std::move(options), true, context);
}

coro::task<result<index_report>> memory_system::index(index_options options, bool repository,
                                                      coro::call_context context) {
    result<void> turn = co_await indexing_.acquire(context);
    if (!turn) co_return std::move(turn).error();
    const coro::held_permit held(indexing_);
    result<index_report> ended = co_await index_locked(std::move(options), repository, context);
    co_return ended;
}

/// Finds out on a worker what has to be read.
coro::task<result<std::shared_ptr<memory_system::plan>>> memory_system::make_plan(
    index_options options, bool repository, coro::call_context context) {
    const auto wanted = std::make_shared<const index_options>(std::move(options));
    const auto planned = make_box<shared_index::plan>();
    work job = plan_job(shared_, planned, wanted, repository);
    const result<void> ran = co_await workers_.run(std::move(job), context);
    auto outcome = opened(ran, planned);
    if (!outcome) co_return std::move(outcome).error();
    co_return std::make_shared<plan>(plan{*std::move(outcome)});
}

coro::task<result<index_report>> memory_system::index_locked(index_options options, bool repository,
                                                             coro::call_context context) {
    const auto began = context.loop->now();
    // It stays on the loop: what it holds may not be for other threads.
    const auto on_progress = std::move(options.on_progress);
    options.on_progress = nullptr;
    result<std::shared_ptr<plan>> planned =
        co_await make_plan(std::move(options), repository, context);
    if (!planned) co_return planned.error();
    // While a piece of work runs, plan and report are the worker's.
    const std::shared_ptr<plan> object = std::move(*planned);
    const auto report = std::make_shared<index_report>(std::move(object->report));
    const std::size_t total = object->to_read.size();
    work job;
    for (std::size_t from = 0; from < total;) {
        const std::size_t to = batch_end(object->to_read, from);
        job = read_job(shared_, object, report, from, to);
        const result<void> read = co_await workers_.run(std::move(job), context);
        if (!read) co_return read.error();
        from = to;
        if (on_progress) on_progress({from, total});
    }
    if (!object->gone.empty()) {
        job = remove_job(shared_, object);
        const result<void> dropped = co_await workers_.run(std::move(job), context);
        if (!dropped) co_return dropped.error();
        report->removed += object->gone.size();
    }
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(context.loop->now() - began);
    say(report->changed() ? log_level::info : log_level::debug, reported(*report, took));
    for (const std::string& warning : report->warnings) say(log_level::warn, warning);
    co_return std::move(*report);
}

coro::task<result<ports::memory_response>> memory_system::relevant_files(
    ports::memory_request request, coro::call_context context) {
    if (!options_.roots.empty()) {
        result<void> ready = co_await refresh_roots(context);
        if (!ready) co_return std::move(ready).error();
    }
    const auto response = make_box<ports::memory_response>();
    work job = response_job(shared_, response, std::move(request), options_.default_limit);
    const result<void> ran = co_await workers_.run(std::move(job), context);
    co_return opened(ran, response);
}

bool memory_system::is_fresh(const coro::call_context& context) const {
    return refreshed_ && context.loop->now() - *refreshed_ < options_.refresh_after;
}

coro::task<result<void>> memory_system::refresh_roots(coro::call_context context) {
    if (is_fresh(context)) co_return result<void>();
    result<void> turn = co_await indexing_.acquire(context);
    if (!turn) co_return std::move(turn).error();
    const coro::held_permit held(indexing_);
    // Another look-up may have done it meanwhile.
    result<void> ended;
    if (!is_fresh(context)) ended = co_await refresh_locked(context);
    co_return ended;
}

/// Reads the index file, if there is one, and drops what it holds of other directories than the
/// roots. Returns how many files were dropped.
coro::task<result<std::size_t>> memory_system::open_index_file(coro::call_context context) {
    const result<void> loaded = co_await load(options_.index_file, context);
    if (!loaded) {
        const bool absent = loaded.error().code() == make_error_code(errc::not_found);
        // What is none of ours, or cannot be looked at, is not replaced.
        if (!absent && !is_unusable_index(loaded.error())) co_return loaded.error();
        if (!absent) {
            say(log_level::warn,
                options_.index_file + ": " + loaded.error().message() + "; a new one is created");
        }
        co_return std::size_t{0};
    }
    std::vector<std::string> roots;
    for (const index_options& root : options_.roots) roots.push_back(root.root);
    const result<std::size_t> dropped = co_await keep_below(std::move(roots), context);
    if (dropped && *dropped != 0) {
        say(log_level::info, options_.index_file + ": dropped " + std::to_string(*dropped) +
                                 (*dropped == 1 ? " file" : " files") + " of other directories");
    }
    co_return dropped;
}

coro::task<result<void>> memory_system::refresh_locked(coro::call_context context) {
    bool changed = false;
    if (!opened_ && !options_.index_file.empty()) {
        const result<std::size_t> dropped = co_await open_index_file(context);
        if (!dropped) co_return dropped.error();
        changed = *dropped != 0;
    }
    opened_ = true;
    if (!refreshed_) say(log_level::info, "indexing " + options_.roots.front().root);
    for (const index_options& root : options_.roots) {
        result<index_report> report = co_await index_locked(root, false, context);
        if (!report) co_return std::move(report).error();
        changed = changed || report->changed();
    }
    refreshed_ = context.loop->now();
    if (changed && !options_.index_file.empty()) {
        const result<void> saved = co_await save(options_.index_file, context);
        if (!saved && saved.error().is_cancelled()) co_return saved;
        if (!saved) say(log_level::warn, "the index is not stored: " + saved.error().message());
    }
    co_return result<void>();
}

coro::task<result<void>> memory_system::save(std::string file, coro::call_context context) {
    const auto saved = make_box<void>();
    work job = save_job(shared_, saved, std::move(file));
    const result<void> ran = co_await workers_.run(std::move(job), context);
    co_return opened(ran, saved);
}

coro::task<result<void>> memory_system::load(std::string file, coro::call_context context) {
    const auto loaded = make_box<void>();
    work job = load_job(shared_, loaded, std::move(file));
    const result<void> ran = co_await workers_.run(std::move(job), context);
    co_return opened(ran, loaded);
}

coro::task<result<std::size_t>> memory_system::keep_below(std::vector<std::string> roots,
                                                          coro::call_context context) {
    const auto dropped = make_box<std::size_t>();
    work job = keep_job(shared_, dropped, std::move(roots));
    const result<void> ran = co_await workers_.run(std::move(job), context);
    co_return opened(ran, dropped);
}

coro::task<result<std::size_t>> memory_system::size(coro::call_context context) {
    const auto counted = make_box<std::size_t>();
    work job = size_job(shared_, counted);
    const result<void> ran = co_await workers_.run(std::move(job), context);
    co_return opened(ran, counted);
}

} // namespace heddle::memory
