// Compiling that takes turns with the loop.
#pragma once

#include "lang/compile/compile_request.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pthread.h>

namespace heddle::lang {

/// Code to compile for a strand, with all that it needs.
struct code_order {
    std::vector<datum> forms;
    compile_request request;
    std::vector<value> cells;        ///< of request.site
    std::unique_ptr<eval_site> site; ///< request.site, unless `site_value` holds it
    value site_value;
    scope_ref scope;           ///< of the code: holds the policy of request.limits
    bool expands_only = false; ///< for macroexpand: the form once no macro is at its head
};

/// The code as a function over the cells of its site, or the expanded form.
[[nodiscard]] result<value> carry_out(realm& world, code_order& order, compile_watch& watch);

/// Whether an order may take longer than others can wait: much code, or macros, which compute.
[[nodiscard]] bool takes_long(realm& world, const code_order& order);

/// An order that is carried out on a native stack of its own, in turns. Who waits and who works never
/// run at the same time, so nothing is touched from two threads at once. A turn ends after a fixed amount of
/// work: what a program does is the same each time.
class code_job final : private compile_watch {
public:
    code_job(realm& world, code_order order) : world_(world), order_(std::move(order)) {}
    /// Ends it before its time.
    ~code_job();
    code_job(const code_job&) = delete;
    code_job& operator=(const code_job&) = delete;

    /// A turn. True once there is a result.
    [[nodiscard]] bool resume();
    /// The work since the last call, in steps.
    [[nodiscard]] std::uint64_t take_spent() noexcept { return std::exchange(spent_, 0); }
    /// Once.
    [[nodiscard]] result<value> take() { return *std::move(result_); }

    static constexpr std::uint64_t work_of_a_turn = 4096;
    static constexpr unsigned max_running = 8; ///< in a realm: each has a stack

private:
    enum class turn : std::uint8_t { owner, worker };

    std::optional<error> spend(std::uint64_t work) override;
    void start();
    void work();
    static void* run(void* self);

    realm& world_;
    code_order order_;
    std::optional<result<value>> result_;
    std::uint64_t spent_ = 0;
    std::uint64_t left_ = 0; ///< of the turn
    bool started_ = false;
    bool abandoned_ = false;
    realm::compile_state compiling_; ///< the realm's, while others have their turn
    pthread_t thread_{};
    std::mutex mutex_;
    std::condition_variable changed_;
    turn now_ = turn::owner;
};

} // namespace heddle::lang
