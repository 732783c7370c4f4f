// What a sandbox refuses.
#include "extents.hpp"
#include "interpreter.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::lang {

/// Every way to the world goes through here: whatever code a sandbox reaches, in whatever way, it
/// stays inside.
std::optional<error> interpreter::refuse_in_sandbox(const effect_request& request) {
    sandbox_policy* const policy = sandbox();
    if (!limits()) return std::nullopt;
    std::vector<std::string_view> names;
    std::optional<operator_info> info;
    if (request.row) {
        names.push_back(request.row->name);
        // sleep only waits; so does retry.
        const bool prelude = !f_.frames_.empty() && f_.frames_.back().code->from_prelude;
        const bool harmless = names[0] == "sleep" || (prelude && names[0] == "%jitter");
        if (harmless && !(policy && policy->allows(names[0]))) return std::nullopt;
    } else if (const host_object* callee = host_of(request.callee)) {
        info = f_.realm_->host().describe_callable(*callee);
        if (info) {
            names.push_back(info->name);
            names.insert(names.end(), info->aliases.begin(), info->aliases.end());
        }
    }
    if (value refusing = policy ? policy->refusing(names) : value(); !refusing.is_nil()) {
        const std::string name(names.empty() ? std::string_view() : names[0]);
        return with_extent(error(errc::permission, "the sandbox does not allow '" + name + "'")
                               .with_hint("add it to the sandbox: (allow (" + name + "))"),
                           std::move(refusing));
    }
    if (auto counted = limits()->count_call(); !counted) return std::move(counted).error();
    return std::nullopt;
}

sandbox_policy* interpreter::sandbox() const noexcept { return f_.scope_->sandbox.get(); }

sandbox_policy* interpreter::limits() const noexcept { return f_.scope_->limits.get(); }

/// An error about code that reaches for what no sandbox allows. Nothing inside takes it.
error interpreter::leaving_sandbox(error failure) const {
    if (!sandbox() || failure.code() != errc::permission) return failure;
    return with_extent(std::move(failure), sandbox()->own().as_value());
}

// ---------------------------------------------------------------- scopes

/// The scope of a sandbox's body.
result<scope_ref> interpreter::open_sandbox(const value& clauses) {
    auto policy = sandbox_policy::create(memory_, clauses, f_.scope_->sandbox);
    if (!policy) return std::move(policy).error();
    return scope_of(*policy);
}

/// The scope of code that is bound by a policy, and by what binds its caller.
scope_ref interpreter::scope_of(const host_ref<sandbox_policy>& policy) {
    const host_ref<sandbox_policy>& caller = f_.scope_->sandbox;
    const auto bound = [&](const host_ref<sandbox_policy>& own,
                           const host_ref<sandbox_policy>& around) {
        return around && own->is_within(*around) ? own
                                                 : sandbox_policy::joined(memory_, own, around);
    };
    return f_.scope_.open(memory_, [&](dynamic_scope& scope) {
        scope.sandbox = bound(policy, caller);
        scope.limits = bound(scope.sandbox, f_.scope_->limits);
        scope.loop_config = value::unbound(); // dynamic values of the program stay outside
        if (const auto seconds = policy->seconds(caller.get()))
            set_deadline(memory_, scope, f_.realm_->host().begin_time(), *seconds, true);
    });
}

/// Whether `settings_push` opens the scope of a sandbox.
bool interpreter::enters_sandbox(instruction i) noexcept {
    const auto kind = static_cast<scope_kind>(i.x);
    return kind == scope_kind::sandbox || kind == scope_kind::confined;
}

/// Whether the scope that a form saved has other limits than the one that it opened.
bool interpreter::leaves_sandbox(const value& saved) const noexcept {
    return !(f_.scope_->limits == scope_ref::from_value(saved)->limits);
}

/// What is dead belongs to the sandbox, or to none, that is to be left. It may be much: others have
/// their turns while it is freed, and then the instruction is tried again.
interpreter::next interpreter::free_dead_first() {
    --top().at;
    settle_steps();
    slice_ = 0;
    return check_slice();
}

