#include "tasks/run/result_builder.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/map_pattern.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_patterns = 256; ///< a program may define tasks in a loop

} // namespace

result_prototypes::result_prototypes(lang::heap& memory) {
    static constexpr std::array<std::string_view, key_count> names{"status",
                                                                   "content",
                                                                   "parsedContent",
                                                                   "criteria",
                                                                   "notes",
                                                                   "template_used",
                                                                   "model",
                                                                   "provider",
                                                                   "finish_reason",
                                                                   "context_source",
                                                                   "context_files_count",
                                                                   "context_files",
                                                                   "usage",
                                                                   "warnings",
                                                                   "parseError",
                                                                   "error",
                                                                   "type",
                                                                   "reason",
                                                                   "message",
                                                                   "details",
                                                                   "input_tokens",
                                                                   "output_tokens",
                                                                   "cached_tokens",
                                                                   "cost_usd",
                                                                   "requests",
                                                                   "latency_ms",
                                                                   "estimated"};
    for (std::size_t i = 0; i < names.size(); ++i) keys[i] = lang::make_string(memory, names[i]);
    complete = lang::make_string(memory, "COMPLETE");
    failed = lang::make_string(memory, "FAILED");
    task_failure = lang::make_string(memory, "TASK_FAILURE");
    const auto map_of = [&](std::initializer_list<key> wanted) {
        lang::value map = lang::value::empty_map();
        for (const key each : wanted) map = lang::map_put(memory, std::move(map), keys[each], {});
        return map;
    };
    plain = map_of({status, content, notes});
    plain = lang::map_put(memory, std::move(plain), keys[status], complete);
    parsed = map_of({status, content, parsed_content, notes});
    parsed = lang::map_put(memory, std::move(parsed), keys[status], complete);
    notes_map =
        map_of({template_used, model, provider, finish_reason, context_from, context_files, usage});
    usage_map =
        map_of({input_tokens, output_tokens, cached_tokens, cost_usd, requests, latency_ms});
}

lang::value result_builder::put(lang::value map, key where, lang::value item) {
    return lang::map_put(memory_, std::move(map), shared_->keys[where], std::move(item));
}

lang::value result_builder::text(std::string_view bytes) {
    return lang::make_string(memory_, bytes);
}

lang::value result_builder::make_details(
    std::initializer_list<std::pair<std::string_view, lang::value>> entries) {
    lang::value result = lang::value::empty_map();
    for (const auto& [name, item] : entries) {
        result = lang::map_put(memory_, std::move(result), name, item);
    }
    return result;
}

/// Results of one task mostly differ in their usage only.
const lang::value& result_builder::notes_for(const task_ending& ending) {
    if (patterns_.size() >= max_patterns && !patterns_.contains(ending.task)) patterns_.clear();
    notes_pattern& known = patterns_[ending.task];
    const std::string& name = ending.task->declared.name;
    const int finish = ending.answered ? static_cast<int>(ending.finish) : -1;
    const context_source from = ending.files ? ending.files->source : context_source::none;
    const std::size_t files = ending.files ? ending.files->parts.size() : 0;
    if (!known.map.is_nil() && known.finish == finish && known.model == ending.model &&
        known.provider == ending.provider && known.name == name && known.from == from &&
        known.files == files) {
        return known.map;
    }
    known.name = name;
    known.model = ending.model;
    known.provider = ending.provider;
    known.finish = finish;
    known.from = from;
    known.files = files;
    std::array<lang::value, 6> items{
        text(name),
        text(ending.model),
        text(ending.provider),
        ending.answered ? text(ports::to_string(ending.finish)) : lang::value(),
        text(to_string(from)),
        lang::value::integer(static_cast<std::int64_t>(files))};
    known.map = lang::map_with_items(memory_, shared_->notes_map, 0, items);
    return known.map;
}

lang::value result_builder::usage_of(const task_ending& ending) {
    // An unknown number is nil, not a wrong zero.
    const auto figure = [](bool known, std::int64_t number) {
        return known ? lang::value::integer(number) : lang::value();
    };
    const bool known = ending.usage_known;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(ending.latency);
    std::array<lang::value, 6> items{
        figure(known, ending.usage.input),
        figure(known, ending.usage.output),
        figure(known && !ending.estimated, ending.usage.cached),
        ending.cost ? lang::value::real(*ending.cost) : lang::value(),
        lang::value::integer(ending.requests),
        lang::value::real(static_cast<double>(micros.count()) / 1000.0)};
    lang::value result = lang::map_with_items(memory_, shared_->usage_map, 0, items);
    if (!known || !ending.estimated) return result;
    return put(std::move(result), key::estimated, lang::value::boolean(true));
}

lang::value result_builder::error_of(const task_failure& failure) {
    lang::value result = lang::value::empty_map();
    if (!failure.resource.empty()) {
        result = put(std::move(result), key::type, text("RESOURCE_EXHAUSTION"));
        if (!failure.reason.empty())
            result = put(std::move(result), key::reason, text(failure.reason));
        result = put(std::move(result), key::message, text(failure.message));
        result = lang::map_put(memory_, std::move(result), "resource", text(failure.resource));
        return lang::map_put(memory_, std::move(result), "metrics",
                             make_details({{"used", lang::value::real(failure.used)},
                                           {"limit", lang::value::real(failure.limit)}}));
    }
    result = put(std::move(result), key::type, shared_->task_failure);
    result = put(std::move(result), key::reason, text(failure.reason));
    result = put(std::move(result), key::message, text(failure.message));
    return put(std::move(result), key::details,
               failure.details.is_nil() ? lang::value::empty_map() : failure.details);
}

lang::value result_builder::build(const task_ending& ending) {
    const lang::value& pattern = notes_for(ending);
    lang::value used = usage_of(ending);
    lang::value about =
        lang::map_with_items(memory_, pattern, pattern.length() - 1, std::span(&used, 1));
    if (ending.warnings && !ending.warnings->empty()) {
        lang::value list = lang::value::empty_list();
        for (const std::string& warning : *ending.warnings) {
            list = lang::list_push_back(memory_, std::move(list), text(warning));
        }
        about = put(std::move(about), key::warnings, std::move(list));
    }
    if (ending.files && !ending.files->parts.empty()) {
        lang::value paths = lang::value::empty_list();
        for (const context_part& part : ending.files->parts) {
            paths = lang::list_push_back(memory_, std::move(paths), text(part.path));
        }
        about = put(std::move(about), key::context_paths, std::move(paths));
    }
    if (!ending.parse_error.empty()) {
        about = put(std::move(about), key::parse_error, text(ending.parse_error));
    }
    if (ending.extra_notes.is(lang::kind::map)) {
        for (const lang::map_entry& entry : lang::map_entries(ending.extra_notes)) {
            about = lang::map_put(memory_, std::move(about), entry.key, entry.item);
        }
    }
    if (ending.failure) about = put(std::move(about), key::error_key, error_of(*ending.failure));

    lang::value result;
    if (ending.has_parsed) {
        std::array<lang::value, 3> items{text(ending.content), ending.parsed, std::move(about)};
        result = lang::map_with_items(memory_, shared_->parsed, 1, items);
    } else {
        std::array<lang::value, 2> items{text(ending.content), std::move(about)};
        result = lang::map_with_items(memory_, shared_->plain, 1, items);
    }
    if (ending.failure) result = put(std::move(result), key::status, shared_->failed);
    const std::string& wanted = ending.task->declared.criteria;
    if (!wanted.empty()) result = put(std::move(result), key::criteria, text(wanted));
    return result;
}

} // namespace heddle::tasks
