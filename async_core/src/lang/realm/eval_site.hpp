// The names around an eval.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang {

/// The names of a scope that code given to `eval` may see. All evals inside of the scope share it,
/// so that many of them beside many names take little: each sees the names that were there first.
/// At run time the cells are in a list, the environment of the scope: first that of `outer`, or
/// nil, then a cell for each name.
class eval_scope {
public:
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

    struct name {
        std::string text;
        std::uint32_t seen_from = 0;      ///< the first eval that sees it
        std::uint32_t bound_from = never; ///< the first one at which it is certainly bound
        bool is_extras = false;           ///< hidden: holds a map of what eval bound there besides
        bool is_task = false;
        bool is_tool = false;
        std::vector<std::string> task_inputs;
    };

    eval_scope() = default;
    eval_scope(const eval_scope&) = delete;
    eval_scope& operator=(const eval_scope&) = delete;
    /// A long chain takes no native frames.
    ~eval_scope() {
        for (auto next = std::move(outer); next && next.use_count() == 1;)
            next = std::exchange(next->outer, nullptr);
    }

    void add(heap& memory, name added) {
        charge_.set(memory, charge_.bytes() + size_of(added));
        names.push_back(std::move(added));
    }
    /// Names that were put there without `add` take memory from now on.
    void charge(heap& memory) {
        if (charge_.bytes() != 0) return;
        std::size_t bytes = 0;
        for (const name& each : names) bytes += size_of(each);
        charge_.set(memory, bytes);
    }
    /// How many of the names an eval sees.
    [[nodiscard]] std::size_t seen_by(std::uint32_t eval) const noexcept {
        const auto end = std::partition_point(names.begin(), names.end(), [eval](const name& each) {
            return each.seen_from <= eval;
        });
        return static_cast<std::size_t>(end - names.begin());
    }

    std::vector<name> names;           ///< the order is that in which evals came to see them
    std::shared_ptr<eval_scope> outer; ///< null: nothing around it is seen
    /// In the numbers of `outer`, the eval that the code of this scope was given to; 0: both are of
    /// one text, and have the same numbers.
    std::uint32_t given_to = 0;

private:
    [[nodiscard]] static std::size_t size_of(const name& one) noexcept {
        std::size_t bytes = sizeof(name) + one.text.size();
        for (const std::string& input : one.task_inputs)
            bytes += sizeof(std::string) + input.size();
        return bytes;
    }

    heap_charge charge_;
};

/// What code given to `eval` sees of the function that encloses the `eval`. Made when that
/// function is compiled.
class eval_site final : public host_object {
public:
    struct level {
        const eval_scope* scope;
        std::uint32_t eval; ///< in the numbers of that scope
    };

    [[nodiscard]] std::string_view type_name() const noexcept override { return "eval-site"; }
    [[nodiscard]] bool is_immutable() const noexcept override { return true; }
    /// The scopes, outermost first.
    [[nodiscard]] std::vector<level> levels() const {
        std::vector<level> result;
        std::uint32_t seen_by = eval;
        for (const eval_scope* each = innermost.get(); each; each = each->outer.get()) {
            result.push_back({each, seen_by});
            if (each->given_to != 0) seen_by = each->given_to;
        }
        std::reverse(result.begin(), result.end());
        return result;
    }
    /// Registers that the machine reads for it: the environment, and the sandbox.
    [[nodiscard]] std::size_t registers() const noexcept { return in_sandbox ? 2 : 1; }

    std::shared_ptr<eval_scope> innermost;
    std::uint32_t eval = 1; ///< its number in the text; the first one is 1
    /// The text around it is the body of a sandbox. Then a cell holds that sandbox, and the
    /// outermost level is its body: what is around it is not seen.
    bool in_sandbox = false;
};

// Names of hidden variables.
inline constexpr std::string_view extras_name = "eval scope";
inline constexpr std::string_view sandbox_name = "the sandbox";
inline constexpr std::string_view environment_name = "what eval sees";

} // namespace heddle::lang
