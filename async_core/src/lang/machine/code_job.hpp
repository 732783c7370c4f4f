// Compiling that takes turns with the loop.
#pragma once

#include "native_stack.hpp"
#include "pending_job.hpp"

#include "lang/realm/compile_request.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

/// Code to compile for a fiber, with all that it needs.
struct code_order {
    std::vector<datum> forms;
    std::string text; ///< if not empty, the forms are read from it, when they are needed
    std::uint32_t text_position = 0; ///< of the text, in the source_map
    compile_request request;
    /// Of request.site: the sandbox around it, then the names. Those that `environment` holds come
    /// when the order is carried out.
    std::vector<value> cells;
    value environment;               ///< nil: all are there
    std::unique_ptr<eval_site> site; ///< request.site, unless `site_value` holds it
    value names;                     ///< nil, or a map that is the innermost level of `site`
    value site_value;
    scope_ref scope;           ///< of the code: holds the policy of request.limits
    bool expands_only = false; ///< for macroexpand: the form once no macro is at its head

    /// The code sees nothing around it, in the sandbox of that policy unless it is nil.
    void see_nothing(heap& memory, const value& policy);
    /// A place, behind the names of `site`, for what the code defines.
    void add_extras(heap& memory);
};

/// The code as a function over the cells of its site, or the expanded form.
[[nodiscard]] result<value> carry_out(realm& realm, code_order& order, compile_watch& watch);

/// Whether an order may take longer than others can wait: much code, or macros, which compute.
[[nodiscard]] bool takes_long(realm& realm, const code_order& order);

/// An order that is carried out in turns.
class code_job final : public turn_job, private compile_watch {
public:
    code_job(realm& realm, code_order order);
    ~code_job() override;
    code_job(const code_job&) = delete;
    code_job& operator=(const code_job&) = delete;

    [[nodiscard]] native_stack::progress resume() override;
    [[nodiscard]] std::uint64_t take_spent() noexcept override { return std::exchange(spent_, 0); }
    [[nodiscard]] source_span place() const noexcept override { return now_at; }
    [[nodiscard]] result<value> take() override { return *std::move(result_); }

    static constexpr std::uint64_t work_of_a_turn = 1024; ///< some 0.5 ms

private:
    std::optional<error> spend(std::uint64_t work) override;

    realm& realm_;
    code_order order_;
    std::optional<result<value>> result_;
    std::uint64_t spent_ = 0;
    std::uint64_t left_ = 0;         ///< of the turn
    realm::compile_state compiling_; ///< the realm's, while others have their turn
    std::function<void()> work_;
    native_stack stack_;
};

} // namespace heddle::lang
