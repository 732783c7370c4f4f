#include <heddle/tasks/template_files/template_loader.hpp>

#include "tasks/definition/schema_place.hpp"
#include "tasks/template_files/template_draft.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/compile.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::tasks {

namespace {

using lang::problem;
using lang::severity;

constexpr std::size_t max_problems = 200; ///< of one load; a place costs a look at its file

/// "review" of "tasks/review.xml"; empty for what is not a file.
[[nodiscard]] std::string stem_of(std::string_view file) {
    if (file.starts_with('<')) return {};
    if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos) {
        file.remove_prefix(slash + 1);
    }
    return std::string(file.substr(0, file.rfind('.')));
}

/// Lines of a text for places in rising order: one pass over it, however many there are.
class line_counter {
public:
    line_counter(std::string_view text, std::uint32_t position)
        : text_(text), position_(position) {}

    [[nodiscard]] std::size_t line_of(source_span span) {
        const std::size_t wanted = span.begin - position_;
        if (wanted < at_) { // not in order after all
            at_ = 0;
            line_ = 1;
        }
        for (; at_ < std::min(wanted, text_.size()); ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
        return line_;
    }

private:
    std::string_view text_;
    std::uint32_t position_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
};

} // namespace

struct template_loader::state {
    explicit state(template_load_options wanted) : options(std::move(wanted)) {}

    template_load_options options;
    std::shared_ptr<template_report> report = std::make_shared<template_report>();
    std::vector<template_draft> drafts;
    std::vector<call_draft> calls;
    std::map<std::string, std::size_t, std::less<>> by_name; ///< index of the draft
    enum class progress : std::uint8_t { open, under_way, done };
    std::vector<progress> resolved;

    void add_problem(std::string_view code, source_span where, std::string message,
                     std::string hint = {}) {
        report->problems.push_back(
            {severity::error, code, std::move(message), std::move(hint), where});
    }

    void add(std::string name, std::string text);
    static void name_drafts(const std::string& file, file_drafts& read,
                            std::vector<problem>& found);
    void note_names();
    void resolve(std::size_t index);
    void check(const template_draft& draft);
    void check_text_calls(const template_draft& draft);
    void check_text_call(const template_draft& draft, source_span part, const prompt_call& call);
    void check_name(const template_draft& draft);
    [[nodiscard]] source_span place_of_placeholder(source_span part, std::string_view name) const;
    void check_call(call_draft& call);
    void check_arguments(call_draft& call, const task_template& target);
    [[nodiscard]] const task_template* find(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] loaded_templates finish();
};

void template_loader::state::add(std::string name, std::string text) {
    text.erase(0, text.size() - utf8::skip_byte_order_mark(text).size());
    // The report keeps no more of a file that is too large than shows what it is.
    const bool kept = text.size() <= options.limits.bytes;
    const std::uint32_t position =
        report->sources.add(name, kept ? text : std::string(utf8::prefix(text, 80)));
    std::vector<problem> found;
    if (const auto root = read_xml(text, position, options.limits, found)) {
        file_drafts read = read_definitions(*root, found);
        name_drafts(name, read, found);
        line_counter lines(text, position);
        for (template_draft& each : read.templates) {
            each.declared.source = name + ":" + std::to_string(lines.line_of(each.span));
            drafts.push_back(std::move(each));
        }
        for (call_draft& each : read.calls) {
            each.call.source = name + ":" + std::to_string(lines.line_of(each.span));
            each.call.begin = each.span.begin - position;
            each.call.end = each.span.end - position;
            calls.push_back(std::move(each));
        }
    }
    const std::size_t most = std::max<std::size_t>(options.limits.problems, 1);
    if (found.size() > most) {
        const std::size_t more = found.size() - most;
        const source_span last = found[most - 1].span;
        found.resize(most);
        found.push_back(
            {severity::error, "too-many", std::to_string(more) + " more problems", {}, last});
    }
    report->problems.insert(report->problems.end(), std::make_move_iterator(found.begin()),
                            std::make_move_iterator(found.end()));
}

