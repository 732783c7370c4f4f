// What builtins say to arguments of which only some are known.
#pragma once

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::lang {

/// What is known of a value from the text of a program. With no member set: anything may come.
struct known_value {
    std::optional<value> constant;
    std::optional<kind> type; ///< list, map, string, boolean, integer or closure (any function)
    std::string noun{};       ///< what the value is called in messages: "a task result"
    std::vector<value>
        samples{}; ///< values that it may be like, of several kinds where there is no
                   ///< type; empty: any of the type

    [[nodiscard]] bool known() const noexcept { return constant || type || !samples.empty(); }
    /// Whether it can be of that kind; for closure: any function.
    [[nodiscard]] bool may_be(kind wanted) const {
        if (constant) return constant->is(wanted);
        if (type) return *type == wanted;
        return samples.empty() || std::any_of(samples.begin(), samples.end(),
                                              [&](const value& one) { return one.is(wanted); });
    }
};

/// A pure builtin checks its own arguments, and nothing else in the world. So it is asked: it runs
/// with the arguments that are known and with samples of all kinds in place of the others. There is
/// no second list of what builtins take, which could say something else.
/// Threads: one at a time. The work of one probe object is bounded; after that it finds nothing.
class builtin_probe {
public:
    explicit builtin_probe(heap& memory);

    struct refusal {
        std::size_t argument = 0; ///< from 1; 0: the call as a whole
        std::string message;
    };
    /// Why the call fails whatever the unknown arguments are. Nothing: it may succeed.
    [[nodiscard]] std::optional<refusal> refuses(const builtin& row,
                                                 std::span<const known_value> arguments);
    /// What is known of the result whatever the arguments are: its kind, when all are lists, maps,
    /// strings, booleans or integers, or that it is a number.
    [[nodiscard]] const known_value& result_of(const builtin& row);
    /// The values to try for what is known. They live as long as the probe and `known`.
    [[nodiscard]] std::vector<const value*> samples_of(const known_value& known) const;
    /// Maps that have the entries of `map` and the keys `open`, whose values may be anything.
    [[nodiscard]] std::vector<value> maps_with(const value& map,
                                               std::span<const std::string> open) const;

private:
    using choices = std::vector<std::vector<const value*>>; ///< of each argument

    struct run_outcome {
        std::optional<error> failure;
        value result;
    };
    [[nodiscard]] std::optional<run_outcome> run(const builtin& row, std::vector<value> arguments);
    [[nodiscard]] value map_of_places(const value& text) const;
    [[nodiscard]] known_value find_result(const builtin& row);

    heap& memory_;
    std::vector<value> samples_;
    value host_;   ///< an object of the host
    value marker_; ///< in the samples: a result that is it was taken out of an argument
    std::size_t result_sample_ = 0; ///< index of the task result among the samples
    std::size_t runs_left_ = 500'000;
    std::unordered_map<const builtin*, known_value> results_;
};

} // namespace heddle::lang
