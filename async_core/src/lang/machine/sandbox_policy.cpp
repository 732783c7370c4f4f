#include "sandbox_policy.hpp"

#include "lang/text/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace heddle::lang {

result<value> sandbox_policy::create(heap& memory, const value& clauses, const value* outer) {
    auto made = std::make_unique<sandbox_policy>();
    if (outer) made->outer_ = *outer;
    for (const map_entry& clause : map_entries(clauses)) {
        const std::string_view name = string_bytes(clause.key);
        if (name == "allow") {
            for (const value& each : list_items(clause.item)) {
                const std::string_view allowed = symbol_name(each);
                if (!outer || made->outer()->allows(allowed)) made->allowed_.emplace(allowed);
            }
            continue;
        }
        if (!clause.item.is_integer() || clause.item.as_integer() < 0) {
            return error(errc::type, "sandbox: " + std::string(name) +
                                         " must be a whole number from 0, not " +
                                         shown(clause.item));
        }
        const auto bound = static_cast<std::uint64_t>(clause.item.as_integer());
        if (name == "steps") made->steps_ = made->steps_given_ = bound;
        if (name == "calls") made->calls_ = made->calls_given_ = bound;
        if (name == "memory") {
            made->memory_ = bound;
            made->memory_end_ = bound > SIZE_MAX - memory.used() ? SIZE_MAX : memory.used() + bound;
        }
    }
    return make_host(memory, std::move(made));
}

bool sandbox_policy::allows(std::string_view name) const { return allowed_.contains(name); }

result<void> sandbox_policy::count_call() {
    for (const sandbox_policy* each = this; each; each = each->outer()) {
        if (each->calls_ == 0) {
            return error(errc::limit, "the sandbox allows " + std::to_string(each->calls_given_) +
                                          " calls of tasks and tools, and they are used up");
        }
    }
    for (sandbox_policy* each = this; each; each = each->outer()) {
        if (each->calls_ != UINT64_MAX) --each->calls_;
    }
    return {};
}

std::uint64_t sandbox_policy::steps_left() const noexcept {
    std::uint64_t least = UINT64_MAX;
    for (const sandbox_policy* each = this; each; each = each->outer())
        least = std::min(least, each->steps_);
    return least;
}

void sandbox_policy::spend(std::uint64_t steps) noexcept {
    for (sandbox_policy* each = this; each; each = each->outer()) {
        if (each->steps_ != UINT64_MAX) each->steps_ -= std::min(each->steps_, steps);
    }
}

std::size_t sandbox_policy::memory_end() const noexcept {
    std::size_t least = SIZE_MAX;
    for (const sandbox_policy* each = this; each; each = each->outer())
        least = std::min(least, each->memory_end_);
    return least;
}

value sandbox_policy::exhausted(const value& self, std::size_t used, std::string& what) const {
    value found;
    value at = self;
    for (const sandbox_policy* each = this; each; each = each->outer()) {
        if (each->steps_ == 0) {
            found = at;
            what = "the sandbox allows " + std::to_string(each->steps_given_) +
                   " steps, and they are used up";
        } else if (used > each->memory_end_) {
            found = at;
            what = "the sandbox allows " + std::to_string(each->memory_) +
                   " bytes of memory, and they are used up";
        }
        at = each->outer_;
    }
    return found;
}

bool is_data(const value& v) {
    std::vector<value> work{v};
    while (!work.empty()) {
        const value next = std::move(work.back());
        work.pop_back();
        switch (next.type()) {
        case kind::closure:
        case kind::builtin:
        case kind::host:
        case kind::cell: return false;
        case kind::list: {
            const auto items = list_items(next);
            std::copy_if(
                items.begin(), items.end(), std::back_inserter(work),
                [](const value& item) { return item.is_object() || item.is(kind::builtin); });
            break;
        }
        case kind::map:
            for (const map_entry& entry : map_entries(next)) {
                if (entry.item.is_object() || entry.item.is(kind::builtin))
                    work.push_back(entry.item);
            }
            break;
        default: break;
        }
    }
    return true;
}

} // namespace heddle::lang
