// A rules file, read and checked. docs/reference/scripted-model.md describes the format.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/scripted/engine.hpp>

#include "scripted/text_template.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::scripted {

inline constexpr int max_groups = 64; ///< of one pattern, number 0 included

struct rule_pattern {
    text_slot over = text_slot::user;
    std::shared_ptr<const re2::RE2> expression;
};

struct rule_call {
    std::string id; ///< empty: made up
    std::string name;
    text_template arguments;
};

/// When a rule responds with an error.
struct rule_fault {
    enum class when : std::uint8_t { always, times, every, probability };
    fault shown;
    when occurs = when::always;
    std::uint64_t count = 0; ///< of times and every
    double probability = 0;
};

struct rule {
    std::vector<rule_pattern> patterns; ///< all must match; none: takes every prompt
    std::optional<text_template> text;
    std::optional<text_template> refusal;
    std::vector<rule_call> calls;
    std::optional<rule_fault> error;
    std::chrono::milliseconds min_delay{0};
    std::chrono::milliseconds max_delay{0};
    std::chrono::milliseconds piece_delay{0};
    std::optional<ports::finish_reason> finish;
    enum class usage_kind : std::uint8_t { estimated, given, none };
    usage_kind usage = usage_kind::estimated;
    ports::token_usage given_usage;

    std::uint64_t matched = 0; ///< how often it was chosen; counts faults and seeds chance
};

struct rule_set {
    std::uint64_t seed = 0;
    std::vector<std::string> models;
    std::vector<rule> rules;      ///< the default rule last, if there is one
    bool looks_at_prompt = false; ///< some pattern or placeholder uses the whole prompt
};

/// Reads a whole file and continues after a mistake, so that all are reported at once.
/// Errors: errc::invalid_argument with a rules_report.
[[nodiscard]] result<rule_set> read_rules(std::string_view json, const std::string& file);

} // namespace heddle::scripted
