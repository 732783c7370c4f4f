#include <heddle/lang/compile.hpp>

#include "analyzer.hpp"
#include "generator.hpp"

#include <heddle/lang/list.hpp>

#include <pthread.h>

#include <algorithm>
#include <vector>

namespace heddle::lang {

function::~function() {
    for (const function* inner : functions) function_release(inner);
}

void function_release(const function* code) noexcept {
    if (--code->references == 0) delete code;
}

namespace {

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

result<function_ref> compile_here(realm& world, std::span<const datum> forms) {
    ast::arena arena;
    analyzer analysis(world, arena);
    auto program = analysis.program(forms);
    if (!program) return std::move(program).error();
    generator code(world, **program, nullptr);
    return code.run();
}

struct deep_job {
    realm* world;
    std::span<const datum> forms;
    result<function_ref> made = error(heddle::errc::internal, "not compiled");

    static void* run(void* self) {
        auto* job = static_cast<deep_job*>(self);
        job->made = compile_here(*job->world, job->forms);
        return nullptr;
    }
};

constexpr std::size_t comfortable_depth = 150;     ///< fits in any thread's stack
constexpr std::size_t most_depth = 20'000;         ///< beyond what the reader lets through
constexpr std::size_t bytes_per_level = 16 * 1024; ///< generous: sanitizers triple frames

} // namespace

result<function_ref> compile(realm& world, std::span<const datum> forms) {
    const std::size_t depth = nesting(forms);
    if (depth <= comfortable_depth) return compile_here(world, forms);
    if (depth > most_depth) {
        return error(errc::limit,
                     "code nested deeper than " + std::to_string(most_depth) + " levels")
            .with_span(forms.empty() ? source_span{} : forms.front().span);
    }
    // The passes recurse over the nesting. Rare, deep code gets a stack of its own size; this thread
    // waits, so nothing of the session is touched from two threads at once.
    deep_job job{&world, forms};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes,
                              std::max<std::size_t>(1024 * 1024, depth * bytes_per_level));
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

} // namespace heddle::lang
