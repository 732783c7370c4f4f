// The language beside others, and what a fiber costs. Called by bench_lang.sh.
//
//   bench_lang FILE NAME SIZE   runs (run-NAME SIZE) of FILE: prints the value and CPU seconds
//   bench_lang fibers machine|session COUNT
//                               prints µs to create, µs to resume and bytes of a parked fiber
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/compile.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/prelude.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace heddle;

[[nodiscard]] double cpu_seconds() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Memory of the process that is in use, in bytes.
[[nodiscard]] double resident_bytes() {
    std::ifstream in("/proc/self/statm");
    long all = 0;
    long resident = 0;
    in >> all >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void give_up(const error& failure) {
    std::fprintf(stderr, "bench_lang: %s: %s\n",
                 std::string(lang::error_kind_name(failure)).c_str(), failure.message().c_str());
    std::exit(1);
}

template <class T>
[[nodiscard]] T must(result<T> outcome) {
    if (!outcome) give_up(outcome.error());
    return *std::move(outcome);
}

constexpr lang::builtin park_row{"park", "", 0, 0, lang::builtin_kind::effect, nullptr, {}, {}, {}};

/// Knows one effect, (park), and nothing else.
class small_host final : public lang::host_names {
public:
    const lang::builtin* find_effect(std::string_view name) const override {
        return name == park_row.name ? &park_row : nullptr;
    }
    std::optional<lang::operator_info> find_operator(lang::heap&, std::string_view) const override {
        return std::nullopt;
    }
    std::optional<lang::operator_info> describe_callable(const lang::host_object&) const override {
        return std::nullopt;
    }
    bool is_reserved_key(std::string_view) const override { return false; }
    double now() const override { return 0; }
    void collect_names(std::vector<std::string>&) const override {}
};

[[nodiscard]] lang::function_ref compiled(lang::realm& harness, const std::string& text) {
    const std::uint32_t position = harness.sources().add("bench", text);
    auto forms = must(lang::read_all(harness.memory(), text, position));
    return must(lang::compile(harness, forms));
}

/// A program without effects, to its end.
[[nodiscard]] lang::value run_alone(lang::realm& harness, const lang::function_ref& code) {
    lang::run_budget budget;
    auto main = lang::start_fiber(harness, code, lang::with_concurrency(harness, {}, 64));
    for (;;) {
        lang::outcome now = lang::machine::run(*main, budget);
        if (now.kind == lang::outcome_kind::done) return now.result;
        if (now.kind == lang::outcome_kind::out_of_steps) continue;
        if (now.failure) give_up(*now.failure);
        std::abort(); // nothing here waits
    }
}

int run_workload(const char* file, const std::string& name, const std::string& size) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    if (text.empty()) {
        std::fprintf(stderr, "bench_lang: cannot read %s\n", file);
        return 2;
    }
    small_host host;
    lang::realm harness(host);
    if (auto loaded = lang::load_prelude(harness); !loaded) give_up(loaded.error());
    harness.memory().set_limit(std::size_t{1} << 30);
    (void)run_alone(harness, compiled(harness, text));
    if (name == "rest") (void)run_alone(harness, compiled(harness, "(prepare-rest " + size + ")"));
    const auto code = compiled(harness, "(run-" + name + " " + size + ")");
    const double began = cpu_seconds();
    const lang::value result = run_alone(harness, code);
    const double spent = cpu_seconds() - began;
    std::printf("%s %.6f\n", lang::print_value(result).c_str(), spent);
    return 0;
}

// ---------------------------------------------------------------- fibers

struct fiber_costs {
    double create_us;
    double resume_us;
    double bytes;
};

[[nodiscard]] std::string fiber_program(long count) {
    return "(length (map (lambda (i) (park)) (range " + std::to_string(count) + ")))";
}

/// Every branch of a map waits once; all of them wait before the first is answered.
class machine_fibers final : public lang::fiber_driver {
public:
    [[nodiscard]] fiber_costs run(long count) {
        small_host host;
        lang::realm harness(host);
        if (auto loaded = lang::load_prelude(harness); !loaded) give_up(loaded.error());
        const auto code = compiled(harness, fiber_program(count));
        const auto slots = static_cast<std::size_t>(count);
        const double bytes_before = resident_bytes();
        const double began = cpu_seconds();
        adopt(lang::start_fiber(harness, code, lang::with_concurrency(harness, {}, slots)));
        run_ready();
        const double parked = cpu_seconds();
        const double bytes = resident_bytes() - bytes_before;
        if (waiting_.size() != slots) std::abort();
        for (lang::fiber* self : std::exchange(waiting_, {})) {
            lang::machine::resume(*self, lang::value());
            ready_.push_back(self);
        }
        run_ready();
        const double ended = cpu_seconds();
        if (last_.as_integer() != count) std::abort();
        const auto each = static_cast<double>(count);
        return {(parked - began) * 1e6 / each, (ended - parked) * 1e6 / each, bytes / each};
    }

private:
    void wake(lang::fiber& ready) noexcept override { ready_.push_back(&ready); }
    void cancel_effect(lang::fiber&) noexcept override {}

