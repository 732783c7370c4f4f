#include "sandbox_policy.hpp"

#include <heddle/lang/counted_extent.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::lang {

namespace {

constexpr std::string_view innermost_key = "counted-extent";

} // namespace

value counted_extent::innermost(const value& settings) {
    const value* found = map_find(settings, innermost_key);
    return found ? *found : value();
}

value counted_extent::open(heap& memory, value settings, std::optional<double> usd,
                           std::optional<std::uint64_t> calls) {
    value outer = innermost(settings);
    std::size_t depth = 0;
    for (value each = outer; !each.is_nil();) {
        ++depth;
        each = value(static_cast<const counted_extent*>(host_of(each))->outer());
    }
    // Every mark stays in the map: that is how an error finds out what it has left.
    if (!outer.is_nil()) {
        settings = map_put(memory, std::move(settings),
                           std::string(innermost_key) + " " + std::to_string(depth), outer);
    }
    return map_put(
        memory, std::move(settings), innermost_key,
        make_host(memory, std::make_unique<counted_extent>(usd, calls, std::move(outer))));
}

std::optional<error> refused_by_sandbox(const value& settings, std::string_view name) {
    const value* set = map_find(settings, "sandbox");
    if (!set) return std::nullopt;
    auto* policy = static_cast<sandbox_policy*>(host_of(*set));
    if (!policy->allows(name)) {
        return error(errc::permission, "the sandbox does not allow '" + std::string(name) + "'")
            .with_hint("add it to the sandbox: (allow (" + std::string(name) + "))");
    }
    if (auto counted = policy->count_call(); !counted) return std::move(counted).error();
    return std::nullopt;
}

} // namespace heddle::lang
