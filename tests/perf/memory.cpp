// What the memory costs: a generated tree is indexed, asked, saved and opened again.
//
//   bench_memory [FILES] [WORDS]
//   bench_memory /a/real/tree QUERY...
//
// A real tree is only read; its index is kept in a temporary folder.
// While it indexes, a timer on the loop measures the longest time for which the loop did not come
// round: nothing of the indexing may run there.
#include "generated_words.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/memory/memory_system.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heddle {
namespace {

namespace stdfs = std::filesystem;
using clock = coro::clock;

double milliseconds(clock::duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

/// Resident memory in MB.
double resident() {
    std::ifstream in("/proc/self/statm");
    double pages = 0;
    in >> pages >> pages;
    return pages * 4096 / 1e6;
}

double generate(const stdfs::path& root, int files, int words) {
    vocabulary source;
    double bytes = 0;
    for (int i = 0; i < files; ++i) {
        const stdfs::path folder =
            root / ("d" + std::to_string(i / 1000)) / ("e" + std::to_string(i / 50 % 20));
        if (i % 50 == 0) stdfs::create_directories(folder);
        std::string text;
        for (int k = 0; k < words; ++k) text += source.next() + (k % 8 == 7 ? "\n" : " ");
        std::ofstream(folder / (source.next() + std::to_string(i) + ".cpp")) << text;
        bytes += static_cast<double>(text.size());
    }
    return bytes;
}

struct bench {
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::unique_ptr<ports::worker_port> workers = fs::make_worker_pool(loop, 2);
    memory::memory_system memory{*workers, fs::make_local_tree()};
    coro::call_context context{&loop, nullptr, {}};
    bool indexing = true;
    clock::duration max_gap{};

    static coro::task<result<void>> watch(bench* me) {
        auto before = clock::now();
        while (me->indexing) {
            co_await coro::yield_now(me->loop);
            const auto now = clock::now();
            me->max_gap = std::max(me->max_gap, now - before);
            const auto slept =
                co_await coro::sleep_until(me->context, now + std::chrono::milliseconds(1));
            if (!slept) co_return slept;
            before = clock::now();
        }
        co_return result<void>();
    }

    static coro::task<result<void>> index(bench* me, memory::index_options options) {
        const auto report = co_await me->memory.index_directory(std::move(options), me->context);
        me->indexing = false;
        if (!report) co_return report.error();
        std::printf("  %zu added, %zu updated, %zu unchanged\n", report->added, report->updated,
                    report->unchanged);
        co_return result<void>();
    }

    coro::task<result<void>> ask(std::string query, ports::matching_strategy strategy) {
        std::vector<double> took;
        std::size_t matches = 0;
        for (int i = 0; i < 51; ++i) {
            ports::memory_request request;
            request.query = query;
            request.strategy = strategy;
            const auto began = clock::now();
            const auto response = co_await memory.relevant_files(std::move(request), context);
            if (!response) co_return response.error();
            took.push_back(milliseconds(clock::now() - began));
            matches = response->matches.size();
        }
        std::sort(took.begin(), took.end());
        std::printf("  %-9s %-34s median %6.2f ms, worst of 51 %6.2f ms, %zu matches\n",
                    std::string(ports::to_string(strategy)).c_str(), query.c_str(), took[25],
                    took[50], matches);
        co_return result<void>();
    }

    coro::task<result<void>> index_once(const char* step, stdfs::path tree) {
        const double before = resident();
        const auto began = clock::now();
        indexing = true;
        max_gap = {};
        coro::nursery both(context);
        memory::index_options options;
        options.root = tree.string();
        both.start(watch(this));
        both.start(index(this, std::move(options)));
        const result<void> joined = co_await both.join();
        std::printf("%s: %.2f s, loop held for at most %.2f ms, memory +%.0f MB\n", step,
                    milliseconds(clock::now() - began) / 1000, milliseconds(max_gap),
                    resident() - before);
        co_return joined;
    }

    coro::task<result<void>> ask_all(std::vector<std::string> queries) {
        std::printf("queries\n");
        for (const std::string& query : queries) {
            for (const auto strategy :
                 {ports::matching_strategy::content, ports::matching_strategy::metadata}) {
                const result<void> asked = co_await ask(query, strategy);
                if (!asked) co_return asked;
            }
        }
        co_return result<void>();
    }

    coro::task<result<void>> keep(std::string file) {
        auto began = clock::now();
        const result<void> saved = co_await memory.save(file, context);
        if (!saved) co_return saved;
        std::printf("saved in %.2f s, %.0f MB\n", milliseconds(clock::now() - began) / 1000,
                    static_cast<double>(stdfs::file_size(file)) / 1e6);
        began = clock::now();
        const result<void> loaded = co_await memory.load(file, context);
        std::printf("opened in %.2f s\n", milliseconds(clock::now() - began) / 1000);
        co_return loaded;
    }

    static coro::task<void> run(bench* me, stdfs::path tree, std::vector<std::string> queries,
                                stdfs::path scratch) {
        result<void> ended = co_await me->index_once("first indexing", tree);
        if (ended) ended = co_await me->index_once("refresh, nothing changed", tree);
        if (ended) ended = co_await me->ask_all(std::move(queries));
        if (ended) ended = co_await me->keep((scratch / "index").string());
        if (!ended) std::printf("failed: %s\n", ended.error().message().c_str());
    }
};

} // namespace
} // namespace heddle

int main(int count, char** arguments) {
    using heddle::vocabulary;
    std::string name = (std::filesystem::temp_directory_path() / "heddle-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return 1;
    const std::filesystem::path scratch = name;
    std::filesystem::path tree = scratch / "tree";
    std::vector<std::string> queries{vocabulary::word(400'123),
                                     vocabulary::word(700) + " " + vocabulary::word(12'345),
                                     vocabulary::word(0) + " " + vocabulary::word(1) + " " +
                                         vocabulary::word(2) + " " + vocabulary::word(3)};
    if (count > 1 && arguments[1][0] == '/') {
        tree = arguments[1];
        queries.assign(arguments + 2, arguments + count);
    } else {
        const int files = count > 1 ? std::atoi(arguments[1]) : 100'000;
        const int words = count > 2 ? std::atoi(arguments[2]) : 400;
        const double bytes = heddle::generate(tree, files, words);
        std::printf("%d files, %.0f MB\n", files, bytes / 1e6);
    }
    {
        heddle::bench one;
        heddle::coro::spawn(one.loop, heddle::bench::run(&one, tree, queries, scratch),
                            [](std::exception_ptr) {});
        one.io.run();
    }
    std::filesystem::remove_all(scratch);
    return 0;
}
