// A builtin that takes long.
#pragma once

#include "native_stack.hpp"
#include "pending_job.hpp"
#include "turn_work.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/realm.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace heddle::lang {

/// Runs a builtin in turns.
class builtin_job final : public turn_job, private turn_work {
public:
    /// `run`: the code of `row`, or what takes its place.
    builtin_job(realm& realm, const builtin& row, native_code run, std::vector<value> arguments);
    ~builtin_job() override;
    builtin_job(const builtin_job&) = delete;
    builtin_job& operator=(const builtin_job&) = delete;

    [[nodiscard]] native_stack::progress resume() override { return stack_.resume(work_); }
    [[nodiscard]] std::uint64_t take_spent() noexcept override;
    [[nodiscard]] result<value> take() override;

private:
    const builtin& row_;
    std::vector<value> arguments_;
    native_call call_;
    value result_;
    std::uint64_t paid_ = 0;
    std::function<void()> work_;
    native_stack stack_;
};

} // namespace heddle::lang
