#include "last_arrivals.hpp"

#include "clock_records.hpp"
#include "function_beginnings.hpp"
#include "record_kinds.hpp"

namespace heddle::host {

using ports::digest128;
using ports::step_kind;
using ports::step_record;

bool last_arrivals::read(const step_record& record) {
    if (is_part(record.kind)) return false;
    if (record.kind == step_kind::clock) {
        if (clock_records::is_arrival(record)) {
            add(record.content, record.path.low);
            return true;
        }
        if (clock_records::is_between(record)) had_their_turns(record.content);
        else if (clock_records::is_beginning(record)) forget();
        return false;
    }
    if (const auto slices = function_beginnings::slices_of(record)) add(record.path, *slices);
    else if (!slices_.contains(record.path)) forget();
    return false;
}

std::optional<std::uint64_t> last_arrivals::slices_before(const digest128& path) const {
    const auto found = slices_.find(path);
    return found == slices_.end() ? std::nullopt : std::optional(found->second);
}

void last_arrivals::add(const digest128& path, std::uint64_t slices) {
    if (slices_.emplace(path, slices).second) in_order_.push_back(path);
}

/// Turns come in the order of the arrivals.
void last_arrivals::had_their_turns(const digest128& last) {
    if (!slices_.contains(last)) return forget();
    while (slices_.contains(last)) {
        slices_.erase(in_order_.front());
        in_order_.pop_front();
    }
}

void last_arrivals::forget() noexcept {
    slices_.clear();
    in_order_.clear();
}

} // namespace heddle::host
