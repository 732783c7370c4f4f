#include "program_check.hpp"

#include "lang_harness.hpp"
#include "program_generator.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace heddle::fuzzing {

namespace {

using lang::outcome;
using lang::outcome_kind;
using lang::testing::lang_harness;
using lang::testing::schedule;

constexpr std::uint64_t programs_in_a_harness = 256; ///< texts and names of globals stay behind

[[nodiscard]] bool has_any(std::string_view text, std::span<const std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    });
}

/// Does the value depend on the order of events, or on what was run before?
[[nodiscard]] bool depends_on_schedule(std::string_view text) {
    static constexpr std::array<std::string_view, 4> harness{"pause", "note", "fail-after",
                                                             "gensym"};
    static constexpr std::array<std::string_view, 8> branches{
        "map", "for-each", "filter", "parallel", "race", "hedge", "timeout", "spawn"};
    static constexpr std::array<std::string_view, 8> order{"set!",  "try",  "race",    "eval",
                                                           "hedge", "bind", "sandbox", "settled"};
    return has_any(text, harness) || (has_any(text, branches) && has_any(text, order)) ||
           (has_any(text, branches) && text.find("parallel") != std::string_view::npos &&
            text.find("define") != std::string_view::npos);
}

[[nodiscard]] std::string reported(const outcome& ended) {
    if (ended.kind == outcome_kind::done) return lang::print_value(ended.result);
    return std::string(lang::error_kind_name(*ended.failure)) + ": " + ended.failure->message();
}

[[nodiscard]] bool is_limit(const outcome& ended) {
    return ended.failure && ended.failure->code() == lang::errc::limit;
}

} // namespace

std::string program_of(std::span<const std::uint8_t> input) {
    if (input.empty()) return {};
    if (input[0] >= 0x80) return generate_program(input.subspan(1));
    return {reinterpret_cast<const char*>(input.data()), input.size()};
}

program_check::program_check() = default;
program_check::~program_check() = default;

std::string program_check::run(std::span<const std::uint8_t> input) {
    if (!harness_ || programs % programs_in_a_harness == 0) {
        harness_ = std::make_unique<lang_harness>();
        globals_ = harness_->harness.global_count();
    }
    ++programs;
    unsigned variation = 0;
    for (const std::uint8_t byte : input) variation = variation * 31 + byte;
    const std::string program = program_of(input);
    std::string problem = check(program, variation);
    if (problem.empty()) return {};
    harness_.reset(); // whatever state it is in
    return problem + "\nin the program:\n" + program + "\n";
}

std::string program_check::check(const std::string& program, unsigned variation) {
    lang::realm& harness = harness_->harness;
    schedule plain;
    plain.steps = 20'000;
    plain.cleanup_steps = 20'000;
    plain.memory = std::size_t{4} * 1024 * 1024;
    const auto forget = [&] {
        for (std::size_t i = globals_; i < harness.global_count(); ++i)
            harness.change_global(static_cast<std::uint32_t>(i)) = lang::value::unbound();
        for (const char* name : {"m0", "m1", "m2", "m3"}) harness.forget_macro(name);
        harness.memory().collect_cycles();
    };
    (void)harness_->run(program, plain);
    if (harness_->stuck) return "does not end";
    forget();
    // The names of its globals stay and count.
    const std::size_t start = harness.memory().used();
    const auto leaves_something = [&](std::string_view how) -> std::string {
        forget();
        const std::size_t now = harness.memory().used();
        if (now == start) return {};
        return "memory " + std::string(how) + ": " + std::to_string(start) + " bytes before, " +
               std::to_string(now) + " after";
    };
    std::string expected;
    bool limited = false;
    outcome_kind kind{};
    std::int64_t runs = 0;
    {
        const outcome ended = harness_->run(program, plain);
        if (harness_->stuck) return "does not end";
        expected = reported(ended);
        limited = is_limit(ended);
        kind = ended.kind;
        runs = harness_->runs;
    }
    if (kind == outcome_kind::done) ++values;
    // A macro stays behind where the text defines one by another name than ours.
    const bool keeps = program.find("defmacro") != std::string::npos &&
                       program.find("defmacro m") == std::string::npos;
    if (std::string left = leaves_something("is kept"); !left.empty() && !keeps) return left;
    if (keeps) {
        harness_.reset();
        return {};
    }

    const bool compares = !limited && !depends_on_schedule(program);
    if (compares) ++compared;
    for (int each = 0; each < 3; ++each) {
        schedule how = plain;
        how.slice = each == 0 ? 1 : 1 + variation % 7;
        how.split = each != 0;
        how.moved = each == 1;
        how.concurrency = each == 2 ? 1 + variation / 7 % 3 : 64;
        how.steps = plain.steps * 2; // a slice of one counts a little differently
        const std::string which = "with slice " + std::to_string(how.slice) +
                                  (how.split ? ", split" : "") + (how.moved ? ", moved" : "") +
                                  ", concurrency " + std::to_string(how.concurrency);
        {
            const outcome ended = harness_->run(program, how);
            if (harness_->stuck) return "does not end " + which;
            if (each == 0) runs = harness_->runs;
            if (compares && ended.kind != kind)
                return which + " it ends with " + reported(ended) + ", else with " + expected;
            if (compares && kind == outcome_kind::done && reported(ended) != expected)
                return which + " the value is " + reported(ended) + ", else " + expected;
        }
        if (std::string left = leaves_something("is kept " + which); !left.empty()) return left;
    }
    schedule ends = plain;
    ends.slice = 1;
    ends.split = variation % 2 == 0;
    ends.cancel_at = runs <= 1 ? 0 : static_cast<std::int64_t>(variation % runs);
    {
        const outcome ended = harness_->run(program, ends);
        if (harness_->stuck) return "does not end when cancelled";
        if (ended.kind == outcome_kind::cancelled) ++cancelled;
        if (compares && ended.kind == outcome_kind::done && reported(ended) != expected)
            return "cancelled at " + std::to_string(ends.cancel_at) + " it still ends with " +
                   reported(ended) + ", else with " + expected;
    }
    return leaves_something("is kept after a cancellation");
}

} // namespace heddle::fuzzing
