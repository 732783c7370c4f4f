#include "world_effects.hpp"

#include "file_effects.hpp"
#include "world_effect.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/branch_group.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/paced_text.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace heddle::host {

namespace {

using lang::builtin;
using lang::kind;
using lang::value;

/// The arguments with spaces between them. Large ones are written while others have their turn.
coro::task<result<std::string>> joined_arguments(effect_call& call) {
    lang::paced_text text(call.session.realm(), std::move(call.request.arguments));
    while (!text.go_on()) {
        co_await coro::yield_now(*call.context.loop);
        if (auto stop = call.context.stop_error()) co_return *std::move(stop);
    }
    co_return text.take();
}

class log_message final : public world_effect {
public:
    log_message()
        : world_effect(
              {.name = "log-message",
               .parameters = "x…",
               .max_arguments = builtin::any_number,
               .summary =
                   "Joins its arguments with spaces, logs them at info level, and returns the "
                   "string; () without arguments."}) {}
    replay_class replays() const noexcept override { return replay_class::output; }
    coro::task<result<value>> run(effect_call call) override {
        if (call.request.arguments.empty()) co_return value::empty_list();
        auto text = co_await joined_arguments(call);
        if (!text) co_return std::move(text).error();
        engine& host = call.session.engine();
        if (host.parts().log_room && host.log().enabled(log_level::info)) {
            const result<void> room = co_await host.parts().log_room(call.context);
            if (!room) co_return room.error();
        }
        // First what may be cancelled.
        result<value> converted =
            co_await text_value(call, *std::move(text), "log-message: the text");
        if (converted) host.log().write(log_level::info, "script", lang::string_bytes(*converted));
        co_return converted;
    }
};

class print final : public world_effect {
public:
    print()
        : world_effect({.name = "print",
                        .parameters = "x…",
                        .max_arguments = builtin::any_number,
                        .summary = "Writes its arguments to the output, separated by spaces and "
                                   "followed by a line end; returns nil."}) {}
    replay_class replays() const noexcept override { return replay_class::output; }
    coro::task<result<value>> run(effect_call call) override {
        const engine_parts& parts = call.session.engine().parts();
        if (!parts.print) co_return value();
        auto text = co_await joined_arguments(call);
        if (!text) co_return std::move(text).error();
        if (parts.print_room) {
            const result<void> room = co_await parts.print_room(call.context);
            if (!room) co_return room.error();
        }
        *text += '\n'; // there is room for it
        parts.print(*text);
        co_return value();
    }
};

class get_env final : public world_effect {
public:
    get_env()
        : world_effect(
              {.name = "getenv",
               .parameters = "name",
               .min_arguments = 1,
               .max_arguments = 1,
               .summary =
                   "An environment variable that the host allows, or nil when it is not set."}) {}
    bool only_reads() const noexcept override { return true; }
    coro::task<result<value>> run(effect_call call) override {
        const value& name = call.request.arguments[0];
        if (!name.is(kind::string)) co_return type_error(call.session, 1, "a string", name);
        const std::string wanted(lang::string_bytes(name));
        const auto& allowed = call.session.engine().parts().readable_environment;
        if (std::find(allowed.begin(), allowed.end(), wanted) == allowed.end()) {
            co_return error(lang::errc::permission,
                            "getenv: this host does not allow reading '" + wanted + "'");
        }
        const char* found = std::getenv(wanted.c_str());
        if (!found) co_return value();
        co_return lang::make_string(call.session.memory(), found);
    }
};

class now final : public world_effect {
public:
    now()
        : world_effect(
              {.name = "now", .summary = "Seconds since 1970-01-01 00:00 UTC, as a float."}) {}
    bool only_reads() const noexcept override { return true; }
    coro::task<result<value>> run(effect_call call) override {
        const auto since = call.context.loop->time_of_day().time_since_epoch();
        co_return value::real(std::chrono::duration<double>(since).count());
    }
};

/// One generator for uuid and random, so that a seed fixes both.
struct random_source {
    explicit random_source(std::uint64_t seed_or_none)
        : seed(seed_or_none), generator(seed != 0 ? seed
                                                  : std::random_device()() * 0x9E3779B97F4A7C15ULL ^
                                                        std::random_device()()) {}
    const std::uint64_t seed; ///< 0: none was given
    std::mt19937_64 generator;
};

/// What a call draws from: the common generator, or one of its own in a durable row.
class drawn_by {
public:
    drawn_by(random_source& common, std::optional<std::uint64_t> seed)
        : own_(seed ? std::optional<std::mt19937_64>(std::in_place, *seed) : std::nullopt),
          generator(own_ ? *own_ : common.generator) {}
    drawn_by(const drawn_by&) = delete;
    drawn_by& operator=(const drawn_by&) = delete;

private:
    std::optional<std::mt19937_64> own_;

public:
    std::mt19937_64& generator;
};

/// SplitMix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t state, std::uint64_t next) noexcept {
    state = (state ^ next) + 0x9E3779B97F4A7C15ULL;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    return state ^ (state >> 31);
}

