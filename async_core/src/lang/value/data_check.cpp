#include "lang/value/data_check.hpp"

#include "lang/value/seen_lists.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>

#include <stack>

namespace heddle::lang {

bool is_data(const value& v) {
    free_work work;
    return *is_data(v, work);
}

std::optional<bool> is_data(const value& v, work_meter& work) {
    seen_lists seen;
    std::stack<const value*> open({&v}); // grows without a copy of what is there
    const auto add = [&](const value& part) {
        if (part.is_object() || part.is(kind::builtin)) open.push(&part);
    };
    while (!open.empty()) {
        const value& next = *open.top();
        open.pop();
        // One that may be in other places too is looked for, and noted.
        const std::uint64_t own = next.target() && next.target()->references > 1 ? 8 : 1;
        if (!work.spend(own + next.is(kind::list) * next.length() / 4)) return std::nullopt;
        switch (next.type()) {
        case kind::closure:
        case kind::builtin:
        case kind::host:
        case kind::cell: return false;
        case kind::list:
            if (!seen.first_time(next)) break;
            for (const value& item : list_items(next)) add(item);
            break;
        case kind::map:
            if (!seen.first_time(next)) break;
            for (const map_entry& entry : map_entries(next)) add(entry.item);
            break;
        default: break;
        }
    }
    return true;
}

} // namespace heddle::lang
