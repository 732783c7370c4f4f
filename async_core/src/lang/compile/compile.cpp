#include <heddle/lang/compile.hpp>

#include "analyzer.hpp"
#include "generator.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <pthread.h>

#include <algorithm>
#include <vector>

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

namespace {

constexpr std::size_t comfortable_depth = 150;     ///< fits in any thread's stack
constexpr std::size_t depth_for_macros = 1500;     ///< 24 MB of address space for the thread
constexpr std::size_t most_depth = 20'000;         ///< beyond what the reader lets through
constexpr std::size_t bytes_per_level = 16 * 1024; ///< generous: sanitizers triple frames

/// Has a defmacro anywhere near its top?
bool defines_macro(const datum& form) {
    if (!form.content.is(kind::list)) return false;
    const auto items = list_items(form.content);
    if (items.empty()) return false;
    if (items[0].is(kind::symbol) && symbol_name(items[0]) == "defmacro") return true;
    return std::any_of(items.begin(), items.end(), [](const value& item) {
        return item.is(kind::list) && item.length() != 0 && list_items(item)[0].is(kind::symbol) &&
               symbol_name(list_items(item)[0]) == "defmacro";
    });
}

/// Deepest nesting of lists, without recursion.
std::size_t nesting(std::span<const datum> forms) {
    std::vector<std::pair<value, std::size_t>> work;
    for (const datum& each : forms) work.emplace_back(each.content, 1);
    std::size_t deepest = 0;
    while (!work.empty()) {
        auto [v, depth] = std::move(work.back());
        work.pop_back();
        deepest = std::max(deepest, depth);
        if (!v.is(kind::list)) continue;
        for (const value& item : list_items(v)) {
            if (item.is(kind::list)) work.emplace_back(item, depth + 1);
        }
    }
    return deepest;
}

/// What the passes may nest: what the forms do, and room for what macros make of them.
std::size_t allowed_depth(realm& world, std::span<const datum> forms, std::size_t depth) {
    const bool expands =
        world.has_macros() || std::any_of(forms.begin(), forms.end(), defines_macro);
    return expands ? depth + depth_for_macros : std::max(depth + 16, comfortable_depth);
}

struct deep_job {
    realm* world;
    std::span<const datum> forms;
    compile_request* request;
    std::size_t most_depth;
    result<function_ref> made = error(heddle::errc::internal, "not compiled");

    void compile() {
        ast::arena arena;
        analyzer analysis(*world, arena, *request, most_depth);
        made = compile_analysed(*world, analysis, forms);
    }
    static void* run(void* self) {
        static_cast<deep_job*>(self)->compile();
        return nullptr;
    }
};

} // namespace

result<function_ref> compile_analysed(realm& world, analyzer& analysis,
                                      std::span<const datum> forms) {
    auto program = analysis.program(forms);
    if (!program) return std::move(program).error();
    generator code(world, **program, nullptr);
    return code.run();
}

result<function_ref> compile(realm& world, std::span<const datum> forms) {
    compile_request request;
    return compile_within(world, forms, request);
}

result<function_ref> compile_within(realm& world, std::span<const datum> forms,
                                    compile_request& request) {
    const std::size_t depth = nesting(forms);
    if (depth > most_depth) {
        return error(errc::limit,
                     "code nested deeper than " + std::to_string(most_depth) + " levels")
            .with_span(forms.empty() ? source_span{} : forms.front().span);
    }
    deep_job job{&world, forms, &request, allowed_depth(world, forms, depth)};
    if (job.most_depth <= comfortable_depth) {
        job.compile();
        return std::move(job.made);
    }
    // The passes recurse over the nesting. Rare, deep code gets a stack of its own size; this thread
    // waits, so nothing of the session is touched from two threads at once.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes,
                              std::max<std::size_t>(1024 * 1024, job.most_depth * bytes_per_level));
    pthread_t thread;
    const int failed = pthread_create(&thread, &attributes, &deep_job::run, &job);
    pthread_attr_destroy(&attributes);
    if (failed != 0) {
        return error(errc::limit,
                     "no memory to compile code nested " + std::to_string(depth) + " levels deep");
    }
    pthread_join(thread, nullptr);
    return std::move(job.made);
}

result<value> expand_macros(realm& world, const datum& form, compile_request& request) {
    ast::arena arena;
    analyzer analysis(world, arena, request, comfortable_depth);
    return analysis.expanded(form);
}

} // namespace heddle::lang
