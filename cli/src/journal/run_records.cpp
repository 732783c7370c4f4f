#include "journal/run_records.hpp"

#include <string_view>
#include <utility>

namespace heddle::cli {

namespace {

using ports::step_kind;
using ports::step_record;

constexpr std::string_view main_begins = "main begins";

bool is_mark(const step_record& record) {
    return record.kind == step_kind::nested && record.path.is_zero() && record.name == main_begins;
}

} // namespace

run_records run_records::of(const std::vector<step_record>& all) {
    run_records sorted;
    for (const step_record& each : all) {
        if (is_mark(each)) {
            sorted.main_has_begun = true;
            continue;
        }
        if (ends_a_step(each) && !each.body.empty()) ++sorted.answers;
        const bool is_part = is_response(each) || each.kind == step_kind::tool ||
                             each.kind == step_kind::unanswered ||
                             ports::is_of_earlier_program(each.kind);
        if (!sorted.main_has_begun) sorted.top.push_back(each);
        if (!sorted.main_has_begun && !is_part) continue;
        sorted.main.push_back(each);
        if (!sorted.main_has_begun) sorted.main.back().at = 0; // of another clock
    }
    return sorted;
}

step_record mark_of_main() {
    step_record record;
    record.kind = step_kind::nested;
    record.name = main_begins;
    return record;
}

} // namespace heddle::cli
