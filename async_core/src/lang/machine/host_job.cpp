#include <heddle/lang/host_job.hpp>

#include "native_stack.hpp"
#include "turn_work.hpp"

#include <utility>

namespace heddle::lang {

namespace {

class one_turn final : public work_meter {
public:
    one_turn() noexcept : work_meter(units_of_a_turn) {}

private:
    bool pass() override { return !(stopped_ = true); }
    bool foresee(std::uint64_t) override { return pass(); }
};

} // namespace

bool done_in_a_turn(const metered_work& work) {
    one_turn meter;
    work(meter);
    return !meter.stopped();
}

class host_job::job final : private turn_work {
public:
    job(realm& realm, std::size_t stack_bytes, metered_work run)
        : turn_work(stack_), work_([this, run = std::move(run)] { run(*this); }),
          stack_(realm, stack_bytes) {}
    ~job() { stack_.abandon(); }
    job(const job&) = delete;
    job& operator=(const job&) = delete;

    [[nodiscard]] bool resume() { return stack_.resume(work_) == native_stack::progress::ended; }

private:
    std::function<void()> work_;
    native_stack stack_;
};

host_job::host_job(realm& realm, std::size_t stack_bytes, metered_work work)
    : job_(std::make_unique<job>(realm, stack_bytes, std::move(work))) {}

host_job::~host_job() = default;

bool host_job::resume() { return job_->resume(); }

} // namespace heddle::lang
