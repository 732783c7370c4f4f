#include <heddle/lang/prelude.hpp>

#include "prelude_sources.hpp"

#include "lang/compile/compile_within.hpp"

#include <heddle/lang/machine.hpp>
#include <heddle/lang/reader.hpp>

namespace heddle::lang {

result<void> load_prelude(realm& realm) {
    for (const prelude_source& source : prelude_sources()) {
        const std::uint32_t position =
            realm.sources().add("prelude/" + std::string(source.name), std::string(source.text));
        auto forms = read_all(realm.memory(), source.text, position);
        if (!forms) return std::move(forms).error();
        realm.set_compiling_prelude(true);
        compile_request request;
        request.internal_names = true;
        auto code = compile_within(realm, *forms, request);
        realm.set_compiling_prelude(false);
        if (!code) return std::move(code).error();
        const auto self = start_fiber(realm, *code);
        run_budget budget;
        outcome ended;
        do ended = machine::run(*self, budget, UINT32_MAX);
        while (ended.kind == outcome_kind::out_of_steps);
        if (ended.kind != outcome_kind::done) {
            return ended.failure
                       ? *ended.failure
                       : error(heddle::errc::internal, "the prelude did not run to its end");
        }
    }
    return {};
}

} // namespace heddle::lang
