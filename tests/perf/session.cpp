// What a session costs: without a program, with a program that is loaded for each, and from an
// image of the loaded program. Time is that of the processor; bytes are those of the allocator.
//
//   bench_session [SESSIONS]
#include <heddle/coro/spawn.hpp>
#include <heddle/host/session_image.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace heddle;

constexpr const char* program =
    "(import std/lists) (import std/text)"
    "(defatom judge (params row style) (instructions \"Judge {{row}} in a {{style}} manner.\")"
    " (output_format ((type \"json\") (schema ((type \"object\") (required (\"verdict\"))"
    " (properties ((verdict ((type \"string\"))) (score ((type \"integer\"))))))))))"
    "(deftool look-up (params (word string \"what\")) (description \"Looks a word up.\")"
    " (string-append word \"!\"))"
    "(define (clean text) (string-downcase text))"
    "(define (main row) (list (clean row) (string-length row)))";

std::size_t bytes_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

double cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

[[noreturn]] void give_up(const error& failure) {
    std::fputs((failure.message() + "\n").c_str(), stderr);
    std::exit(1);
}

template <class T>
T must(result<T> ended) {
    if (!ended) give_up(ended.error());
    return *std::move(ended);
}

coro::task<void> load(host::session* into) {
    const result<lang::value> ended = co_await into->evaluate("bench", program);
    if (!ended) give_up(ended.error());
}

coro::task<void> call_main(host::session* in) {
    const result<lang::value> ended = co_await in->evaluate("row", "(main \" A Row \")");
    if (!ended) give_up(ended.error());
}

coro::task<void> make_image(host::engine* engine, std::shared_ptr<host::session_image>* out) {
    auto loaded = co_await host::session_image::load(*engine, "bench", program);
    *out = must(std::move(loaded));
}

struct bench {
    explicit bench(bool with_tasks) {
        host::engine_parts parts;
        if (with_tasks) parts.operators = tasks::operators({});
        engine.emplace(loop, std::move(parts));
    }

    void run(coro::task<void> work) {
        io.restart();
        coro::spawn(loop, std::move(work), [](std::exception_ptr thrown) {
            if (thrown) std::abort();
        });
        io.run();
    }

    using maker = std::function<std::unique_ptr<host::session>()>;
    void measure(const char* what, long count, const maker& make, bool calls = false) {
        std::vector<std::unique_ptr<host::session>> all(static_cast<std::size_t>(count));
        all[0] = make(); // what is made once
        all[0].reset();
        const std::size_t before = bytes_in_use();
        const double began = cpu_nanoseconds();
        for (auto& each : all) {
            each = make();
            if (calls) run(call_main(each.get()));
        }
        const double filled = cpu_nanoseconds();
        const auto bytes = static_cast<double>(bytes_in_use() - before);
        all.clear();
        const double ended = cpu_nanoseconds();
        const auto each = static_cast<double>(count);
        std::printf("%-44s %9.0f ns  end %8.0f ns  %8.0f bytes\n", what, (filled - began) / each,
                    (ended - filled) / each, bytes / each);
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::optional<host::engine> engine;
};

} // namespace

int main(int count, char** arguments) {
    const long sessions = count > 1 ? std::atol(arguments[1]) : 20'000;
    bench bare(false);
    bare.measure("language only", sessions, [&] { return must(bare.engine->new_session()); });
    bench whole(true);
    whole.measure("with tasks and tools", sessions / 20,
                  [&] { return must(whole.engine->new_session()); });
    const bench::maker loaded = [&] {
        auto fresh = must(whole.engine->new_session());
        whole.run(load(fresh.get()));
        return fresh;
    };
    whole.measure("program loaded for each", sessions / 100, loaded);
    whole.measure("program loaded for each, and a call", sessions / 100, loaded, true);
    std::shared_ptr<host::session_image> image;
    whole.run(make_image(&*whole.engine, &image));
    if (!image->is_shareable()) {
        std::fputs((image->obstacle() + "\n").c_str(), stderr);
        return 1;
    }
    const bench::maker shared = [&] { return must(image->new_session()); };
    whole.measure("image", sessions, shared);
    whole.measure("image, and a call", sessions, shared, true);
}
