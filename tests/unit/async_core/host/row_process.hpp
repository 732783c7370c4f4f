// Processes that execute a durable row, from the records of earlier ones.
#pragma once

#include "evaluation.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/step_memory.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace heddle::host {

using namespace std::chrono_literals;
using ports::step_kind;
using ports::step_record;

/// Keeps records in memory; each is durable after a moment.
class memory_log final : public step_log, public step_replay {
public:
    explicit memory_log(coro::event_loop& loop, std::vector<step_record> earlier = {})
        : all(std::move(earlier)), loop_(loop), earlier_(all) {}

    std::vector<step_record> take_earlier() override { return std::move(earlier_); }
    coro::task<result<void>> append(step_record record, coro::call_context context) override {
        if (full) co_return error(heddle::errc::io_error, "the journal is full");
        all.push_back(std::move(record));
        result<void> waited = co_await coro::sleep_until(context, loop_.now() + 5ms);
        co_return waited;
    }
    void note(step_record record) override { all.push_back(std::move(record)); }
    std::uint64_t seed() const noexcept override { return 42; }
    step_replay* replay() noexcept override { return replays ? this : nullptr; }
    bool repeats_output() const noexcept override { return repeats; }
    void note_effect(const step_record& record) noexcept override { ++effective[record.kind]; }
    void note_end(std::string_view what) noexcept override { missing = what; }
    void note_parked() noexcept override { is_parked = true; }

    std::vector<step_record> all;
    bool full = false;
    bool replays = false;
    bool repeats = false;
    bool is_parked = false;
    std::map<step_kind, std::size_t> effective;
    std::string missing;

private:
    coro::event_loop& loop_;
    std::vector<step_record> earlier_;
};

/// (fetch x): x, after a time that chance decides. Counts who asked.
class fetch final : public effect_handler {
public:
    fetch(std::uint64_t seed, std::map<std::string, int>& asked)
        : chance_(seed), asked_(asked), row_{"fetch", "x", 1,  1,     lang::builtin_kind::effect,
                                             nullptr, "x", "", "test"} {}
    const lang::builtin& row() const noexcept override { return row_; }
    coro::task<result<lang::value>> run(effect_call call) override {
        const auto wait = std::chrono::milliseconds(chance_() % 50);
        lang::value given = call.request.arguments[0];
        ++asked_[lang::print_value(given)];
        const result<void> slept =
            co_await coro::sleep_until(call.context, call.context.loop->now() + wait);
        if (!slept) co_return slept.error();
        co_return given;
    }

private:
    std::mt19937_64 chance_;
    std::map<std::string, int>& asked_;
    lang::builtin row_;
};

/// (later x): the answer that was kept for it while no process worked on the row.
class later final : public effect_handler {
public:
    static constexpr ports::digest128 question{1, 1};
    static constexpr ports::digest128 answer{2, 2};
    const lang::builtin& row() const noexcept override { return row_; }
    coro::task<result<lang::value>> run(effect_call call) override {
        ports::step_memory& step = *call.context.step;
        const auto answered = co_await step.take(answer, call.context);
        if (answered) co_return lang::make_string(call.session.memory(), answered->body);
        const auto before = co_await step.take(question, call.context);
        if (!before) {
            const result<void> kept = co_await step.keep(question, "q", "?", {}, call.context);
            if (!kept) co_return kept.error();
        }
        co_await step.park(call.context);
        co_return error::cancelled(cancel_reason::shutdown);
    }

private:
    lang::builtin row_{"later", "x", 1, 1, lang::builtin_kind::effect, nullptr, "x", "", "test"};
};

/// (within f [milliseconds]): (f), as a part of the step, which limits it to so much time.
class within final : public effect_handler {
public:
    const lang::builtin& row() const noexcept override { return row_; }
    coro::task<result<lang::value>> run(effect_call call) override {
        lang::value callee = call.request.arguments[0];
        if (call.request.arguments.size() > 1 && !call.context.step->is_repeated()) {
            const std::chrono::milliseconds time(call.request.arguments[1].as_integer());
            call.context =
                call.context.with_deadline(coro::deadline(call.context.loop->now() + time));
        }
        result<lang::value> ended =
            co_await call.session.call_within(std::move(callee), {}, call.scope, call.context);
        co_return ended;
    }

private:
    lang::builtin row_{
        "within", "f [milliseconds]", 1, 2, lang::builtin_kind::effect, nullptr, "f", "", "test"};
};

