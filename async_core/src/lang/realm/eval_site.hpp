// The names around an eval.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/objects.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// What code given to `eval` sees of the function that encloses the `eval`. Made when that
/// function is compiled; at run time the cells of the names come in the same order.
class eval_site final : public host_object {
public:
    struct name {
        std::string text;
        bool definite = false; ///< certainly bound at the eval
        bool is_task = false;
        bool is_tool = false;
        std::vector<std::string> task_inputs;
    };
    struct level {
        std::vector<name> names;
        bool has_extras = false; ///< its last cell holds a map of what eval bound there besides
    };

    [[nodiscard]] std::string_view type_name() const noexcept override { return "eval-site"; }
    [[nodiscard]] bool is_immutable() const noexcept override { return true; }
    [[nodiscard]] std::size_t cells() const noexcept {
        std::size_t count = in_sandbox ? 1 : 0;
        for (const level& each : levels) count += each.names.size() + (each.has_extras ? 1 : 0);
        return count;
    }

    /// A further level takes memory.
    void charge(heap& memory, const level& added) {
        std::size_t bytes = charge_.bytes() + sizeof(level);
        for (const name& each : added.names) {
            bytes += sizeof(name) + each.text.size();
            for (const std::string& input : each.task_inputs)
                bytes += sizeof(std::string) + input.size();
        }
        charge_.set(memory, bytes);
    }

    std::vector<level> levels; ///< outermost first
    /// The text around it is the body of a sandbox. Then the first cell holds that sandbox, and the
    /// outermost level is its body: what is around it is not seen.
    bool in_sandbox = false;

private:
    heap_charge charge_;
};

// Names of hidden variables.
inline constexpr std::string_view extras_name = "eval scope";
inline constexpr std::string_view sandbox_name = "the sandbox";

} // namespace heddle::lang