/// Goes on in another scope. What was spent until here is the sandbox's that is left, and the first
/// step in another one is looked at.
void interpreter::move_to(scope_ref scope) noexcept {
    const host_ref<sandbox_policy>& from = f_.scope_->limits;
    const host_ref<sandbox_policy>& to = scope->limits;
    const bool stays = from == to;
    if (!stays) {
        // Of the errors that this scope has caught: the other one does not pay for them.
        if (unwound_ != 0) spend_steps(std::exchange(unwound_, 0));
        settle_steps();
        memory_.release_dead(SIZE_MAX); // nothing, or what this form itself has dropped
        sandbox_policy::moved(from.get(), to.get(), memory_.used());
        given_ = fuel_ = 1;
    }
    f_.scope_ = std::move(scope);
    if (!stays) set_memory_limit();
}

/// The steps since the last call are paid for.
void interpreter::settle_steps() noexcept {
    const std::uint64_t spent = given_ - fuel_ + work_.take_steps();
    given_ = fuel_;
    if (spent == 0) return;
    budget_.steps -= std::min(budget_.steps, spent);
    if (sandbox_policy* bounds = limits()) bounds->spend(spent);
    count_cleanup(spent);
    slice_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(slice_, spent));
}

// ---------------------------------------------------------------- functions

/// What a sandbox makes stays bound by it, wherever it is called.
value interpreter::new_closure(const function& code) {
    return make_closure(memory_, code, static_cast<std::uint32_t>(code.captures.size()),
                        f_.scope_->sandbox.as_value());
}

bool interpreter::is_at_home(const closure_object& callee) const noexcept {
    const sandbox_policy* here = sandbox();
    return here && here->is_within(*static_cast<sandbox_policy*>(host_of(callee.policy())));
}

/// A function that a sandbox made is called from outside of it: the prelude calls it inside.
interpreter::next interpreter::call_confined(std::size_t at, std::size_t count, bool tail) {
    value arguments = make_list(memory_, std::span<const value>(f_.stack_ + at + 1, count));
    for (std::size_t k = 1; k <= count; ++k) f_.stack_[at + k].set_nil();
    return call_confined(at, std::move(arguments), tail);
}

/// The same with a list of the arguments.
interpreter::next interpreter::call_confined(std::size_t at, value arguments, bool tail) {
    const auto index = f_.realm_->find_prelude_global("%in-its-sandbox");
    if (!index) return raise(error(heddle::errc::internal, "the prelude is not loaded"));
    f_.reserve(at + 3);
    value* R = f_.stack_ + at;
    R[2] = std::move(arguments);
    R[1] = std::move(R[0]);
    R[0] = f_.realm_->global(*index);
    return enter_closure(at, 2, tail);
}

// ---------------------------------------------------------------- limits

/// The heap ends where the run does, or the sandbox that the fiber is in.
void interpreter::set_memory_limit() noexcept {
    const sandbox_policy* bounds = limits();
    memory_.set_limit(bounds ? std::min(run_limit_, bounds->memory_end()) : run_limit_);
}

/// The failure when a limit of a sandbox around the fiber is reached. No `catch` inside takes it.
/// `used`: bytes of the heap; 0: its limits of memory are not looked at.
std::optional<error> interpreter::sandbox_over(std::size_t used) const {
    const sandbox_policy* bounds = limits();
    if (!bounds) return std::nullopt;
    if (auto ended = bounds->ended()) return ended;
    std::string what;
    value over = bounds->exhausted(used, what);
    if (over.is_nil()) return std::nullopt;
    return with_extent(error(errc::limit, std::move(what)), std::move(over));
}

/// What a builtin asked for in advance, and did not get, passes the limit of a sandbox as much as
/// what it takes: no `catch` inside may hold that error back either.
error interpreter::refused_memory(error failure) {
    const std::size_t bytes = memory_.take_refused();
    if (bytes == 0 || failure.code() != errc::limit) return failure;
    const std::size_t used = memory_.used();
    if (auto over = sandbox_over(bytes > SIZE_MAX - used ? SIZE_MAX : used + bytes))
        return *std::move(over);
    return failure;
}

std::optional<error> refused_by_sandbox(const scope_ref& scope, std::string_view name) {
    const sandbox_policy* const policy = scope->sandbox.get();
    if (policy && !policy->allows(name)) {
        return error(errc::permission, "the sandbox does not allow '" + std::string(name) + "'")
            .with_hint("add it to the sandbox: (allow (" + std::string(name) + "))");
    }
    sandbox_policy* const limits = scope->limits.get();
    if (!limits) return std::nullopt;
    if (auto counted = limits->count_call(); !counted) return std::move(counted).error();
    return std::nullopt;
}

} // namespace heddle::lang