/// A file that holds a single task may name it.
void template_loader::state::name_drafts(const std::string& file, file_drafts& read,
                                         std::vector<problem>& found) {
    for (template_draft& draft : read.templates) {
        draft.declared.span = draft.span;
        if (!draft.declared.name.empty() || draft.in_template) continue;
        if (read.templates.size() == 1 && is_task_name(stem_of(file))) {
            draft.declared.name = stem_of(file);
            continue;
        }
        found.push_back({severity::error, "missing", "<task> has no name",
                         read.templates.size() == 1
                             ? "write name=\"…\"; the name of the file is none"
                             : "write name=\"…\": the file holds several tasks",
                         draft.span});
    }
}

void template_loader::state::note_names() {
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        const template_draft& draft = drafts[i];
        if (draft.declared.name.empty()) continue;
        const auto [place, fresh] = by_name.try_emplace(draft.declared.name, i);
        if (fresh) continue;
        add_problem("duplicate-name", draft.name_span,
                    "a second template '" + draft.declared.name + "'",
                    "the first one is at " + drafts[place->second].declared.source);
    }
}

const task_template* template_loader::state::find(std::string_view name) const {
    if (const auto found = by_name.find(name); found != by_name.end()) {
        return &drafts[found->second].declared;
    }
    return options.known ? options.known(name) : nullptr;
}

std::vector<std::string> template_loader::state::names() const {
    std::vector<std::string> all;
    for (const auto& [name, index] : by_name) all.push_back(name);
    return all;
}

/// Fills a draft with what it refers to, which is filled first. As deep as the chain of references
/// is long, so the chain is bounded.
void template_loader::state::resolve(std::size_t index) {
    constexpr std::size_t max_chain_length = 100;
    std::vector<std::size_t> chain;
    for (std::size_t at = index;;) {
        if (resolved[at] == progress::done) break;
        const template_draft& draft = drafts[at];
        if (resolved[at] == progress::under_way || chain.size() == max_chain_length) {
            const template_draft& first = drafts[chain.front()];
            add_problem(
                "bad-ref", first.place_of("ref", {}),
                chain.size() == max_chain_length
                    ? "'" + first.declared.name + "' refers to a chain of more than 100 templates"
                    : "'" + first.declared.name + "' refers back to itself, over '" +
                          draft.declared.name + "'");
            for (const std::size_t each : chain) {
                resolved[each] = progress::done;
                drafts[each].declared.ref.clear();
            }
            return;
        }
        resolved[at] = progress::under_way;
        chain.push_back(at);
        const auto next =
            draft.declared.ref.empty() ? by_name.end() : by_name.find(draft.declared.ref);
        if (next == by_name.end()) break;
        at = next->second;
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        template_draft& draft = drafts[*at];
        resolved[*at] = progress::done;
        if (!draft.declared.ref.empty()) {
            if (const task_template* base = find(draft.declared.ref)) {
                fill_absent(draft.declared, *base);
            } else {
                add_problem("bad-ref", draft.place_of("ref", {}),
                            "there is no template '" + draft.declared.ref + "'",
                            lang::suggest_names(draft.declared.ref, names()));
            }
        }
        complete_template(draft.declared);
    }
}

source_span template_loader::state::place_of_placeholder(source_span part,
                                                         std::string_view name) const {
    const std::string_view text = report->sources.text(part);
    for (std::size_t at = text.find("{{"); at != std::string_view::npos;
         at = text.find("{{", at + 2)) {
        const std::size_t begin = text.find_first_not_of(ascii::blanks, at + 2);
        if (begin == std::string_view::npos) break;
        if (!text.substr(begin).starts_with(name)) continue;
        const std::size_t after = begin + name.size();
        if (after < text.size() &&
            std::string_view("} \t\r\n.[(").find(text[after]) == std::string_view::npos) {
            continue;
        }
        const std::size_t close = text.find("}}", begin);
        const std::size_t end = close == std::string_view::npos ? after : close + 2;
        return {part.begin + static_cast<std::uint32_t>(at),
                part.begin + static_cast<std::uint32_t>(end)};
    }
    return part;
}

