// `list-last`: the function and the row of docs/contributing/adding-a-builtin.md, among what the
// source of a family has around them.
#include "worked_examples.hpp"

#include "lang/builtins/support.hpp"

#include <heddle/lang/list.hpp>

namespace heddle::lang {

namespace {

value list_last(native_call& call, std::span<value> a) {
    if (!list_argument(call, a, 0)) return {}; // a TypeError that names the argument
    const auto items = list_items(a[0]);
    return items.empty() ? value() : items.back();
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "lists");
}

constexpr builtin rows[] = {
    constant_time(row("list-last", "xs", 1, 1, list_last, "The last element of xs, or nil.",
                      "(list-last '(1 2 3)) => 3")),
};

} // namespace

std::span<const builtin> example_builtins() noexcept { return rows; }

} // namespace heddle::lang
