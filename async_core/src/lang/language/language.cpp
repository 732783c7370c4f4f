// The stages of the language, put together.
#include "lang/compile/compile_within.hpp"
#include "lang/compile/special_form.hpp"
#include "lang/help/foreign_names.hpp"
#include "lang/realm/code_service.hpp"
#include "lang/stdlib/stdlib_sources.hpp"

#include <heddle/lang/help.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::lang {

namespace {

class whole_language final : public code_service {
public:
    result<function_ref> compile(realm& realm, std::span<const datum> forms,
                                 compile_request& request) const override {
        return compile_within(realm, forms, request);
    }
    result<value> expand_macros(realm& realm, const datum& form,
                                compile_request& request) const override {
        return lang::expand_macros(realm, form, request);
    }
    void collect_form_names(std::vector<std::string>& names) const override {
        for (const special_form& row : special_forms()) names.emplace_back(row.name);
    }
    std::string advice_for_name(std::string_view name) const override {
        return lang::advice_for_name(name);
    }
    std::span<const library_source> libraries() const override { return stdlib_sources(); }

    result<std::optional<std::string>> help(realm& realm, const value* about,
                                            bool language_only) const override {
        const help_reach reach = language_only ? help_reach::language : help_reach::everything;
        if (!about) return std::optional(help_overview(realm, reach));
        if (about->is(kind::symbol) || about->is(kind::string)) {
            const bool quoted = about->is(kind::symbol);
            HEDDLE_TRY(const help_entry found,
                       describe(realm, quoted ? symbol_name(*about) : string_bytes(*about), reach));
            return std::optional(help_text(realm, found));
        }
        const auto found = describe_callable(realm, *about);
        if (!found) return std::optional<std::string>();
        return std::optional(help_text(realm, *found));
    }
};

const code_service& language() noexcept {
    static const whole_language parts;
    return parts;
}

} // namespace

realm::realm() : realm(no_host()) {}

realm::realm(const host_names& host) : realm(host, language()) {}

} // namespace heddle::lang
