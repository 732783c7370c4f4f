// What a check by a JSON Schema does in place of the library, and how it is bounded.
#pragma once

#include <heddle/lang/work.hpp>

#include <cstdint>

namespace valijson {
class SchemaParser;
}

namespace heddle::tasks {

/// Thrown through the library, which has no other way to be stopped.
struct too_dear {};
/// The same, when the meter of the check stops it.
struct given_up {};

class schema_patterns;

/// Bytes of a text that are copied and walked in a step of a check.
inline constexpr std::uint64_t copied_in_a_step = 256;

/// What a check may take while this lives, in checks of a value by a schema; and how deep the
/// library may call itself, which is bounded in any case. Threads: a check is on one.
class check_effort {
public:
    check_effort(std::uint64_t steps, lang::work_meter& work) noexcept;
    ~check_effort();
    check_effort(const check_effort&) = delete;
    check_effort& operator=(const check_effort&) = delete;

    /// Throws too_dear when there are no steps left, given_up when the meter stops it.
    static void take(std::uint64_t steps);
    /// Counts `units` of the meter that are not steps. Throws given_up.
    static void spend(std::uint64_t units);

private:
    [[nodiscard]] std::uint64_t stack_used() const noexcept;

    std::uint64_t left_;
    lang::work_meter& work_;
    const void* base_;
    check_effort* outer_;
};

/// Registers the keywords that the rewriter has put into schemas (schema_rewriter.hpp). `patterns`:
/// those of the schema. `work`: counts the schemas that the parser reads, which throws given_up
/// when it stops. Both outlive the parser.
void add_own_keywords(valijson::SchemaParser& parser, const schema_patterns& patterns,
                      lang::work_meter& work);

} // namespace heddle::tasks
