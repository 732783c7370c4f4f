#include "builtin_job.hpp"

#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t stack_bytes = 512 * 1024; ///< builtins do not recurse

} // namespace

builtin_job::builtin_job(realm& realm, const builtin& row, native_code run,
                         std::vector<value> arguments)
    : turn_work(stack_), row_(row), arguments_(std::move(arguments)),
      call_(realm.memory(), row_, *this),
      work_([this, run = std::move(run)] { result_ = run(call_, arguments_); }),
      stack_(realm, stack_bytes) {}

builtin_job::~builtin_job() { stack_.abandon(); }

std::uint64_t builtin_job::take_spent() noexcept {
    const std::uint64_t steps = (done_ - paid_) / units_of_a_step;
    paid_ += steps * units_of_a_step;
    return steps;
}

result<value> builtin_job::take() {
    if (call_.failure()) return *std::move(call_.failure());
    return std::move(result_);
}

} // namespace heddle::lang
