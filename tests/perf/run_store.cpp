// What a journal costs: rows append records at the same time, with each durability.
//
//   bench_run_store [RECORDS]
//
// Prints milliseconds a record and bytes of disk a record; then the time to know a million rows.
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/store/run_store.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace heddle {
namespace {

namespace stdfs = std::filesystem;
using coro::clock;

double milliseconds(clock::duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

struct bench {
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop, 1);

    void run(coro::task<void> work) {
        coro::spawn(loop, std::move(work), [](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
        });
        io.restart();
        io.run();
    }
};

ports::step_record record_of(std::uint64_t number) {
    ports::step_record record;
    record.path = {number * 0x9E3779B97F4A7C15ULL, number};
    record.content = {number, number * 0xBF58476D1CE4E5B9ULL};
    record.name = "classify";
    record.body = R"({"status":"COMPLETE","content":"category )" + std::to_string(number % 50) +
                  R"(","notes":{"reason":"its description names it"}})" +
                  std::string(number % 200, 'x');
    record.spent.requests = 1;
    return record;
}

coro::task<result<void>> write_row(store::run_store& store, std::uint64_t row, std::uint64_t many,
                                   coro::call_context context) {
    for (std::uint64_t i = 0; i < many; ++i) {
        auto kept = co_await store.append(row, record_of(row * many + i), context);
        if (!kept) co_return kept;
    }
    co_return result<void>();
}

coro::task<void> write_all(bench& here, store::run_store& store, std::uint64_t rows,
                           std::uint64_t each) {
    coro::nursery all(coro::call_context{&here.loop, nullptr, {}});
    for (std::uint64_t row = 0; row < rows; ++row)
        all.start(write_row(store, row, each, all.context()));
    auto ended = co_await all.join();
    if (ended) ended = co_await store.flush({&here.loop, nullptr, {}});
    if (!ended) std::printf("%s\n", ended.error().message().c_str());
}

coro::task<void> write_rows(bench& here, store::run_store& store, std::uint64_t rows) {
    for (std::uint64_t row = 0; row < rows; ++row) {
        (void)store.begin_row({row, {row, 1}, {row, 2}, {}, false}, std::to_string(row),
                              R"({"name":"package","text":"a description"})");
        if (row % 10'000 == 0) (void)co_await store.flush({&here.loop, nullptr, {}});
    }
}

coro::task<void> know_rows(bench& here, store::run_store& store) {
    const auto known = co_await store.known_rows({&here.loop, nullptr, {}});
    std::printf("known rows: %zu\n", known ? known->size() : 0);
}

std::unique_ptr<store::run_store> open(bench& here, const stdfs::path& folder,
                                       store::run_durability durability) {
    store::run_store_options options;
    options.folder = folder.string();
    options.durability = durability;
    return store::open_run_store(*here.workers, std::move(options)).value();
}

void measure(const stdfs::path& above, const char* name, store::run_durability durability,
             std::uint64_t rows, std::uint64_t records) {
    const stdfs::path folder = above / (std::string(name) + std::to_string(rows));
    const std::uint64_t each = records / rows;
    bench here;
    double took = 0;
    {
        const auto store = open(here, folder, durability);
        const auto began = clock::now();
        here.run(write_all(here, *store, rows, each));
        took = milliseconds(clock::now() - began);
    }
    const double many = static_cast<double>(each * rows);
    std::printf("%-6s %5llu rows: %8.4f ms a record, %6.1f bytes a record\n", name,
                static_cast<unsigned long long>(rows), took / many,
                static_cast<double>(stdfs::file_size(folder / "run.db")) / many);
    std::fflush(stdout);
}

} // namespace
} // namespace heddle

int main(int count, char** words) {
    using namespace heddle;
    const std::uint64_t records = count > 1 ? std::strtoull(words[1], nullptr, 10) : 100'000;
    std::string name = (stdfs::temp_directory_path() / "heddle-bench-XXXXXX").string();
    if (!::mkdtemp(name.data())) return 1;
    const stdfs::path above = name;
    using store::run_durability;
    const std::pair<const char*, run_durability> all[] = {{"fsync", run_durability::fsync},
                                                          {"group", run_durability::group},
                                                          {"off", run_durability::off}};
    for (const auto& [durability, how] : all) {
        for (const std::uint64_t rows : {1, 64, 1000}) {
            // One row alone waits for each of its records.
            measure(above, durability, how, rows, rows == 1 ? records / 100 : records);
        }
    }
    bench here;
    {
        const auto store = open(here, above / "rows", run_durability::off);
        here.run(write_rows(here, *store, 1'000'000));
    }
    const auto store = open(here, above / "rows", run_durability::off);
    const auto began = clock::now();
    here.run(know_rows(here, *store));
    std::printf("in %.0f ms\n", milliseconds(clock::now() - began));
    std::error_code ignored;
    stdfs::remove_all(above, ignored);
}
