#include "ends_of_time.hpp"

#include "function_cuts.hpp"
#include "record_kinds.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace heddle::host {

using ports::step_kind;
using ports::step_record;

namespace {

[[nodiscard]] bool is_end_of_time(const step_record& record) {
    const bool is_of_wait = record.kind == step_kind::cut && record.content.is_zero();
    const bool is_of_step = ends_a_step(record) && record.body == cut_by_deadline;
    return is_of_wait || is_of_step || function_cuts::is_end_of_time(record);
}

[[nodiscard]] bool acts(const step_record& record) {
    static constexpr std::array<std::string_view, 11> harmless{
        "sleep",       "now",       "random",       "uuid",           "%jitter", "print",
        "log-message", "read-file", "file-exists?", "list-directory", "getenv"};
    if (record.kind == step_kind::tool) return !record.name.starts_with(context_of);
    if (!ends_a_step(record) || record.name.starts_with("task ")) return false;
    const std::string_view name = record.name;
    return std::find(harmless.begin(), harmless.end(), name) == harmless.end();
}

} // namespace

std::optional<std::size_t> last_end_of_time(const std::vector<step_record>& all) {
    for (std::size_t i = all.size(); i-- != 0;) {
        if (is_end_of_time(all[i])) return i;
    }
    return std::nullopt;
}

std::size_t first_end_of_time(const std::vector<step_record>& all, std::size_t of) {
    constexpr double apart = 0.05; // seconds, at most: each branch notes when it came
    std::size_t first = of;
    for (std::size_t i = of; i-- != 0;) {
        if (all[i].kind == step_kind::clock) continue; // of an earlier time than its place
        if (all[i].at < all[of].at - apart) break;
        if (is_end_of_time(all[i])) first = i;
    }
    return first;
}

bool has_acted(const std::vector<step_record>& all, std::size_t from, std::size_t until) {
    until = std::min(until, all.size());
    return from < until && std::any_of(all.begin() + static_cast<std::ptrdiff_t>(from),
                                       all.begin() + static_cast<std::ptrdiff_t>(until), acts);
}

} // namespace heddle::host