/// (agent f requests [functions]): a task whose model calls functions of the program. Each request
/// takes a time that chance decides, sometimes fails, and is kept; then (f) runs, once or
/// `functions` times side by side. The value: what all of that gave.
class agent final : public effect_handler {
public:
    agent(std::uint64_t seed, std::map<std::string, int>& asked) : chance_(seed), asked_(asked) {}
    const lang::builtin& row() const noexcept override { return row_; }
    coro::task<result<lang::value>> run(effect_call call) override {
        const auto number = [&call](std::size_t which) {
            return which < call.request.arguments.size()
                       ? static_cast<std::uint64_t>(call.request.arguments[which].as_integer())
                       : 1;
        };
        std::vector<lang::value> given;
        for (std::uint64_t i = 0; i < number(1); ++i) {
            result<bool> responded = co_await request(i, call);
            if (!responded) co_return responded.error();
            given.push_back(lang::value::boolean(*responded));
            if (!*responded) continue;
            result<void> ran;
            if (number(2) == 1) {
                result<void> alone = co_await function(&call, &given, nullptr);
                ran = std::move(alone);
            } else {
                std::uint64_t living = number(2);
                call.context.step->note_parts(static_cast<int>(living) - 1);
                coro::nursery beside(call.context);
                effect_call inside = call;
                inside.context.cancel = beside.context().cancel;
                for (std::uint64_t n = number(2); n != 0; --n)
                    beside.start([&] { return function(&inside, &given, &living); });
                result<void> all = co_await beside.join();
                ran = std::move(all);
            }
            if (!ran) co_return ran.error();
        }
        co_return lang::make_list(call.session.memory(), given);
    }

private:
    /// False: it has failed, as it did before.
    coro::task<result<bool>> request(std::uint64_t number, const effect_call& call) {
        ports::step_memory& step = *call.context.step;
        const ports::digest128 content{3, number};
        const auto before = co_await step.take(content, call.context);
        if (before) co_return !before->is_failure;
        if (!step.may_ask()) co_return error::cancelled(cancel_reason::user);
        ++asked_["request"];
        const auto wait = std::chrono::milliseconds(chance_() % 50);
        const result<void> slept =
            co_await coro::sleep_until(call.context, call.context.loop->now() + wait);
        if (!slept) co_return slept.error();
        if (chance_() % 4 == 0) {
            co_await step.keep_failure(content, "q", "no", call.context);
            co_return false;
        }
        const result<void> kept = co_await step.keep(content, "q", "yes", {}, call.context);
        if (!kept) co_return kept.error();
        co_return true;
    }
    /// As a tool: one of several waits for its place first. `living`: of those, or null.
    static coro::task<result<void>> function(effect_call* call, std::vector<lang::value>* given,
                                             std::uint64_t* living) {
        co_await coro::yield_now(*call->context.loop);
        lang::value callee = call->request.arguments[0];
        result<lang::value> ended =
            co_await call->session.call_within(std::move(callee), {}, call->scope, call->context);
        if (living && (*living)-- > 1) call->context.step->note_parts(-1);
        if (!ended) co_return ended.error();
        given->push_back(*std::move(ended));
        co_return result<void>();
    }

    std::mt19937_64 chance_;
    std::map<std::string, int>& asked_;
    lang::builtin row_{"agent", "f n [k]", 2,  3,     lang::builtin_kind::effect,
                       nullptr, "f",       "", "test"};
};

