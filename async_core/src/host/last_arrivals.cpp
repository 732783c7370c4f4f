#include "last_arrivals.hpp"

#include "arrival_places.hpp"
#include "clock_records.hpp"
#include "function_cuts.hpp"

#include <algorithm>

namespace heddle::host {

using ports::step_kind;
using ports::step_record;

void last_arrivals::read(const step_record& record) {
    if (record.kind == step_kind::clock && clock_records::is_between(record))
        paths_.erase(record.content);
    const auto arrived = arrival_places::slices_of(record);
    if (arrived) paths_.insert(record.path);
    const bool has_slices = record.kind == step_kind::clock || function_cuts::is_by_slices(record);
    slices_ = std::max(slices_, has_slices ? record.path.low : arrived.value_or(0));
}

} // namespace heddle::host
