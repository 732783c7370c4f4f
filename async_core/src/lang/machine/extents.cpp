#include "extents.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>

#include <algorithm>
#include <string>

namespace heddle::lang {

namespace {

constexpr std::string_view deadline_key = "deadline-at";
constexpr std::string_view extent_key = "deadline-extent";

} // namespace

value with_deadline(heap& memory, value settings, double now, double seconds) {
    const double at = now + seconds;
    if (const auto outer = deadline_of(settings); outer && *outer <= at) return settings;
    settings = map_put(memory, std::move(settings), deadline_key, value::real(at));
    return map_put(memory, std::move(settings), extent_key,
                   make_host(memory, std::make_unique<time_extent>(seconds)));
}

value without_deadline(heap& memory, const value& settings) {
    if (!map_find(settings, deadline_key)) return settings;
    return map_remove(memory, map_remove(memory, settings, deadline_key), extent_key);
}

std::optional<double> deadline_of(const value& settings) noexcept {
    const value* at = map_find(settings, deadline_key);
    if (!at) return std::nullopt;
    return at->as_real();
}

error deadline_error(const value& settings) {
    const value* mark = map_find(settings, extent_key);
    const auto* extent = mark ? host_as<time_extent>(*mark) : nullptr;
    std::string message = "the time given by 'with' or 'timeout' is over";
    if (extent) message += " (" + print_value(value::real(extent->seconds())) + " s)";
    error failure(errc::timeout, std::move(message));
    if (!mark) return failure;
    return with_extent(std::move(failure), *mark);
}

bool is_inside(const value& settings, const value& extent) noexcept {
    const auto entries = map_entries(settings);
    return std::any_of(entries.begin(), entries.end(),
                       [&](const map_entry& entry) { return entry.item.identical(extent); });
}

} // namespace heddle::lang