void template_loader::state::check(const template_draft& draft) {
    for (template_violation& each : validate_template(draft.declared, options.validation)) {
        if (each.part == "name" && draft.declared.name.empty())
            continue; // reported where it is missing
        source_span where = draft.place_of(each.part, each.item);
        if (each.code == "unknown-placeholder") where = place_of_placeholder(where, each.item);
        if (each.inside.known()) {
            where = place_in_text(report->sources.text(where), where, text_writing::xml,
                                  draft.declared.output.schema, each.inside);
        }
        if (each.code == "placeholder-in-command") {
            const std::size_t at = report->sources.text(where).find(each.item);
            if (at != std::string_view::npos) {
                where.begin += static_cast<std::uint32_t>(at);
                where.end = where.begin + static_cast<std::uint32_t>(each.item.size());
            }
        }
        report->problems.push_back(
            {each.level, each.code,
             (draft.declared.name.empty() ? std::string("a task")
                                          : "'" + draft.declared.name + "'") +
                 ": " + violation_text(each),
             std::move(each.hint), where});
    }
    check_text_calls(draft);
    check_name(draft);
}

/// A workflow that writes the name means the form or the builtin.
void template_loader::state::check_name(const template_draft& draft) {
    const std::string& name = draft.declared.name;
    const bool form = lang::is_special_form(name);
    if (!form && !lang::find_builtin(name)) return;
    report->problems.push_back(
        {severity::warning, "hidden-name",
         "'" + name + "' is the name of a " + (form ? "special form" : "builtin") + ", which (" +
             name + " …) calls",
         "call it with (call-atomic-task '" + name + " …), or give it another name",
         draft.name_span});
}

/// Calls of other templates in the texts of its own that are sent.
void template_loader::state::check_text_calls(const template_draft& draft) {
    const task_template& declared = draft.declared;
    const char* const asked = declared.instructions.empty() ? "description" : "instructions";
    const std::string& prompt =
        declared.instructions.empty() ? declared.description : declared.instructions;
    for (const auto& [part, text] :
         {std::pair<const char*, const std::string&>{asked, prompt}, {"system", declared.system}}) {
        if (!draft.parts.contains(part)) continue; // of what it refers to, which is checked
        const auto read = prompt_template::compile(text, nullptr);
        if (!read) continue; // reported
        for (const prompt_call& call : read->calls())
            check_text_call(draft, draft.place_of(part, {}), call);
    }
}

void template_loader::state::check_text_call(const template_draft& draft, source_span part,
                                             const prompt_call& call) {
    const task_template* target = find(call.task);
    const source_span where = place_of_placeholder(part, ascii::trim(call.text));
    const std::string who = "'" + draft.declared.name + "': {{" + call.text + "}}: ";
    if (!target) {
        // A workflow may define it.
        report->problems.push_back({severity::warning, "unknown-template",
                                    who + "there is no template '" + call.task + "' here",
                                    lang::suggest_names(call.task, names()), where});
        return;
    }
    lang::task_signature signature;
    signature.open = !target->declares_inputs;
    lang::text_call checked{call.text, call.task, 0, {}, where};
    for (const task_input& input : target->inputs) {
        signature.inputs.push_back(input.name);
        if (!input.optional) signature.required.push_back(input.name);
    }
    for (const prompt_argument& argument : call.arguments) {
        if (argument.name.empty()) {
            ++checked.positions;
            continue;
        }
        const auto same =
            std::find_if(target->inputs.begin(), target->inputs.end(),
                         [&](const task_input& input) { return input.from == argument.name; });
        checked.names.push_back(same == target->inputs.end() ? argument.name : same->name);
    }
    std::string mistake = lang::mistake_in(checked, signature, is_reserved_call_key);
    if (!mistake.empty()) add_problem("argument-count", where, who + mistake);
}

