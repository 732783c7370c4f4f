// The table of builtins.
#pragma once

#include <heddle/lang/errors.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/work.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::lang {

struct builtin;

/// What a pure builtin is called with. It must not call back into the program.
class native_call {
public:
    native_call(heap& memory, const builtin& row, work_meter& work)
        : memory_(memory), row_(&row), work_(work) {}

    [[nodiscard]] heap& memory() noexcept { return memory_; }
    [[nodiscard]] const builtin& row() const noexcept { return *row_; }

    /// Meters the call. A builtin whose running time depends on its arguments spends work as it
    /// proceeds. When spend() returns false, it returns at once (`if (!call.spend(n)) return {};`).
    /// It may then be called again with the same arguments, so until that point it must not have
    /// changed any of them.
    [[nodiscard]] work_meter& work() noexcept { return work_; }
    [[nodiscard]] bool spend(std::uint64_t work) { return work_.spend(work); }
    [[nodiscard]] bool spend_bytes(std::size_t bytes) { return work_.spend_bytes(bytes); }
    [[nodiscard]] bool expect(std::uint64_t work) { return work_.expect(work); }

    /// Notes the error and returns nil: `return call.fail(…)`.
    value fail(error failure) {
        failure_ = std::move(failure);
        return {};
    }
    /// TypeError "NAME: argument INDEX must be EXPECTED, not ACTUAL (written form)".
    value fail_type(std::size_t index, std::string_view expected, const value& given);
    value fail_evaluation(std::string message);
    /// LimitError unless `bytes` more may be allocated.
    [[nodiscard]] bool reserve(std::size_t bytes);

    [[nodiscard]] std::optional<error>& failure() noexcept { return failure_; }

private:
    heap& memory_;
    const builtin* row_;
    work_meter& work_;
    std::optional<error> failure_;
};

using native_function = value (*)(native_call& call, std::span<value> arguments);
/// As native_function, but may carry state.
using native_code = std::function<value(native_call& call, std::span<value> arguments)>;

/// How the machine runs a builtin.
enum class builtin_kind : std::uint8_t {
    pure,   ///< `run` computes the value at once
    effect, ///< becomes an effect request, which the host performs
    control ///< the machine itself: apply, eval, raise
};

/// One row: name, arity, documentation and code. `(help 'name)`, arity checks, the reference page
/// and editor data are generated from it.
struct builtin {
    std::string_view name;
    std::string_view parameters; ///< "x y", "xs…", "n [default]": shown as written
    std::uint16_t min_arguments = 0;
    std::uint16_t max_arguments = 0; ///< any_number: no bound
    builtin_kind how = builtin_kind::pure;
    native_function run = nullptr; ///< pure only
    std::string_view summary;
    std::string_view
        example;             ///< "(f 1) => 2", run as a test; empty when it needs the outside world
    std::string_view family; ///< "numbers", "strings", "lists", "maps", "data", "world"
    bool constant_time = false; ///< of a pure one: whatever the size of its arguments
    /// Effects only: it may wait for what other branches do, so its branch has no permit meanwhile.
    bool waits_for_branches = false;

    static constexpr std::uint16_t any_number = 0xFFFF;
};

/// What a callable object of the host computes at once (host_object::at_once).
struct immediate_call {
    builtin row; ///< a pure one without `run`; the arguments are checked by the code
    /// The first argument: the names of the clauses as a list, or nil for a call by position; then
    /// those of the call.
    native_code run;
};

/// All rows of a family, in the order of the reference page.
[[nodiscard]] std::span<const builtin> number_builtins() noexcept;
[[nodiscard]] std::span<const builtin> string_builtins() noexcept;
[[nodiscard]] std::span<const builtin> regex_builtins() noexcept;
[[nodiscard]] std::span<const builtin> list_builtins() noexcept;
[[nodiscard]] std::span<const builtin> map_builtins() noexcept;
[[nodiscard]] std::span<const builtin> data_builtins() noexcept;
/// apply, eval, parse, error, …: run by the machine.
[[nodiscard]] std::span<const builtin> control_builtins() noexcept;

/// await, cancel, semaphore, and the checks of the forms of concurrency.
[[nodiscard]] std::span<const builtin> concurrency_builtins() noexcept;
/// All of the above, in the order of the reference.
[[nodiscard]] std::span<const std::span<const builtin>> builtin_families() noexcept;

/// The row of that name over all families, or null.
[[nodiscard]] const builtin* find_builtin(std::string_view name) noexcept;

} // namespace heddle::lang
