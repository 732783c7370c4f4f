#include <heddle/lang/compile.hpp>

#include "analyzer.hpp"
#include "deep_stack.hpp"
#include "generator.hpp"

#include <utility>

namespace heddle::lang {

function::~function() = default;

void function_release(const function* code) noexcept {
    if (--code->references != 0) return;
    // Thousands of nested functions must not need as many native frames.
    std::vector<const function*> dying(code->functions);
    delete code;
    while (!dying.empty()) {
        const function* next = dying.back();
        dying.pop_back();
        if (--next->references != 0) continue;
        dying.insert(dying.end(), next->functions.begin(), next->functions.end());
        delete next;
    }
}

result<function_ref> compile_analysed(realm& world, analyzer& analysis,
                                      std::span<const datum> forms) {
    auto program = analysis.program(forms);
    if (!program) return std::move(program).error();
    generator code(world, **program, nullptr, &analysis.work());
    auto made = code.run();
    if (auto stop = analysis.work().pay(); stop && made) return *std::move(stop);
    return made;
}

result<function_ref> compile(realm& world, std::span<const datum> forms) {
    compile_request request;
    return compile_within(world, forms, request);
}

result<function_ref> compile_within(realm& world, std::span<const datum> forms,
                                    compile_request& request) {
    result<function_ref> made = error(heddle::errc::internal, "not compiled");
    nested_watch watch(world, request.watch);
    HEDDLE_CHECK(on_deep_stack(world, forms, [&](std::size_t most_depth) {
        ast::arena arena;
        analyzer analysis(world, arena, request, most_depth);
        made = compile_analysed(world, analysis, forms);
    }));
    return made;
}

result<value> expand_macros(realm& world, const datum& form, compile_request& request) {
    const realm::compile_level level(world);
    if (auto deep = nested_too_deep(level)) return std::move(*deep).with_span(form.span);
    nested_watch watch(world, request.watch);
    ast::arena arena;
    analyzer analysis(world, arena, request, comfortable_depth);
    return analysis.expanded(form);
}

} // namespace heddle::lang
