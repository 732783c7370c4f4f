// What running code asks of the stages above the machine.
#pragma once

#include "compile_request.hpp"
#include "library_source.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// The compiler, the documentation and the standard library, as the machine sees them. It lets the
/// machine build, run and be tested without them.
/// Lifetime: outlives the realms that use it. Threads: any; it has no state.
class code_service {
public:
    virtual ~code_service() = default;

    /// As compile_within.
    [[nodiscard]] virtual result<function_ref> compile(realm& realm, std::span<const datum> forms,
                                                       compile_request& request) const = 0;
    /// Result: the form once no macro is at its head.
    [[nodiscard]] virtual result<value> expand_macros(realm& realm, const datum& form,
                                                      compile_request& request) const = 0;

    /// Appends the names of the special forms.
    virtual void collect_form_names(std::vector<std::string>& names) const = 0;
    /// What to write instead of a name that nothing defines; empty if nothing is known.
    [[nodiscard]] virtual std::string advice_for_name(std::string_view name) const = 0;
    /// The modules of the standard library, by name.
    [[nodiscard]] virtual std::span<const library_source> libraries() const = 0;

    /// The documentation of `about`, a name or a callable value, or an overview for null.
    /// `language_only`: without what the program and the host define. Result: empty when the value
    /// is not something to describe. Errors: UnboundSymbolError.
    [[nodiscard]] virtual result<std::optional<std::string>> help(realm& realm, const value* about,
                                                                  bool language_only) const = 0;
};

} // namespace heddle::lang
