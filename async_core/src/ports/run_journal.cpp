#include <heddle/ports/run_journal.hpp>

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

} // namespace heddle::ports