void template_loader::state::check_call(call_draft& call) {
    const std::string& wanted = call.call.template_name;
    if (wanted.empty()) return; // reported
    const task_template* target = find(wanted);
    if (!target) {
        return add_problem("unknown-template", call.target_span,
                           "there is no template '" + wanted + "'",
                           lang::suggest_names(wanted, names()));
    }
    for (const task_input& input : target->inputs) call.call.parameters.push_back(input.name);
    if (target->declares_inputs) return check_arguments(call, *target);
    for (std::size_t i = 0; i < call.call.arguments.size(); ++i) {
        if (!call.call.arguments[i].name.empty()) continue;
        add_problem("argument-count", call.arguments[i],
                    "'" + wanted + "' declares no parameters, so an argument needs a name",
                    "write <arg name=\"…\">");
    }
}

void template_loader::state::check_arguments(call_draft& call, const task_template& target) {
    std::vector<bool> given(target.inputs.size());
    std::size_t next = 0;
    bool named = false;
    for (std::size_t i = 0; i < call.call.arguments.size(); ++i) {
        template_argument& argument = call.call.arguments[i];
        const source_span place = call.arguments[i];
        std::size_t at = next;
        if (!argument.name.empty()) {
            named = true;
            at = 0;
            while (at < given.size() && target.inputs[at].name != argument.name) ++at;
            if (at == given.size()) {
                add_problem("argument-count", place,
                            "'" + target.name + "' has no parameter '" + argument.name + "'",
                            lang::suggest_names(argument.name, call.call.parameters));
                continue;
            }
        } else if (named) {
            add_problem("argument-count", place, "an argument by position behind one by name");
            continue;
        } else if (at >= given.size()) {
            add_problem("argument-count", place,
                        "'" + target.name + "' takes " + std::to_string(given.size()) +
                            " arguments, given " + std::to_string(call.call.arguments.size()));
            return;
        } else ++next;
        if (given[at]) {
            add_problem("argument-count", place, "'" + target.inputs[at].name + "' is given twice");
        }
        given[at] = true;
        argument.name = target.inputs[at].name;
    }
    std::string missing;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i] || target.inputs[i].optional) continue;
        missing += (missing.empty() ? "" : ", ") + target.inputs[i].name;
    }
    if (missing.empty()) return;
    add_problem("argument-count", call.span,
                "the call of '" + target.name + "' lacks an argument for " + missing);
}

loaded_templates template_loader::state::finish() {
    note_names();
    resolved.assign(drafts.size(), progress::open);
    for (std::size_t i = 0; i < drafts.size(); ++i) resolve(i);
    for (const template_draft& draft : drafts) {
        if (report->problems.size() <= max_problems) check(draft);
    }
    for (call_draft& call : calls) {
        if (report->problems.size() <= max_problems) check_call(call);
    }
    std::stable_sort(report->problems.begin(), report->problems.end(),
                     [](const problem& left, const problem& right) {
                         return left.span.begin < right.span.begin;
                     });

    if (report->problems.size() > max_problems) {
        const std::size_t more = report->problems.size() - max_problems;
        const severity worst = report->errors() != 0 ? severity::error : severity::warning;
        report->problems.resize(max_problems); // heddle-check: allow cut-text (a list)
        report->problems.push_back({worst,
                                    "too-many",
                                    "there are at least " + std::to_string(more) + " more problems",
                                    {},
                                    report->problems.back().span});
    }

    loaded_templates loaded;
    if (report->errors() == 0) {
        for (template_draft& draft : drafts) {
            task_template& one = draft.declared;
            one.ref.clear(); // it was filled
            // The places are those of the report, not of a session that takes the template.
            one.span = {};
            one.given.clear_spans();
            loaded.templates.push_back(std::move(one));
        }
        for (call_draft& call : calls) loaded.calls.push_back(std::move(call.call));
    }
    loaded.report = std::move(report);
    return loaded;
}

template_loader::template_loader(template_load_options options)
    : state_(std::make_unique<state>(std::move(options))) {}
template_loader::~template_loader() = default;
template_loader::template_loader(template_loader&&) noexcept = default;
template_loader& template_loader::operator=(template_loader&&) noexcept = default;

void template_loader::add(std::string name, std::string text) {
    state_->add(std::move(name), std::move(text));
}

loaded_templates template_loader::finish() && { return state_->finish(); }

} // namespace heddle::tasks
