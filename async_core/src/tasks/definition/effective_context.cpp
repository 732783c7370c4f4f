#include <heddle/tasks/definition/effective_context.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace heddle::tasks {

namespace {

/// Two sources for one context contradict each other, unless the subtype is made that way.
[[nodiscard]] bool conflicting(std::string_view subtype, inherit_mode inherit,
                               bool fresh) noexcept {
    if (!fresh || inherit == inherit_mode::none) return false;
    const effective_context preset = context_preset(subtype);
    return !preset.fresh_context || preset.inherit_context != inherit;
}

/// A value and the layer that set it: 0 is the preset.
template <class T>
struct said {
    T content;
    int layer = 0;
    void take(const std::optional<T>& given, int from) {
        if (given) *this = {*given, from};
    }
};

} // namespace

effective_context context_preset(std::string_view subtype) noexcept {
    effective_context preset;
    const bool interactive = subtype == "aider_interactive";
    if (interactive || subtype == "subtask" || subtype == "aider_automatic") {
        preset.inherit_context = inherit_mode::subset;
        preset.fresh_context = true;
        preset.accumulate_data = interactive;
    }
    return preset;
}

result<void> check_context_layer(std::string_view subtype, const context_management& layer) {
    if (!layer.inherit_context || !layer.fresh_context ||
        !conflicting(subtype, *layer.inherit_context, *layer.fresh_context)) {
        return {};
    }
    return error(errc::invalid_argument, "fresh_context \"enabled\" excludes inherit_context \"" +
                                             std::string(to_string(*layer.inherit_context)) + "\"")
        .with_hint("set inherit_context to \"none\", or fresh_context to \"disabled\"");
}

result<effective_context> merge_context(std::string_view subtype, const context_management& of_task,
                                        const context_management& of_call) {
    effective_context context = context_preset(subtype);
    said<inherit_mode> inherit{context.inherit_context};
    said<bool> fresh{context.fresh_context};
    int layer = 0;
    for (const context_management* one : {&of_task, &of_call}) {
        HEDDLE_CHECK(check_context_layer(subtype, *one));
        ++layer;
        inherit.take(one->inherit_context, layer);
        fresh.take(one->fresh_context, layer);
        if (one->accumulate_data) context.accumulate_data = *one->accumulate_data;
        if (one->accumulation_format) context.accumulation_format = *one->accumulation_format;
    }
    // No layer contradicts itself, so that one of the two comes from below the other.
    if (conflicting(subtype, inherit.content, fresh.content)) {
        if (inherit.layer > fresh.layer) fresh.content = false;
        else inherit.content = inherit_mode::none;
    }
    context.inherit_context = inherit.content;
    context.fresh_context = fresh.content;
    return context;
}

std::string_view to_string(inherit_mode mode) noexcept {
    return inherit_mode_words[static_cast<std::size_t>(mode)];
}

std::string_view to_string(accumulation format) noexcept {
    return accumulation_words[static_cast<std::size_t>(format)];
}

} // namespace heddle::tasks
