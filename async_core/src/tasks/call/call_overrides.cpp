#include "tasks/call/call_overrides.hpp"

#include "tasks/definition/context_clauses.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/effective_context.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::tasks {

namespace {

enum class reserved : std::uint8_t {
    none,
    files,
    context,
    history,
    model,
    provider,
    timeout,
    temperature,
    max_tokens,
    retries
};

struct reserved_row {
    std::string_view name;
    reserved key;
};

constexpr std::array<reserved_row, 14> reserved_keys{{
    {"files", reserved::files},
    {"file_paths", reserved::files},
    {"file-paths", reserved::files},
    {"context", reserved::context},
    {"history_config", reserved::history},
    {"history-config", reserved::history},
    {"model", reserved::model},
    {"provider", reserved::provider},
    {"timeout", reserved::timeout},
    {"temperature", reserved::temperature},
    {"max-tokens", reserved::max_tokens},
    {"max_tokens", reserved::max_tokens},
    {"max_output_tokens", reserved::max_tokens},
    {"retries", reserved::retries},
}};

[[nodiscard]] reserved reserved_key(std::string_view name) noexcept {
    for (const reserved_row& row : reserved_keys) {
        if (row.name == name) return row.key;
    }
    return reserved::none;
}

[[nodiscard]] std::string shown(const lang::value& v) {
    lang::print_options options;
    options.max_bytes = 80;
    return lang::print_value(v, options);
}

[[nodiscard]] bool is_list_of_strings(const lang::value& given) {
    if (!given.is(lang::kind::list) || given.length() == 0) return false;
    const auto items = lang::list_items(given);
    return std::all_of(items.begin(), items.end(),
                       [](const lang::value& each) { return each.is(lang::kind::string); });
}

class override_reader {
public:
    override_reader(call_overrides& into, const task_template& task, std::string_view name,
                    source_span where)
        : set_(into), task_(task), name_(name), where_(where) {}

    result<void> read(const lang::value& given) {
        switch (const reserved key = reserved_key(name_)) {
        case reserved::none: return {};
        case reserved::files: return read_files(given);
        case reserved::context: return read_context(given);
        case reserved::history: {
            auto read = read_history_config({given, where_});
            if (!read) return malformed_clause(read.error());
            set_.history = *read;
            return {};
        }
        case reserved::model:
        case reserved::provider: {
            if (!given.is(lang::kind::string)) return unfit("a string", given);
            (key == reserved::model ? set_.model : set_.provider) = lang::string_bytes(given);
            return {};
        }
        case reserved::timeout: {
            HEDDLE_TRY(const double seconds, number(given));
            if (!(seconds > 0) || seconds > 1e8) return malformed("timeout must be above 0");
            set_.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double>(seconds));
            return {};
        }
        case reserved::temperature: {
            HEDDLE_TRY(const double degree, number(given));
            if (degree < 0 || degree > 10) return malformed("temperature must be from 0 to 10");
            set_.temperature = degree;
            return {};
        }
        case reserved::max_tokens: {
            HEDDLE_TRY(set_.max_tokens, whole(given, 1, 1'000'000'000));
            return {};
        }
        case reserved::retries: {
            HEDDLE_TRY(const std::int64_t count, whole(given, 0, template_limits::max_retries));
            set_.retries = static_cast<std::uint32_t>(count);
            return {};
        }
        }
        return {};
    }

private:
    [[nodiscard]] error malformed(const std::string& what) const {
        return error(lang::errc::evaluation, "task " + task_.name + ": " + what).with_span(where_);
    }

    [[nodiscard]] error unfit(const std::string& wanted, const lang::value& given) const {
        return malformed(std::string(name_) + " must be " + wanted + ", not " + shown(given));
    }

    [[nodiscard]] error malformed_clause(const error& inner) const {
        return malformed(std::string(name_) + " " + inner.message()).with_hint(inner.info().hint);
    }

    result<double> number(const lang::value& given) const {
        if (given.is_integer()) return static_cast<double>(given.as_integer());
        if (given.is_real() && std::isfinite(given.as_real())) return given.as_real();
        return unfit("a number", given);
    }

    result<std::int64_t> whole(const lang::value& given, std::int64_t least,
                               std::int64_t most) const {
        if (given.is_integer() && given.as_integer() >= least && given.as_integer() <= most)
            return given.as_integer();
        return unfit("a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                     given);
    }

    result<void> read_files(const lang::value& given) {
        const bool empty = given.is(lang::kind::list) && given.length() == 0;
        if (!empty && !is_list_of_strings(given)) return unfit("a list of strings", given);
        if (!set_.files.is_nil()) return malformed("files are given twice");
        set_.files = given;
        return {};
    }

    result<void> read_context(const lang::value& given) {
        auto read = read_context_management({given, where_});
        if (!read && is_list_of_strings(given)) {
            return malformed("context takes settings, not paths")
                .with_hint("files go into (files paths)");
        }
        if (!read) return malformed_clause(read.error());
        if (auto fits = check_context_layer(task_.subtype, *read); !fits) {
            return task_failed(task_failure_reason::input_validation_failure,
                               "task " + task_.name + ": context: " + fits.error().message())
                .with_hint(fits.error().info().hint)
                .with_span(where_);
        }
        set_.context = *read;
        return {};
    }

    call_overrides& set_;
    const task_template& task_;
    std::string_view name_;
    source_span where_;
};

} // namespace

result<void> set_override(call_overrides& into, const task_template& task, std::string_view name,
                          const lang::value& given, source_span where) {
    return override_reader(into, task, name, where).read(given);
}

bool is_reserved_call_key(std::string_view name) noexcept {
    return reserved_key(name) != reserved::none;
}

} // namespace heddle::tasks