class uuid final : public world_effect {
public:
    explicit uuid(std::shared_ptr<random_source> source)
        : world_effect({.name = "uuid", .summary = "A random UUID (version 4, RFC 9562)."}),
          source_(std::move(source)) {}
    replay_class replays() const noexcept override { return replay_class::derived; }
    coro::task<result<value>> run(effect_call call) override {
        drawn_by draws(*source_, call.seed);
        const std::uint64_t high = (draws.generator() & ~0xF000ULL) | 0x4000ULL;
        const std::uint64_t low =
            (draws.generator() & 0x3FFFFFFFFFFFFFFFULL) | 0x8000000000000000ULL;
        std::array<char, 40> text{};
        std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx",
                      static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xFFFF),
                      static_cast<unsigned>(high & 0xFFFF), static_cast<unsigned>(low >> 48),
                      static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
        co_return lang::make_string(call.session.memory(), text.data());
    }

private:
    std::shared_ptr<random_source> source_;
};

class random_number final : public world_effect {
public:
    explicit random_number(std::shared_ptr<random_source> source)
        : world_effect({.name = "random",
                        .parameters = "[n]",
                        .max_arguments = 1,
                        .summary = "A float in [0, 1), or an integer in [0, n)."}),
          source_(std::move(source)) {}
    replay_class replays() const noexcept override { return replay_class::derived; }
    coro::task<result<value>> run(effect_call call) override {
        drawn_by draws(*source_, call.seed);
        if (call.request.arguments.empty()) {
            co_return value::real(std::uniform_real_distribution<double>(0, 1)(draws.generator));
        }
        const value& bound = call.request.arguments[0];
        if (!bound.is_integer() || bound.as_integer() < 1)
            co_return type_error(call.session, 1, "an integer of at least 1", bound);
        co_return value::integer(std::uniform_int_distribution<std::int64_t>(
            0, bound.as_integer() - 1)(draws.generator));
    }

private:
    std::shared_ptr<random_source> source_;
};

/// How long `retry` waits, between nothing and its bound. With a seed it depends on nothing but the
/// place: the branch in the tree of branches, the form and the round. Draws from a common generator
/// would follow the order of events, which is another in each run.
class jitter final : public world_effect {
public:
    explicit jitter(std::shared_ptr<random_source> source)
        : world_effect(
              {.name = "%jitter",
               .parameters = "round",
               .min_arguments = 1,
               .max_arguments = 1,
               .summary = "A float in [0, 1) for the wait before the next round of retry."}),
          source_(std::move(source)) {}
    replay_class replays() const noexcept override { return replay_class::derived; }
    coro::task<result<value>> run(effect_call call) override {
        if (call.seed) co_return value::real(static_cast<double>(*call.seed >> 11) * 0x1p-53);
        if (source_->seed == 0)
            co_return value::real(std::uniform_real_distribution<double>(0, 1)(source_->generator));
        std::uint64_t state = mixed(source_->seed, call.request.span.begin);
        const value& round = call.request.arguments[0];
        state =
            mixed(state, round.is_integer() ? static_cast<std::uint64_t>(round.as_integer()) : 0);
        lang::branch_place at = call.fiber ? lang::place_of(*call.fiber) : lang::branch_place{};
        while (const auto* group = lang::host_as<lang::branch_group>(at.group)) {
            state = mixed(state, at.slot + std::uint64_t{1});
            at = lang::branch_place(group->outer());
        }
        co_return value::real(static_cast<double>(state >> 11) * 0x1p-53);
    }

private:
    std::shared_ptr<random_source> source_;
};

