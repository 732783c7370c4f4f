// What a sandbox refuses.
#include "interpreter.hpp"
#include "sandbox_policy.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>

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

} // namespace heddle::lang
