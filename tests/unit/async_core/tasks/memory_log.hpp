// The journal of a row in memory.
#pragma once

#include <heddle/host/step_log.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::tasks::testing {

/// The records of a row, in memory.
class memory_log final : public host::step_log {
public:
    explicit memory_log(std::vector<ports::step_record> earlier) : earlier_(std::move(earlier)) {}
    std::vector<ports::step_record> take_earlier() override { return std::move(earlier_); }
    coro::task<result<void>> append(ports::step_record record, coro::call_context) override {
        all.push_back(std::move(record));
        co_return result<void>();
    }
    void note(ports::step_record record) override { all.push_back(std::move(record)); }
    std::uint64_t seed() const noexcept override { return 42; }
    std::vector<ports::step_record> all; ///< of this execution

private:
    std::vector<ports::step_record> earlier_;
};

} // namespace heddle::tasks::testing
