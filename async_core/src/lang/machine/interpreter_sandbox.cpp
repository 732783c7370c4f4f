// What a sandbox refuses.
#include "interpreter.hpp"
#include "sandbox_policy.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <vector>

namespace heddle::lang {

/// Every way to the world goes through here: whatever code a sandbox reaches, in whatever way, it
/// stays inside.
std::optional<error> interpreter::refuse_in_sandbox(const effect_request& request) {
    const value* set = map_find(f_.settings_, "sandbox");
    if (!set) return std::nullopt;
    auto* policy = static_cast<sandbox_policy*>(host_of(*set));
    std::string name;
    bool allowed = false;
    if (request.row) {
        name = request.row->name;
        // sleep only waits; random serves the library (the jitter of retry).
        const bool library = !f_.frames_.empty() && f_.frames_.back().code->library;
        allowed = policy->allows(name) || name == "sleep" || (library && name == "random");
        if (allowed && !policy->allows(name)) return std::nullopt;
    } else if (const host_object* callee = host_of(request.callee)) {
        const auto info = f_.world_->host().describe_callable(*callee);
        if (info) {
            name = info->name;
            allowed = policy->allows(info->name) ||
                      std::any_of(info->aliases.begin(), info->aliases.end(),
                                  [&](const std::string& alias) { return policy->allows(alias); });
        }
    }
    if (!allowed) {
        return error(errc::permission, "the sandbox does not allow '" + name + "'")
            .with_hint("add it to the sandbox: (allow (" + name + "))");
    }
    if (auto counted = policy->count_call(); !counted) return std::move(counted).error();
    return std::nullopt;
}

sandbox_policy* interpreter::sandbox() const noexcept {
    const value* set = map_find(f_.settings_, "sandbox");
    return set ? static_cast<sandbox_policy*>(host_of(*set)) : nullptr;
}

/// A sandbox begins: what was spent until here is not its own, and its first step is looked at.
void interpreter::settle_steps() noexcept {
    const std::uint64_t spent = given_ - fuel_;
    budget_.steps -= std::min(budget_.steps, spent);
    if (sandbox_policy* outer = sandbox()) outer->spend(spent);
    count_cleanup(spent);
    slice_ = spent < slice_ ? slice_ - static_cast<std::uint32_t>(spent) : 1;
    given_ = fuel_ = 1;
}

/// The heap ends where the run does, or the sandbox that the strand is in.
void interpreter::set_memory_limit() noexcept {
    const sandbox_policy* bounds = sandbox();
    memory_.set_limit(bounds ? std::min(run_limit_, bounds->memory_end()) : run_limit_);
}

/// The failure when a limit of a sandbox around the strand is reached. No `catch` inside takes it.
std::optional<error> interpreter::sandbox_over(bool memory_is_over) const {
    const value* set = map_find(f_.settings_, "sandbox");
    if (!set) return std::nullopt;
    std::string what;
    const value over = static_cast<const sandbox_policy*>(host_of(*set))
                           ->exhausted(*set, memory_is_over ? memory_.used() : 0, what);
    if (over.is_nil()) return std::nullopt;
    return with_extent(error(errc::limit, std::move(what)), over);
}

/// An error on its way out of a sandbox: only data goes with it.
error interpreter::out_of_sandbox(error failure) const {
    const auto* payload = dynamic_cast<const script_payload*>(failure.info().payload.get());
    if (!payload || (is_data(payload->data) && is_data(payload->result))) return failure;
    auto cleaned = std::make_shared<script_payload>(*payload);
    const auto written = [&](const value& v) {
        return is_data(v) ? v : make_string(memory_, print_value(v));
    };
    std::vector<value> items; // the arguments of (error …)
    for (const value& each : list_items(cleaned->data)) items.push_back(written(each));
    cleaned->data = cleaned->data.is(kind::list) ? make_list(memory_, items) : value();
    cleaned->result = written(cleaned->result);
    return std::move(failure).with_payload(std::move(cleaned));
}

} // namespace heddle::lang
