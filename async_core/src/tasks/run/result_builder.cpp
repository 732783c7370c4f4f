#include "tasks/run/result_builder.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_patterns = 256; ///< a program may define tasks in a loop

} // namespace

result_builder::result_builder(lang::heap& memory) : memory_(memory) {
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
    for (std::size_t i = 0; i < names.size(); ++i) keys_[i] = text(names[i]);
    complete_ = text("COMPLETE");
    failed_ = text("FAILED");
    task_failure_ = text("TASK_FAILURE");
    plain_ = parsed_ = usage_ = lang::value::empty_map();
    for (const key each : {status, content, notes}) plain_ = put(std::move(plain_), each, {});
    for (const key each : {status, content, parsed_content, notes}) {
        parsed_ = put(std::move(parsed_), each, {});
    }
    for (const key each :
         {input_tokens, output_tokens, cached_tokens, cost_usd, requests, latency_ms}) {
        usage_ = put(std::move(usage_), each, {});
    }
    plain_ = put(std::move(plain_), status, complete_);
    parsed_ = put(std::move(parsed_), status, complete_);
}

lang::value result_builder::put(lang::value map, key where, lang::value item) {
    return lang::map_put(memory_, std::move(map), keys_[where], std::move(item));
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
    lang::value result = lang::value::empty_map();
    result = put(std::move(result), template_used, text(name));
    result = put(std::move(result), model, text(ending.model));
    result = put(std::move(result), provider, text(ending.provider));
    result = put(std::move(result), finish_reason,
                 ending.answered ? text(ports::to_string(ending.finish)) : lang::value());
    result = put(std::move(result), context_from, text(to_string(from)));
    result = put(std::move(result), context_files,
                 lang::value::integer(static_cast<std::int64_t>(files)));
    known.map = put(std::move(result), usage, {});
    return known.map;
}

lang::value result_builder::usage_of(const task_ending& ending) {
    lang::value result = usage_;
    // An unknown number is nil, not a wrong zero.
    if (ending.usage_known) {
        result = put(std::move(result), input_tokens, lang::value::integer(ending.usage.input));
        result = put(std::move(result), output_tokens, lang::value::integer(ending.usage.output));
        if (!ending.estimated) {
            result =
                put(std::move(result), cached_tokens, lang::value::integer(ending.usage.cached));
        } else {
            result = put(std::move(result), estimated, lang::value::boolean(true));
        }
    }
    if (ending.cost) result = put(std::move(result), cost_usd, lang::value::real(*ending.cost));
    result = put(std::move(result), requests, lang::value::integer(ending.requests));
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(ending.latency);
    return put(std::move(result), latency_ms,
               lang::value::real(static_cast<double>(micros.count()) / 1000.0));
}

lang::value result_builder::error_of(const task_failure& failure) {
    lang::value result = lang::value::empty_map();
    if (!failure.resource.empty()) {
        result = put(std::move(result), type, text("RESOURCE_EXHAUSTION"));
        if (!failure.reason.empty()) result = put(std::move(result), reason, text(failure.reason));
        result = put(std::move(result), message, text(failure.message));
        result = lang::map_put(memory_, std::move(result), "resource", text(failure.resource));
        return lang::map_put(memory_, std::move(result), "metrics",
                             make_details({{"used", lang::value::real(failure.used)},
                                           {"limit", lang::value::real(failure.limit)}}));
    }
    result = put(std::move(result), type, task_failure_);
    result = put(std::move(result), reason, text(failure.reason));
    result = put(std::move(result), message, text(failure.message));
    return put(std::move(result), details,
               failure.details.is_nil() ? lang::value::empty_map() : failure.details);
}

lang::value result_builder::build(const task_ending& ending) {
    lang::value about = put(notes_for(ending), usage, usage_of(ending));
    if (ending.warnings && !ending.warnings->empty()) {
        lang::value list = lang::value::empty_list();
        for (const std::string& warning : *ending.warnings) {
            list = lang::list_push_back(memory_, std::move(list), text(warning));
        }
        about = put(std::move(about), warnings, std::move(list));
    }
    if (ending.files && !ending.files->parts.empty()) {
        lang::value paths = lang::value::empty_list();
        for (const context_part& part : ending.files->parts) {
            paths = lang::list_push_back(memory_, std::move(paths), text(part.path));
        }
        about = put(std::move(about), context_paths, std::move(paths));
    }
    if (!ending.parse_error.empty()) {
        about = put(std::move(about), parse_error, text(ending.parse_error));
    }
    if (ending.extra_notes.is(lang::kind::map)) {
        for (const lang::map_entry& entry : lang::map_entries(ending.extra_notes)) {
            about = lang::map_put(memory_, std::move(about), entry.key, entry.item);
        }
    }
    if (ending.failure) about = put(std::move(about), error_key, error_of(*ending.failure));

    lang::value result = ending.has_parsed ? parsed_ : plain_;
    result = put(std::move(result), content, text(ending.content));
    if (ending.has_parsed) result = put(std::move(result), parsed_content, ending.parsed);
    result = put(std::move(result), notes, std::move(about));
    if (ending.failure) result = put(std::move(result), status, failed_);
    const std::string& wanted = ending.task->declared.criteria;
    if (!wanted.empty()) result = put(std::move(result), criteria, text(wanted));
    return result;
}

} // namespace heddle::tasks
