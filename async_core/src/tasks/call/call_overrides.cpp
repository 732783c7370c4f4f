#include "tasks/call/call_overrides.hpp"

#include "tasks/definition/field_clauses.hpp"
#include "tasks/output/shown_value.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/effective_context.hpp>
#include <heddle/tasks/definition/field_values.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

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

    result<void> read(const task_field& field, const lang::value& given) {
        if (field.member.shape == field_shape::special) return read_files(given);
        if (field.member.shape == field_shape::group) {
            return field.name == "context_management" ? read_context(field, given)
                                                      : read_settings(field, given, set_);
        }
        auto outcome = read_field(field, {given, where_});
        if (!outcome) return malformed_clause(outcome.error());
        store(field.member.of_settings(set_), *std::move(outcome));
        return {};
    }

private:
    [[nodiscard]] error malformed(const std::string& what) const {
        return error(lang::errc::evaluation, "task " + task_.name + ": " + what).with_span(where_);
    }

    [[nodiscard]] error unfit(const std::string& wanted, const lang::value& given) const {
        return malformed(std::string(name_) + " must be " + wanted + ", not " + shown_value(given));
    }

    [[nodiscard]] error malformed_clause(const error& inner) const {
        return malformed(std::string(name_) + " " + inner.message()).with_hint(inner.info().hint);
    }

    result<void> read_settings(const task_field& group, const lang::value& given,
                               task_settings& into) const {
        auto done = read_group(group, {given, where_}, into);
        if (!done) return malformed_clause(done.error());
        return {};
    }

    result<void> read_files(const lang::value& given) {
        const bool empty = given.is(lang::kind::list) && given.length() == 0;
        if (!empty && !is_list_of_strings(given)) return unfit("a list of strings", given);
        if (!set_.files.is_nil()) return malformed("files are given twice");
        set_.files = given;
        return {};
    }

    result<void> read_context(const task_field& group, const lang::value& given) {
        task_settings read;
        if (auto done = read_settings(group, given, read); !done) {
            if (!is_list_of_strings(given)) return done;
            return malformed("context takes settings, not paths")
                .with_hint("files go into (files paths)");
        }
        if (auto fits = check_context_layer(task_.subtype, read.context); !fits) {
            return task_failed(task_failure_reason::input_validation_failure,
                               "task " + task_.name + ": context: " + fits.error().message())
                .with_hint(fits.error().info().hint)
                .with_span(where_);
        }
        set_.context = read.context;
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
    const task_field* field = find_call_field(name);
    return field ? override_reader(into, task, name, where).read(*field, given) : result<void>();
}

bool is_reserved_call_key(std::string_view name) noexcept {
    return find_call_field(name) != nullptr;
}

} // namespace heddle::tasks
