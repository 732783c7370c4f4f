#include "deep_stack.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <pthread.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

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
    const std::function<void(std::size_t)>& work;
    std::size_t most_depth;

    static void* run(void* self) {
        const auto* job = static_cast<const deep_job*>(self);
        job->work(job->most_depth);
        return nullptr;
    }
};

} // namespace

result<void> on_deep_stack(realm& world, std::span<const datum> forms,
                           const std::function<void(std::size_t)>& work) {
    const std::size_t depth = nesting(forms);
    if (depth > most_depth) {
        return error(errc::limit,
                     "code nested deeper than " + std::to_string(most_depth) + " levels")
            .with_span(forms.empty() ? source_span{} : forms.front().span);
    }
    deep_job job{work, allowed_depth(world, forms, depth)};
    if (job.most_depth <= comfortable_depth) {
        work(job.most_depth);
        return {};
    }
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
    return {};
}

} // namespace heddle::lang
