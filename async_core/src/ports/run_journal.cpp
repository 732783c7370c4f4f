#include <heddle/ports/run_journal.hpp>

#include <set>
#include <utility>

namespace heddle::ports {

step_spending& step_spending::operator+=(const step_spending& other) noexcept {
    requests += other.requests;
    input_tokens += other.input_tokens;
    output_tokens += other.output_tokens;
    cost_usd += other.cost_usd;
    unpriced += other.unpriced;
    estimated = estimated || other.estimated;
    return *this;
}

std::vector<step_record> revised(std::vector<step_record> records,
                                 const std::vector<std::uint64_t>& discarded) {
    const std::set<std::uint64_t> dropped(discarded.begin(), discarded.end());
    const auto is_answer = [](const step_record& each) {
        return each.kind == step_kind::answer || each.kind == step_kind::composed;
    };
    std::set<digest128> ended;
    for (const step_record& each : records) {
        if (is_answer(each)) ended.insert(each.path);
    }
    std::vector<step_record> left;
    for (step_record& each : records) {
        const bool is_response = each.kind == step_kind::request || each.kind == step_kind::reused;
        if (is_response && dropped.contains(each.number)) {
            each.kind = step_kind::past;
            each.content = {};
            each.body.clear();
        } else if (each.kind == step_kind::request) {
            const bool is_counted = each.spent.requests != 0 || ended.contains(each.path);
            each.kind = is_counted ? step_kind::spare : step_kind::due;
        } else if (each.kind == step_kind::reused) {
            each.kind = step_kind::spare;
        } else if (is_answer(each) || each.kind == step_kind::lost) {
            if (is_answer(each)) each.content = {};
            each.kind = step_kind::past;
            each.body.clear();
        } else if (!is_of_earlier_program(each.kind)) {
            continue;
        }
        left.push_back(std::move(each));
    }
    return left;
}

} // namespace heddle::ports
