// Makes TaskResult values.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/context/assembled_context.hpp>
#include <heddle/tasks/definition/compiled_task.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::tasks {

/// What went wrong in a task, as notes.error shows it.
struct task_failure {
    std::string reason; ///< docs/spec/runtime.md §6
    std::string message;
    lang::value details;         ///< map or nil
    std::string_view resource{}; ///< not empty: RESOURCE_EXHAUSTION with these figures
    double used = 0;
    double limit = 0;
};

/// How one execution ended.
struct task_ending {
    const compiled_task* task = nullptr;
    std::string_view content;
    lang::value parsed;
    bool has_parsed = false;
    std::string_view model;
    std::string_view provider;
    ports::finish_reason finish = ports::finish_reason::stop;
    bool answered = false; ///< a finish reason is known
    ports::token_usage usage;
    bool usage_known = true;    ///< false: nothing was sent
    bool estimated = false;     ///< part of the usage was not reported by the service
    std::optional<double> cost; ///< US dollars
    std::uint32_t requests = 0;
    std::chrono::nanoseconds latency{0};
    const std::vector<std::string>* warnings = nullptr; ///< null or empty: none
    const assembled_context* files = nullptr;           ///< null: none
    lang::value extra_notes; ///< a map whose entries go into notes, or nil
    std::string_view parse_error;
    const task_failure* failure = nullptr; ///< null: COMPLETE
};

/// What results have in common: their keys, some of their words, and maps whose items are replaced
/// by their places. Values of the heap of one session, which those that begin with it use as well.
struct result_prototypes {
    explicit result_prototypes(lang::heap& memory);

    enum key : std::uint8_t {
        status,
        content,
        parsed_content,
        criteria,
        notes,
        template_used,
        model,
        provider,
        finish_reason,
        context_from,
        context_files,
        context_paths,
        usage,
        warnings,
        parse_error,
        error_key,
        type,
        reason,
        message,
        details,
        input_tokens,
        output_tokens,
        cached_tokens,
        cost_usd,
        requests,
        latency_ms,
        estimated,
        key_count
    };
    std::array<lang::value, key_count> keys;
    lang::value complete;
    lang::value failed;
    lang::value task_failure;
    lang::value plain;     ///< status, content, notes
    lang::value parsed;    ///< status, content, parsedContent, notes
    lang::value notes_map; ///< template_used to usage
    lang::value usage_map; ///< input_tokens to latency_ms
};

/// Builds TaskResult maps out of prototypes: a result costs its content and three small blocks, no
/// text of a key, and no look for one. Holds values of the session's heap. Threads: the session's
/// only.
class result_builder {
public:
    explicit result_builder(lang::heap& memory)
        : result_builder(memory, std::make_shared<const result_prototypes>(memory)) {}
    /// `shared`: of a heap that outlives the session.
    result_builder(lang::heap& memory, std::shared_ptr<const result_prototypes> shared)
        : memory_(memory), shared_(std::move(shared)) {}

    [[nodiscard]] lang::value build(const task_ending& ending);
    [[nodiscard]] lang::value make_details(
        std::initializer_list<std::pair<std::string_view, lang::value>> entries);

private:
    using key = result_prototypes::key;

    /// The notes of a task's last result, without its usage.
    struct notes_pattern {
        std::string name;
        std::string model;
        std::string provider;
        int finish = -1; ///< -1: none
        context_source from = context_source::none;
        std::size_t files = 0;
        lang::value map;
    };

    [[nodiscard]] lang::value put(lang::value map, key where, lang::value item);
    [[nodiscard]] lang::value text(std::string_view bytes);
    [[nodiscard]] const lang::value& notes_for(const task_ending& ending);
    [[nodiscard]] lang::value usage_of(const task_ending& ending);
    [[nodiscard]] lang::value error_of(const task_failure& failure);

    lang::heap& memory_;
    std::shared_ptr<const result_prototypes> shared_;
    std::unordered_map<const compiled_task*, notes_pattern> patterns_;
};

} // namespace heddle::tasks
