#include <heddle/tasks/tools/definition_check.hpp>

#include "tasks/definition/schema_place.hpp"
#include "tasks/definition/source_form.hpp"
#include "tasks/tools/deftool.hpp"
#include "tasks/tools/value_check.hpp"

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/tasks/definition/task_fields.hpp>
#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heddle::tasks {

namespace {

using lang::problem;
using lang::severity;

constexpr std::size_t max_suggestions = 100;  ///< each is compared with all inputs
constexpr std::size_t max_wrong_clauses = 50; ///< of one task; each costs another reading

[[nodiscard]] source_span span_in(const task_template& declared, std::string_view clause) {
    return declared.given.span_of(*find_clause({}, clause));
}

/// Where a template uses {{name. Its text is scanned once, however many names are looked up.
class hole_places {
public:
    /// `otherwise`: for a template whose text is not in the source.
    hole_places(std::string_view text, source_span place, source_span otherwise)
        : text_(text), place_(place), otherwise_(otherwise) {
        for (std::size_t at = text.find("{{"); at != std::string_view::npos;
             at = text.find("{{", at + 2)) {
            if (at != 0 && text[at - 1] == '\\') continue;
            const std::size_t begin = text.find_first_not_of(" \t\n", at + 2);
            if (begin == std::string_view::npos) break;
            const std::size_t end = text.find_first_of("} \t\n.[(", begin);
            holes_.try_emplace(text.substr(begin, end - begin), at);
        }
    }

    /// The first one of that name; else the whole text.
    [[nodiscard]] source_span of(std::string_view name) const {
        const auto found = holes_.find(name);
        if (found == holes_.end()) return place_.known() ? place_ : otherwise_;
        const std::size_t end = std::min(text_.find("}}", found->second + 2), text_.size() - 2) + 2;
        return {place_.begin + static_cast<std::uint32_t>(found->second),
                place_.begin + static_cast<std::uint32_t>(end)};
    }

private:
    std::string_view text_;
    source_span place_;
    source_span otherwise_;
    std::unordered_map<std::string_view, std::size_t, name_hash> holes_; ///< the first of each name
};

class definition_reading {
public:
    definition_reading(lang::realm& realm, const lang::value& definition, source_span span,
                       std::vector<problem>& problems)
        : realm_(realm), whole_{definition, span}, problems_(problems) {}

    std::optional<lang::task_signature> run() {
        auto read = read_clauses();
        if (!read) return std::nullopt;
        task_template whole = *read;
        complete_template(whole);
        lang::task_signature signature =
            signature_of_task(std::make_shared<const task_template>(std::move(whole)));
        bool good = check_template(read->instructions, span_in(*read, "instructions"), signature);
        good = check_template(read->system, span_in(*read, "system"), signature) && good;
        for (const std::string& tool : read->tools)
            signature.tools.push_back({tool, clause_span("tools")});
        if (good) {
            if (readable_) note_unused(*read, signature);
            complete_template(*read);
            for (const template_violation& each : validate_template(*read)) {
                report_violation(*read, each);
            }
        }
        return signature;
    }

private:
    void report(std::string_view code, const error& failure) {
        const error_info& info = failure.info();
        problems_.push_back({severity::error, code, info.message, info.hint,
                             info.span.known() ? info.span : whole_.span});
    }

    void report_violation(const task_template& declared, const template_violation& each) {
        const bool bad = each.level == severity::error;
        report(bad ? std::string_view("bad-template") : each.code, violation_error(declared, each));
        problem& reported = problems_.back();
        reported.level = each.level;
        if (each.inside.known()) reported.span = place_in_schema(declared, each);
        if (each.code != "placeholder-in-command") return;
        reported.span = clause_span("file_paths");
        const std::size_t at = realm_.sources().text(reported.span).find(each.item);
        if (at == std::string_view::npos) return;
        reported.span.begin += static_cast<std::uint32_t>(at);
        reported.span.end = reported.span.begin + static_cast<std::uint32_t>(each.item.size());
    }