class sleep_effect final : public world_effect {
public:
    sleep_effect()
        : world_effect({.name = "sleep",
                        .parameters = "seconds",
                        .min_arguments = 1,
                        .max_arguments = 1,
                        .summary = "Waits; ends at once when cancelled. Returns nil."}) {}
    coro::task<result<value>> run(effect_call call) override {
        const value& asked = call.request.arguments[0];
        const double seconds = asked.is_integer() ? static_cast<double>(asked.as_integer())
                               : asked.is_real()  ? asked.as_real()
                                                  : -1;
        if (!(seconds >= 0) || seconds > 1e9)
            co_return type_error(call.session, 1, "a non-negative number of seconds", asked);
        const auto wait = std::chrono::duration_cast<coro::clock::duration>(
            std::chrono::duration<double>(seconds));
        const auto until = call.context.loop->now() + wait;
        const result<void> slept = co_await coro::sleep_until(call.context, until);
        if (!slept) co_return slept.error();
        co_return value();
    }
};

class define_task final : public world_effect {
public:
    define_task()
        : world_effect({.name = "%defatom",
                        .parameters = "form",
                        .min_arguments = 1,
                        .max_arguments = 1,
                        .summary = "Registers the task of a defatom form."}) {}
    replay_class replays() const noexcept override { return replay_class::redo; }
    coro::task<result<value>> run(effect_call call) override {
        operator_source* operators = call.session.operators();
        if (!operators)
            co_return error(lang::errc::evaluation, "defatom: this host has no task system");
        result<value> defined = co_await operators->define_task(
            call.session, call.request.arguments[0], call.request.span, call.context);
        co_return defined;
    }
};

class define_tool final : public world_effect {
public:
    define_tool()
        : world_effect({.name = "%deftool",
                        .parameters = "form body",
                        .min_arguments = 2,
                        .max_arguments = 2,
                        .summary = "Registers the tool of a deftool form."}) {}
    replay_class replays() const noexcept override { return replay_class::redo; }
    coro::task<result<value>> run(effect_call call) override {
        operator_source* operators = call.session.operators();
        if (!operators) co_return error(lang::errc::evaluation, "deftool: this host has no tools");
        co_return operators->define_tool(call.session, call.request.arguments[0],
                                         std::move(call.request.arguments[1]), call.request.span);
    }
};

} // namespace

result<lang::value> operator_source::define_tool(session&, const lang::value&, lang::value,
                                                 source_span) {
    return error(lang::errc::evaluation, "deftool: this host has no tools");
}

std::vector<std::shared_ptr<effect_handler>> make_world_effects(engine& engine) {
    auto source = std::make_shared<random_source>(engine.parts().random_seed);
    std::vector<std::shared_ptr<effect_handler>> all{std::make_shared<log_message>(),
                                                     std::make_shared<print>()};
    const auto of_files = make_file_effects();
    all.insert(all.end(), of_files.begin(), of_files.end());
    const std::vector<std::shared_ptr<effect_handler>> others{
        std::make_shared<get_env>(),      std::make_shared<now>(),
        std::make_shared<uuid>(source),   std::make_shared<random_number>(source),
        std::make_shared<sleep_effect>(), std::make_shared<define_task>(),
        std::make_shared<define_tool>(),  std::make_shared<jitter>(source)};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

} // namespace heddle::host
