// The settings in effect while a form runs: those of `with`, limits, the sandbox.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace heddle::lang {

class call_site;
class concurrency_scope;
class counted_extent;
class dynamic_scope;
class future;
class sandbox_policy;
class time_extent;

/// A counted reference to a dynamic scope. An empty reference reads as the root scope, which sets
/// nothing.
class scope_ref {
public:
    scope_ref() = default;

    [[nodiscard]] const dynamic_scope& operator*() const noexcept;
    [[nodiscard]] const dynamic_scope* operator->() const noexcept { return &**this; }
    [[nodiscard]] bool is_root() const noexcept { return held_.is_nil(); }
    [[nodiscard]] bool operator==(const scope_ref& other) const noexcept {
        return held_.identical(other.held_);
    }

    /// Returns a scope inside this one: a copy, modified by `change` (called with a
    /// dynamic_scope&).
    template <class Change>
    [[nodiscard]] scope_ref open(heap& memory, Change&& change) const;

    /// For a register of the machine; scope_of() reads it back.
    [[nodiscard]] const value& as_value() const noexcept { return held_; }
    [[nodiscard]] static scope_ref from_value(const value& kept) noexcept;

private:
    explicit scope_ref(value held) : held_(std::move(held)) {}
    value held_;
};

/// Immutable once it is open. The code inside a form, including branches and futures, shares its
/// scope. Threads: the session's only.
class dynamic_scope final : public host_object {
public:
    [[nodiscard]] std::string_view type_name() const noexcept override { return "scope"; }
    void visit_values(value_visitor& visitor) const override;

    /// True when this scope, or one around it, opened `mark` (script_payload::extent).
    [[nodiscard]] bool is_inside(const value& mark) const noexcept;

    scope_ref outer;                         ///< the scope around this one
    host_ref<concurrency_scope> concurrency; ///< bounds branches; null: no bound
    host_ref<sandbox_policy> sandbox;        ///< the rights of the code; null: unrestricted
    /// The sandboxes whose limits count the work of the code: `sandbox`, and those that enclose the
    /// call of a tool with the rights of the program. Null: none.
    host_ref<sandbox_policy> limits;
    host_ref<time_extent> time; ///< the extent of `deadline`; null: no deadline
    double deadline = std::numeric_limits<double>::infinity(); ///< on the clock of host_names
    /// When cleanup code must end, whatever started it, and the extent of time that requires it.
    double cleanup_end = std::numeric_limits<double>::infinity();
    host_ref<time_extent> cleanup_time;
    host_ref<counted_extent> counted;     ///< innermost extent of budget-usd or max-calls, or null
    host_ref<future> spawned;             ///< the future that the code is part of, or null
    host_ref<call_site> called_by;        ///< of the code of a tool: the call, if known
    value settings = value::empty_map();  ///< of `with`, for the host: model, retries, files, …
    value loop_config = value::unbound(); ///< *loop-config*
    value receiver;                       ///< of a streamed task call: a function, or nil
    std::int64_t stream = 0;     ///< number of the stream whose pieces the code receives; 0: none
    unsigned call_depth = 0;     ///< calls of host::session::call_within around it
    bool choosing_files = false; ///< inside a task that chooses files: its lookup uses no model
    bool cleanup = false;        ///< of a cleanup: the deadlines of `outer` do not end it
};

[[nodiscard]] const dynamic_scope& root_scope() noexcept;

inline const dynamic_scope& scope_ref::operator*() const noexcept {
    return held_.is_nil() ? root_scope() : static_cast<const dynamic_scope&>(*host_of(held_));
}

template <class Change>
scope_ref scope_ref::open(heap& memory, Change&& change) const {
    auto object = std::make_unique<dynamic_scope>(**this);
    object->outer = *this;
    object->cleanup = false;
    std::forward<Change>(change)(*object);
    return scope_ref(make_host(memory, std::move(object)));
}

/// Checks what the host runs on behalf of a program, such as a tool that a model calls. Result: the
/// error if the sandbox of `scope` does not allow that name, or if its calls are used up; nothing
/// if it may run, and it has then been counted.
[[nodiscard]] std::optional<error> refused_by_sandbox(const scope_ref& scope,
                                                      std::string_view name);

} // namespace heddle::lang