    /// (output_format ((type "json") (schema …)))
    [[nodiscard]] source_span place_in_schema(const task_template& declared,
                                              const template_violation& wrong) const {
        for (std::size_t i = 2; i < whole_.size(); ++i) {
            const source_form clause = whole_[i];
            const bool found = clause.is_list() && clause.size() == 2 && clause[0].is_symbol() &&
                               clause[0].text() == "output_format";
            const source_form pairs = found ? clause[1].unquoted() : source_form{};
            for (std::size_t k = 0; found && k < pairs.size(); ++k) {
                if (pairs[k].size() != 2 || pairs[k][0].text() != "schema") continue;
                const source_form schema = pairs[k][1].unquoted();
                if (!schema.is_string()) return place_in_data(schema, wrong.inside);
                return place_in_text(realm_.sources().text(schema.span), schema.span,
                                     text_writing::quoted, declared.output.schema, wrong.inside);
            }
        }
        return span_in(declared, "output_format");
    }

    /// The template without the clauses that cannot be read. Each of them is reported; what is
    /// missing then is not.
    std::optional<task_template> read_clauses() {
        std::vector<lang::value> parts;
        std::vector<source_span> places;
        for (std::size_t i = 0; i < whole_.size(); ++i) {
            parts.push_back(whole_[i].content);
            places.push_back(whole_[i].span);
        }
        const std::size_t all = parts.size();
        for (;;) {
            auto parsed = parse_defatom(list_of(parts, places), whole_.span);
            if (parsed) return *std::move(parsed);
            const source_span where = parsed.error().info().span;
            const std::size_t wrong = clause_at(places, where);
            if (wrong == places.size()) {
                // A clause that was taken out may be the one that is missed.
                if (parts.size() == all) report("bad-task", parsed.error());
                return std::nullopt;
            }
            report("bad-task", parsed.error());
            if (all - parts.size() >= max_wrong_clauses) return std::nullopt;
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(wrong));
            places.erase(places.begin() + static_cast<std::ptrdiff_t>(wrong));
        }
    }

    [[nodiscard]] lang::value list_of(const std::vector<lang::value>& parts,
                                      const std::vector<source_span>& places) const {
        lang::heap& memory = realm_.memory();
        lang::value result = lang::make_list(memory, parts);
        auto* storage = static_cast<lang::list_object*>(result.target());
        const std::size_t room = storage->capacity;
        storage->places =
            new lang::list_places{whole_.span, room, std::make_unique<source_span[]>(room)};
        memory.charge(lang::list_places::bytes_for(room));
        for (std::size_t i = 0; i < places.size(); ++i) {
            storage->places->elements[result.offset() + i] = places[i];
        }
        return result;
    }

    /// The clause that contains an error; the number of parts when none does. `defatom`
    /// and the name are not clauses.
    static std::size_t clause_at(const std::vector<source_span>& places, source_span where) {
        for (std::size_t i = 2; i < places.size() && where.known(); ++i) {
            if (where.begin >= places[i].begin && where.end <= places[i].end) return i;
        }
        return places.size();
    }

    bool check_template(const std::string& text, source_span place,
                        lang::task_signature& signature) {
        const std::unordered_set<std::string_view, name_hash> inputs(signature.inputs.begin(),
                                                                     signature.inputs.end());
        const auto code = prompt_template::compile(text, nullptr);
        if (!code) { // compile_task reports what is wrong
            readable_ = false;
            return true;
        }
        const hole_places places(realm_.sources().text(place), place, whole_.span);
        for (const prompt_call& call : code->calls()) note_call(call, places, signature);
        bool good = true;
        for (const std::string& name : code->names()) {
            used_.insert(name);
            if (inputs.contains(name)) continue;
            good = false;
            std::string hint;
            if (++suggestions_ < max_suggestions)
                hint = lang::suggest_names(name, signature.inputs);
            if (hint.empty())
                hint = "add it to (params …), or write \\\\{{ for the braces themselves";
            problems_.push_back(
                {severity::error, "unknown-placeholder",
                 "{{" + name + "}} is not a parameter of the task '" + task_name() + "'",
                 std::move(hint), places.of(name)});
        }
        return good;
    }

