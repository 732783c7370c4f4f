#include <heddle/lang/compile.hpp>

#include "analyzer.hpp"
#include "compile_within.hpp"
#include "deep_stack.hpp"
#include "generator.hpp"

#include <utility>

namespace heddle::lang {

function::function(heap& memory) : object{1, kind::code, 0, 0, &memory} {}

function::~function() {
    if ((colour & searched) != 0) owner->note_death(this);
}

// Thousands of nested functions must not need as many native frames, nor any memory: on the way
// down the first entry of a function's list holds the way back.
void function_release(const function* code) noexcept {
    auto* const outermost = const_cast<function*>(code);
    if (--outermost->references != 0) return;
    for (function* at = outermost;;) {
        const std::size_t way_back = at == outermost ? 0 : 1;
        if (at->functions.size() == way_back) {
            const function* outer = way_back == 0 ? nullptr : at->functions[0];
            delete at;
            if (!outer) return;
            at = const_cast<function*>(outer);
            continue;
        }
        auto* next = const_cast<function*>(at->functions.back());
        at->functions.pop_back();
        if (--next->references != 0) continue;
        if (next->functions.empty()) {
            delete next;
            continue;
        }
        at->functions.push_back(next->functions[0]); // where `next` was
        next->functions[0] = at;
        at = next;
    }
}

result<function_ref> compile_analysed(realm& realm, analyzer& analysis,
                                      std::span<const datum> forms) {
    auto program = analysis.program(forms);
    if (!program) return std::move(program).error();
    generator code(realm, **program, nullptr, &analysis.work(), analysis.request().internal_names);
    auto outcome = code.run();
    if (auto stop = analysis.work().pay(); stop && outcome) return *std::move(stop);
    return outcome;
}

result<function_ref> compile(realm& realm, std::span<const datum> forms) {
    compile_request request;
    return compile_within(realm, forms, request);
}

result<function_ref> compile_within(realm& realm, std::span<const datum> forms,
                                    compile_request& request) {
    result<function_ref> outcome = error(heddle::errc::internal, "not compiled");
    nested_watch watch(realm, request.watch);
    const auto done = on_deep_stack(realm, forms, [&](std::size_t max_depth) {
        ast::arena arena;
        analyzer analysis(realm, arena, request, max_depth);
        outcome = compile_analysed(realm, analysis, forms);
        analysis.end();
    });
    if (done && outcome) return outcome;
    error failure = done ? std::move(outcome).error() : done.error();
    return limit_at(std::move(failure), forms.empty() ? source_span{} : forms.front().span);
}

result<value> expand_macros(realm& realm, const datum& form, compile_request& request) {
    const realm::compile_level level(realm);
    if (auto deep = nested_too_deep(level)) return std::move(*deep).with_span(form.span);
    nested_watch watch(realm, request.watch);
    ast::arena arena;
    analyzer analysis(realm, arena, request, comfortable_depth);
    return analysis.expanded(form);
}

} // namespace heddle::lang
