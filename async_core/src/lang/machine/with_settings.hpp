// The settings of `with`: the one list that the compiler, the machine and the documentation share.
#pragma once

#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/request_settings.hpp>
#include <heddle/lang/work.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::lang {

class realm;

/// A scope that `with` is about to open.
struct scope_change {
    lang::realm& realm;
    heap& memory;
    dynamic_scope& scope;
    std::optional<double> usd;
    std::optional<std::uint64_t> calls;
};

struct with_setting {
    std::string_view name; ///< one that begins with % is for the prelude alone
    std::string_view documentation;
    std::string_view refusal; ///< why a sandbox may not set it; empty: it may
    bool chooses_model;       ///< a sandbox sets it to what its `models` name only
    /// What the value must be, when it is not; else null. Null itself: see `request`.
    const char* (*check)(const value& given);
    /// Puts a value that was checked into the scope.
    void (*apply)(scope_change& change, const value& name, const value& given);
    const request_setting* request = nullptr; ///< a setting of requests, which has the condition
};

/// In the order of the documentation, without those of the prelude.
[[nodiscard]] std::span<const with_setting> with_settings() noexcept;
/// Null when there is none of that name.
[[nodiscard]] const with_setting* find_with_setting(std::string_view name) noexcept;
/// What is wrong with the value of a setting, as `with` reports it; empty: nothing. The work is
/// bounded, and counted in `work`, which must not stop it.
[[nodiscard]] std::string wrong_setting(std::string_view name, const value& given,
                                        work_meter& work);
/// "concurrency, timeout, …"
[[nodiscard]] std::string with_setting_names();

/// Opens the scope of `with`: the map `added` of settings inside `outer`. `work`: as for
/// wrong_setting(). Errors: TypeError that names the setting.
[[nodiscard]] result<scope_ref> open_settings(realm& realm, const scope_ref& outer,
                                              const value& added, work_meter& work);

} // namespace heddle::lang
