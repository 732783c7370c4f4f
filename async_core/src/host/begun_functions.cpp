#include "begun_functions.hpp"

#include "function_cuts.hpp"
#include "record_kinds.hpp"
#include "step_path.hpp"

#include <algorithm>
#include <cstdint>

namespace heddle::host {

using ports::digest128;
using ports::step_record;

begun_functions::begun_functions(const std::vector<step_record>& all) : all_(all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        functions_.add(all[i], i);
        if (function_cuts::is_not_begun(all[i])) not_begun_.insert(all[i].content);
        if (function_cuts::is_begun_later(all[i])) not_begun_.erase(all[i].content);
    }
}

bool begun_functions::ran_since(const digest128& step, std::size_t at) const {
    const std::vector<std::size_t> ran = functions_.of(step);
    return std::any_of(ran.begin(), ran.end(), [&](std::size_t each) {
        return each > at && not_begun_.count(all_[each].path) == 0;
    });
}

/// Just before it: nothing that began, and no response of the step itself, came between.
std::optional<std::size_t> begun_functions::cut_before(std::size_t end) const {
    const step_record& ended = all_[end];
    const std::vector<std::size_t> ran = of_what_ended(ended);
    for (std::size_t i = end; i-- != 0;) {
        const step_record& each = all_[i];
        for (const std::size_t begun : ran) {
            if (begun == i) return std::nullopt;
            if (function_cuts::is_end_of_time(each) && all_[begun].path == each.content)
                return begun;
        }
        if (each.path == ended.path && is_response(each) && each.part.is_zero()) break;
    }
    return std::nullopt;
}

/// Those that have begun: of the part that failed, or of all of the step that ended.
std::vector<std::size_t> begun_functions::of_what_ended(const step_record& ended) const {
    std::vector<std::size_t> ran = functions_.of(ended.path);
    std::set<digest128> own;
    if (!ends_a_step(ended)) {
        const digest128& worker = ended.part.is_zero() ? ended.path : ended.part;
        for (std::uint64_t n = 0; n < ran.size(); ++n)
            own.insert(step_path::inside(worker, step_path::part::nested, n));
    }
    const auto is_other = [&](std::size_t begun) {
        const digest128& path = all_[begun].path;
        return not_begun_.count(path) != 0 || (!ends_a_step(ended) && own.count(path) == 0);
    };
    ran.erase(std::remove_if(ran.begin(), ran.end(), is_other), ran.end());
    return ran;
}

} // namespace heddle::host
