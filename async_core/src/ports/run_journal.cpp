#include <heddle/ports/run_journal.hpp>

#include <set>
#include <string_view>
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

namespace {

/// No encoded value, error or response begins with that, and no question, which is JSON.
constexpr std::string_view part_mark("\x03part\x03", 6);
constexpr std::size_t part_bytes = 16;

void append(std::string& to, std::uint64_t number) {
    for (int k = 0; k < 8; ++k) to += static_cast<char>(number >> (8 * k) & 0xFF);
}

[[nodiscard]] std::uint64_t number_in(std::string_view bytes) {
    std::uint64_t number = 0;
    for (unsigned k = 0; k < 8; ++k)
        number |= std::uint64_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
    return number;
}

} // namespace

std::string stored_body(const step_record& record) {
    if (!has_stored_part(record)) return record.body;
    std::string body(part_mark);
    append(body, record.part.high);
    append(body, record.part.low);
    return body += record.body;
}

void read_stored_body(step_record& record) {
    const std::string_view body = record.body;
    if (!body.starts_with(part_mark) || body.size() < part_mark.size() + part_bytes) return;
    const std::string_view part = body.substr(part_mark.size(), part_bytes);
    record.part = {number_in(part.substr(0, 8)), number_in(part.substr(8))};
    record.body.erase(0, part_mark.size() + part_bytes);
}

std::vector<step_record> revised(std::vector<step_record> records,
                                 const std::vector<std::uint64_t>& discarded) {
    const std::set<std::uint64_t> dropped(discarded.begin(), discarded.end());
    std::set<digest128> ended;
    for (const step_record& each : records) {
        if (ends_a_step(each)) ended.insert(each.path);
    }
    std::vector<step_record> left;
    for (step_record& each : records) {
        if (is_response(each) && dropped.contains(each.number)) {
            each.kind = step_kind::past;
            each.content = {};
            each.body.clear();
        } else if (each.kind == step_kind::request) {
            const bool is_counted = each.spent.requests != 0 || ended.contains(each.path);
            each.kind = is_counted ? step_kind::spare : step_kind::due;
        } else if (each.kind == step_kind::reused) {
            each.kind = step_kind::spare;
        } else if (ends_a_step(each) || each.kind == step_kind::lost) {
            if (ends_a_step(each)) each.content = {};
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