    void adopt(std::unique_ptr<lang::fiber> self) {
        self->driver = this;
        lang::fiber* result = self.release(); // deleted when it has ended
        if (result->waits() == lang::waiting_for::effect) waiting_.push_back(result);
        else ready_.push_back(result);
    }

    void run_ready() {
        while (!ready_.empty()) {
            lang::fiber* self = ready_.front();
            ready_.pop_front();
            lang::outcome now = lang::machine::run(*self, budget_);
            switch (now.kind) {
            case lang::outcome_kind::effect: waiting_.push_back(self); break;
            case lang::outcome_kind::parked: break;
            case lang::outcome_kind::out_of_steps: ready_.push_back(self); break;
            case lang::outcome_kind::forked:
                ready_.push_front(self);
                adopt(std::move(now.child));
                break;
            case lang::outcome_kind::done:
                last_ = std::move(now.result);
                delete self;
                break;
            default: give_up(*now.failure);
            }
        }
    }

    lang::run_budget budget_;
    std::deque<lang::fiber*> ready_;
    std::vector<lang::fiber*> waiting_;
    lang::value last_;
};

/// (park): waits until every branch has arrived.
class park_effect final : public host::effect_handler {
public:
    explicit park_effect(std::size_t count) : count_(count) {}
    const lang::builtin& row() const noexcept override { return park_row; }
    coro::task<result<lang::value>> run(host::effect_call call) override {
        coro::wait_point& own = waiting_.emplace_back();
        if (waiting_.size() == count_) all_wait();
        const coro::wake woken = co_await own.wait(call.context);
        if (woken != coro::wake::notified) co_return error(heddle::errc::internal, "not woken");
        co_return lang::value();
    }

    double parked = 0; ///< CPU seconds when all waited
    double bytes = 0;

private:
    void all_wait() {
        parked = cpu_seconds();
        bytes = resident_bytes();
        for (coro::wait_point& each : waiting_) each.notify();
    }
    std::size_t count_;
    std::deque<coro::wait_point> waiting_;
};

coro::task<void> evaluate(host::session* session, std::string text, host::run_options options) {
    const result<lang::value> ended = co_await session->evaluate("bench", std::move(text), options);
    if (!ended) give_up(ended.error());
}

[[nodiscard]] fiber_costs session_fibers(long count) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    const auto slots = static_cast<std::size_t>(count);
    const auto effect = std::make_shared<park_effect>(slots);
    host::engine_parts parts;
    parts.effects.push_back(effect);
    host::engine engine(loop, std::move(parts));
    auto session = must(engine.new_session());
    host::run_options options;
    options.concurrency = slots;
    options.memory_limit = std::size_t{4} << 30;
    const double bytes_before = resident_bytes();
    const double began = cpu_seconds();
    coro::spawn(loop, evaluate(session.get(), fiber_program(count), options),
                [](std::exception_ptr thrown) {
                    if (thrown) std::abort();
                });
    io.run();
    const double ended = cpu_seconds();
    const auto each = static_cast<double>(count);
    return {(effect->parked - began) * 1e6 / each, (ended - effect->parked) * 1e6 / each,
            (effect->bytes - bytes_before) / each};
}

void print_costs(const char* what, const fiber_costs& costs) {
    std::printf("%s %.3f %.3f %.0f\n", what, costs.create_us, costs.resume_us, costs.bytes);
}

} // namespace

int main(int count, char** arguments) {
    if (count == 4 && std::string(arguments[1]) == "fibers") {
        const long fibers = std::atol(arguments[3]);
        if (std::string(arguments[2]) == "machine")
            print_costs("machine", machine_fibers().run(fibers));
        else print_costs("session", session_fibers(fibers));
        return 0;
    }
    if (count == 4) return run_workload(arguments[1], arguments[2], arguments[3]);
    std::fprintf(stderr, "usage: bench_lang FILE NAME SIZE | fibers machine|session COUNT\n");
    return 2;
}