/// (team f members turns [fails]): a task whose model calls tasks side by side, each of which calls
/// functions of the program. Each member makes requests, the same ones, and after each response
/// runs (f member turn response). With `fails`, a request in so many fails and ends all of them.
/// The value: what that gave, by member.
class team final : public effect_handler {
public:
    team(std::uint64_t seed, std::map<std::string, int>& asked) : chance_(seed), asked_(asked) {}
    const lang::builtin& row() const noexcept override { return row_; }
    coro::task<result<lang::value>> run(effect_call call) override {
        const std::int64_t members = call.request.arguments[1].as_integer();
        std::vector<lang::value> given(static_cast<std::size_t>(members));
        call.context.step->note_parts(static_cast<int>(members) - 1);
        living_ = members;
        const std::uint32_t group = call.context.step->open_group();
        coro::nursery beside(call.context);
        for (std::int64_t n = 0; n < members; ++n) {
            beside.start([&] {
                return member(&call, beside.context(), group, n,
                              &given[static_cast<std::size_t>(n)]);
            });
        }
        const result<void> all = co_await beside.join();
        if (!all) co_return all.error();
        co_return lang::make_list(call.session.memory(), given);
    }

private:
    coro::task<result<void>> member(const effect_call* call, coro::call_context context,
                                    std::uint32_t group, std::int64_t number, lang::value* given) {
        const auto part = context.step->open_part(group, static_cast<std::uint32_t>(number));
        context.step = part.get();
        result<void> ended = co_await turns(call, context, number, given);
        if (living_-- > 1) call->context.step->note_parts(-1);
        co_return ended;
    }
    coro::task<result<void>> turns(const effect_call* call, coro::call_context context,
                                   std::int64_t number, lang::value* given) {
        std::vector<lang::value> values;
        for (std::int64_t turn = 0; turn < call->request.arguments[2].as_integer(); ++turn) {
            const ports::digest128 content{10, static_cast<std::uint64_t>(turn)};
            std::string response;
            const auto before = co_await context.step->take(content, context);
            if (before && before->is_failure) co_return failed();
            if (before) {
                response = before->body;
            } else {
                if (!context.step->may_ask()) {
                    error stop = co_await context.step->refused(context);
                    co_return stop;
                }
                ++asked_["request"];
                response = std::to_string(chance_() % 1000);
                const auto wait = std::chrono::milliseconds(chance_() % 50);
                const result<void> slept =
                    co_await coro::sleep_until(context, context.loop->now() + wait);
                if (!slept) co_return slept.error();
                if (call->request.arguments.size() > 3 &&
                    chance_() %
                            static_cast<std::uint64_t>(call->request.arguments[3].as_integer()) ==
                        0) {
                    co_await context.step->keep_failure(content, "q", "no", context);
                    co_return failed();
                }
                const result<void> kept =
                    co_await context.step->keep(content, "q", response, {}, context);
                if (!kept) co_return kept.error();
            }
            lang::value callee = call->request.arguments[0];
            const std::vector<lang::value> arguments{lang::value::integer(number),
                                                     lang::value::integer(turn),
                                                     lang::value::integer(std::stoi(response))};
            result<lang::value> ended = co_await call->session.call_within(
                std::move(callee), arguments, call->scope, context);
            if (!ended) co_return ended.error();
            values.push_back(*std::move(ended));
        }
        *given = lang::make_list(call->session.memory(), values);
        co_return result<void>();
    }

    [[nodiscard]] static error failed() { return error(lang::errc::evaluation, "no"); }

    std::mt19937_64 chance_;
    std::map<std::string, int>& asked_;
    std::int64_t living_ = 0; ///< members; one team works at a time
    lang::builtin row_{
        "team", "f members turns [fails]", 3, 4, lang::builtin_kind::effect, nullptr, "f", "",
        "test"};
};

/// One process that executes a row.
class row_process {
public:
    explicit row_process(std::uint64_t seed, std::vector<step_record> earlier = {}) {
        engine_parts parts;
        parts.print = [this](std::string_view text) { printed += text; };
        parts.effects.push_back(std::make_shared<fetch>(seed, asked));
        parts.effects.push_back(std::make_shared<later>());
        parts.effects.push_back(std::make_shared<within>());
        parts.effects.push_back(std::make_shared<agent>(seed, asked));
        parts.effects.push_back(std::make_shared<team>(seed, asked));
        engine_ = std::make_unique<engine>(loop, std::move(parts));
        session_ = *engine_->new_session();
        log = std::make_unique<memory_log>(loop, std::move(earlier));
    }

    /// The written value, or "Kind: message".
    std::string run(const std::string& text, run_options options = {}) {
        options.steps = log.get();
        evaluation_end ended;
        coro::spawn(loop, evaluate(session_.get(), text, options, &ended),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        loop.run();
        return shown(ended);
    }
    int calls() const {
        int all = 0;
        for (const auto& [what, times] : asked) all += times;
        return all;
    }

    boost::asio::io_context context{1};
    coro::event_loop loop{context, coro::event_loop::time::virtual_};
    std::string printed;
    std::map<std::string, int> asked;
    std::unique_ptr<memory_log> log;

private:
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

} // namespace heddle::host
