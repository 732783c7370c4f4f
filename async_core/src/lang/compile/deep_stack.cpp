#include "deep_stack.hpp"

#include "lang/realm/compile_watch.hpp"
#include "lang/threads/start_thread.hpp"
#include "lang/value/window_table.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t depth_for_macros = 1500; ///< 24 MB of address space for the thread
constexpr unsigned max_nested_compiles = 16;
constexpr std::size_t max_depth = 20'000;          ///< beyond what the reader lets through
constexpr std::size_t bytes_per_level = 16 * 1024; ///< generous: sanitizers triple frames

/// Has a defmacro anywhere near its top?
bool defines_macro(const datum& form, compile_watch* watch) {
    constexpr std::size_t portion = 4096;
    if (!form.content.is(kind::list)) return false;
    const auto items = list_items(form.content);
    if (items.empty()) return false;
    if (items[0].is(kind::symbol) && symbol_name(items[0]) == "defmacro") return true;
    std::size_t seen = 0;
    return std::any_of(items.begin(), items.end(), [&](const value& item) {
        // What stops the compilation is seen at the next work.
        if (++seen % portion == 0 && watch) (void)watch->spend(portion / 32);
        return item.is(kind::list) && item.length() != 0 && list_items(item)[0].is(kind::symbol) &&
               symbol_name(list_items(item)[0]) == "defmacro";
    });
}

bool begins_with(std::span<const value> list, std::string_view name) noexcept {
    return list[0].is(kind::symbol) && symbol_name(list[0]) == name;
}

/// Levels of the analysis that a list takes. A `do` becomes several forms inside each other.
std::size_t levels_of(std::span<const value> list) noexcept {
    constexpr std::size_t levels_of_do = 3; // a named let, the `if` in it, and its `progn`
    return begins_with(list, "do") ? levels_of_do : 1;
}

/// The longest way down through lists, which may share parts: each part is measured once. A walk
/// with a stack of its own.
class depth_finder {
public:
    /// `watch`: pays for the walk, unless it is null.
    explicit depth_finder(compile_watch* watch) : watch_(watch) {}

    /// The error that ends the compilation, or the depth.
    [[nodiscard]] result<std::size_t> of(const value& root) {
        open(root);
        while (!path_.empty()) {
            level& top = path_.back();
            const auto items = list_items(*top.list);
            const std::size_t end = std::min(items.size(), top.next + items_in_a_go);
            std::size_t at = top.next;
            while (at < end && !items[at].is(kind::list)) ++at;
            unpaid_ += units_of_a_list + at - std::exchange(top.next, at);
            if (auto stop = pay()) return *std::move(stop);
            if (at == items.size()) close();
            else if (at < end) open(items[top.next++]);
        }
        return found_;
    }

private:
    static constexpr std::size_t items_in_a_go = 4096;
    static constexpr std::size_t units_of_a_list = 32;
    static constexpr std::size_t units_of_a_step = 32; ///< of what a watch counts

    struct level {
        const value* list;
        std::size_t next = 0;  ///< item to look at
        std::size_t below = 0; ///< levels under it, of the items so far
    };

    void open(const value& list) {
        found_ = 1;
        if (!list.is(kind::list) || list.length() == 0) return note(1);
        if (list.target()->references > 1) {
            if (const std::size_t* known = known_.find(window_of(list))) return note(*known);
        }
        path_.push_back({&list});
        if (begins_with(list_items(list), "quote")) ++quotes_;
    }
    void close() {
        const level done = path_.back();
        path_.pop_back();
        const auto items = list_items(*done.list);
        const std::size_t depth = done.below + (quotes_ == 0 ? levels_of(items) : 1);
        if (begins_with(items, "quote")) --quotes_;
        if (done.list->target()->references > 1) known_.emplace(window_of(*done.list), depth);
        note(depth);
    }
    void note(std::size_t depth) {
        if (path_.empty()) found_ = depth;
        else path_.back().below = std::max(path_.back().below, depth);
    }
    [[nodiscard]] std::optional<error> pay() {
        if (unpaid_ < items_in_a_go) return std::nullopt;
        const std::size_t steps = std::exchange(unpaid_, 0) / units_of_a_step;
        return watch_ ? watch_->spend(steps) : std::nullopt;
    }

    compile_watch* watch_;
    std::vector<level> path_;
    window_table<std::size_t> known_;
    std::size_t found_ = 1;
    std::size_t quotes_ = 0; ///< in path_
    std::size_t unpaid_ = 0;
};

/// Deepest nesting of lists.
result<std::size_t> nesting(std::span<const datum> forms, compile_watch* watch) {
    depth_finder depth(watch);
    std::size_t deepest = 0;
    for (const datum& each : forms) {
        HEDDLE_TRY(const std::size_t own, depth.of(each.content));
        deepest = std::max(deepest, own);
    }
    return deepest;
}

/// What the passes may nest: what the forms do, and room for what macros make of them.
std::size_t allowed_depth(realm& realm, std::span<const datum> forms, std::size_t depth) {
    const bool expands =
        realm.has_macros() || std::any_of(forms.begin(), forms.end(), [&](const datum& each) {
            return defines_macro(each, realm.watch());
        });
    return expands ? depth + depth_for_macros : std::max(depth + 16, comfortable_depth);
}

struct deep_job {
    const std::function<void(std::size_t)>& work;
    std::size_t max_depth;
    std::exception_ptr thrown{};

    static void* run(void* self) {
        auto* job = static_cast<deep_job*>(self);
        try {
            job->work(job->max_depth);
        } catch (...) { // goes on in the thread that waits
            job->thrown = std::current_exception();
        }
        return nullptr;
    }
};

} // namespace

std::optional<error> nested_too_deep(const realm::compile_level& level) {
    if (level.depth() <= max_nested_compiles) return std::nullopt;
    return error(errc::limit, "code is compiled while other code is compiled, " +
                                  std::to_string(max_nested_compiles) + " levels deep")
        .with_hint("a macro that evaluates a call to itself never ends");
}

result<void> on_deep_stack(realm& realm, std::span<const datum> forms,
                           const std::function<void(std::size_t)>& work) {
    const realm::compile_level level(realm);
    if (auto deep = nested_too_deep(level)) {
        return std::move(*deep).with_span(forms.empty() ? source_span{} : forms.front().span);
    }
    HEDDLE_TRY(const std::size_t depth, nesting(forms, realm.watch()));
    if (depth > max_depth) {
        return error(errc::limit,
                     "code nested deeper than " + std::to_string(max_depth) + " levels")
            .with_span(forms.empty() ? source_span{} : forms.front().span);
    }
    deep_job job{work, allowed_depth(realm, forms, depth)};
    if (job.max_depth <= comfortable_depth) {
        work(job.max_depth);
        return {};
    }
    pthread_t thread;
    const std::size_t bytes = std::max<std::size_t>(1024 * 1024, job.max_depth * bytes_per_level);
    if (!start_thread(thread, bytes, &deep_job::run, &job)) {
        return error(errc::limit,
                     "no memory to compile code nested " + std::to_string(depth) + " levels deep");
    }
    pthread_join(thread, nullptr);
    if (job.thrown) std::rethrow_exception(job.thrown);
    return {};
}

} // namespace heddle::lang