    [[nodiscard]] std::string task_name() const {
        return whole_.size() > 1 ? std::string(whole_[1].text()) : std::string();
    }

    void note_call(const prompt_call& call, const hole_places& places,
                   lang::task_signature& signature) {
        lang::text_call result{call.text, call.task, 0, {}, places.of(call.task)};
        for (const prompt_argument& argument : call.arguments) {
            if (argument.name.empty()) ++result.positions;
            else result.names.push_back(argument.name);
        }
        signature.calls.push_back(std::move(result));
    }

    void note_unused(const task_template& declared, lang::task_signature& signature) const {
        for (const task_input& input : declared.inputs) {
            const std::string& name = input.name;
            if (used_.contains(name) || name.starts_with('_')) continue;
            signature.unused.push_back({name, parameter_span(name)});
        }
    }

    /// The clause of that name; else the name of the task.
    [[nodiscard]] source_span clause_span(std::string_view name) const {
        for (std::size_t i = 2; i < whole_.size(); ++i) {
            const source_form clause = whole_[i];
            if (clause.is_list() && clause.size() != 0 && clause[0].is_symbol() &&
                clause[0].text() == name)
                return clause.span;
        }
        return whole_[1].span;
    }

    /// A parameter where it is declared: a name, or the first part of (name type …).
    [[nodiscard]] source_span parameter_span(std::string_view name) const {
        for (std::size_t i = 2; i < whole_.size(); ++i) {
            const source_form clause = whole_[i];
            if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol() ||
                clause[0].text() != "params")
                continue;
            for (std::size_t k = 1; k < clause.size(); ++k) {
                const source_form one = clause[k];
                if (one.is_symbol() && one.text() == name) return one.span;
                if (one.is_list() && one.size() != 0 && one[0].is_symbol() && one[0].text() == name)
                    return one.span;
            }
        }
        return whole_[1].span;
    }

    lang::realm& realm_;
    source_form whole_;
    std::vector<problem>& problems_;
    std::unordered_set<std::string, name_hash> used_; ///< names that the templates use
    std::size_t suggestions_ = 0;
    bool readable_ = true; ///< whether the templates are
};

std::optional<lang::task_signature> check_tool(lang::realm& realm, const lang::value& definition,
                                               source_span span, std::vector<problem>& problems) {
    const auto parsed = parse_deftool(definition, span);
    if (!parsed) {
        const error_info& info = parsed.error().info();
        problems.push_back({severity::error, "bad-tool", info.message, info.hint,
                            info.span.known() ? info.span : span});
        return std::nullopt;
    }
    lang::task_signature signature;
    signature.is_tool = true;
    for (const task_input& input : parsed->inputs) {
        signature.inputs.push_back(input.name);
        if (!input.optional) signature.required.push_back(input.name);
    }
    signature.refuses = refusal_by_schema(realm, parsed->name, parsed->input_schema);
    return signature;
}

} // namespace

std::optional<lang::task_signature> definition_check::check(
    lang::realm& realm, const lang::value& definition, source_span span,
    std::vector<lang::problem>& problems) const {
    const source_form whole{definition, span};
    const bool tool = whole.is_list() && whole.size() != 0 && whole[0].is_symbol() &&
                      whole[0].text() == "deftool";
    if (tool) return check_tool(realm, definition, span, problems);
    return definition_reading(realm, definition, span, problems).run();
}

std::optional<lang::task_signature> definition_check::signature_of(
    lang::realm& realm, const lang::host_object& callable) const {
    if (const auto* tool = dynamic_cast<const tool_callable*>(&callable))
        return signature_of_tool(realm, tool->get());
    const auto* task = dynamic_cast<const task_callable*>(&callable);
    if (!task) return std::nullopt;
    return signature_of_task({task->task(), &task->task()->declared});
}

} // namespace heddle::tasks
