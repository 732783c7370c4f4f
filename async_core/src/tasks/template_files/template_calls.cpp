// The calls of a file as a program.
#include <heddle/tasks/template_files/template_loader.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>

#include "tasks/template_files/element_reading.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace heddle::tasks {

namespace {

using std::string_view;

/// Names that the program itself uses: an argument of that name is a text.
constexpr std::array<string_view, 7> taken{
    "null?", "string?", "json-string", "string-append", "get-field", "nth", "call-atomic-task"};

[[nodiscard]] bool is_number(string_view text) noexcept {
    const bool digit = !text.empty() && (ascii::is_digit(text.front()) || text.front() == '-');
    return digit && parse_number<double>(text);
}

/// A stretch of the program, and the call of the file that it was made of.
struct program_part {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    const template_call* call = nullptr;
};

class call_program {
public:
    explicit call_program(const std::vector<template_call>& calls) : calls_(calls) {}

    std::string write() {
        if (calls_.empty()) return {};
        // A step that failed ends the whole: what comes after it has nothing to work on. The result
        // of a single call is the value, also when it failed.
        const bool steps = calls_.size() > 1;
        std::string body = steps ? "(with ((on-failure 'raise))\n    " : "";
        for (const template_call& call : calls_) {
            const bool last = &call == &calls_.back();
            const bool named = !call.name.empty() && !last;
            if (named) body += "(bind " + call.name + " ";
            const std::size_t begin = body.size();
            body += written(call);
            parts_.push_back({static_cast<std::uint32_t>(begin),
                              static_cast<std::uint32_t>(body.size()), &call});
            body += named ? ")" : "";
            body += last ? "" : "\n    ";
            if (!call.name.empty()) results_.push_back(call.name);
        }
        if (steps) body += ")";
        std::string text = "(define (main";
        for (const std::string& name : required_) text += " " + name;
        if (!optional_.empty()) text += " &optional";
        for (const std::string& name : optional_) text += " " + name;
        text += ")\n  ";
        for (program_part& each : parts_) {
            each.begin += static_cast<std::uint32_t>(text.size());
            each.end += static_cast<std::uint32_t>(text.size());
        }
        return text + body + ")\n";
    }

    /// In the order of the program.
    [[nodiscard]] const std::vector<program_part>& parts() const noexcept { return parts_; }

private:
    std::string written(const template_call& call) {
        std::string out = "(call-atomic-task '" + call.template_name;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            const template_argument& argument = call.arguments[i];
            out += " (" + argument.name + " " + expression(argument.text) + ")";
        }
        return out + ")";
    }

    std::string expression(string_view text) {
        if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
            text.back() == text.front() &&
            text.substr(1, text.size() - 2).find(text.front()) == string_view::npos) {
            return lang::quoted(text.substr(1, text.size() - 2));
        }
        if (text == "true" || text == "false") return std::string(text);
        if (text == "null") return "nil";
        if (is_number(text)) return std::string(text);
        if (is_input_name(text) && std::find(taken.begin(), taken.end(), text) == taken.end()) {
            const std::string name(text);
            if (is_result(name)) return name;
            if (is_parameter(required_, name)) return name;
            add(optional_, name);
            return "(if (null? " + name + ") " + lang::quoted(name) + " " + name + ")";
        }
        return with_placeholders(text);
    }

    /// Text in which {{name.field[0]}} is replaced by a value; alone it is the value itself.
    std::string with_placeholders(string_view text) {
        std::vector<std::string> parts;
        std::string only; ///< the value, when there is nothing else
        std::string literal;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t open = std::min(text.find("{{", at), text.size());
            literal += text.substr(at, open - at);
            if (open == text.size()) break;
            const std::size_t close = text.find("}}", open);
            const std::string value =
                close == string_view::npos
                    ? std::string()
                    : reference(ascii::trim(text.substr(open + 2, close - open - 2)));
            if (value.empty()) { // no reference: the braces themselves
                literal += "{{";
                at = open + 2;
                continue;
            }
            if (!literal.empty()) parts.push_back(lang::quoted(literal));
            literal.clear();
            only = value;
            parts.push_back("(let ((v " + value + ")) (if (string? v) v (json-string v)))");
            at = close + 2;
        }
        if (!literal.empty()) parts.push_back(lang::quoted(literal));
        if (parts.empty()) return "\"\"";
        if (parts.size() == 1) return only.empty() ? parts.front() : only;
        std::string out = "(string-append";
        for (const std::string& part : parts) out += " " + part;
        return out + ")";
    }

    /// An expression for name.field[0]; empty when it is none.
    std::string reference(string_view path) {
        std::size_t at = std::min(path.find_first_of(".["), path.size());
        const std::string name(path.substr(0, at));
        if (!is_input_name(name) || std::find(taken.begin(), taken.end(), name) != taken.end()) {
            return {};
        }
        std::string text = name;
        while (at < path.size()) {
            if (path[at] == '.') {
                const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
                if (end == at + 1) return {};
                text = "(get-field " + text + " " +
                       lang::quoted(path.substr(at + 1, end - at - 1)) + ")";
                at = end;
            } else {
                const std::size_t end = path.find(']', at);
                const string_view index =
                    end == string_view::npos ? string_view() : path.substr(at + 1, end - at - 1);
                const bool whole = index.size() < 10 && ascii::is_all_digits(index);
                if (!whole) return {};
                text = "(nth " + text + " " + std::string(index) + ")";
                at = end + 1;
                if (at < path.size() && path[at] != '.' && path[at] != '[') return {};
            }
        }
        if (!is_result(name)) {
            std::erase(optional_, name); // one that must be there, after all
            add(required_, name);
        }
        return text;
    }

    [[nodiscard]] bool is_result(const std::string& name) const {
        return is_parameter(results_, name);
    }
    [[nodiscard]] static bool is_parameter(const std::vector<std::string>& all,
                                           const std::string& name) {
        return std::find(all.begin(), all.end(), name) != all.end();
    }
    static void add(std::vector<std::string>& all, const std::string& name) {
        if (!is_parameter(all, name)) all.push_back(name);
    }

    const std::vector<template_call>& calls_;
    std::vector<program_part> parts_;
    std::vector<std::string> results_; ///< names of earlier calls
    std::vector<std::string> required_;
    std::vector<std::string> optional_;
};

/// Moves the spans of forms from the program to the calls that its parts were made of.
class relocation {
public:
    /// The program was read at position 1, the file is at `position`.
    relocation(const std::vector<program_part>& parts, std::uint32_t position)
        : parts_(parts), position_(position) {}

    void move(lang::datum& form) {
        form.span = moved(form.span);
        std::vector<lang::value> left{form.content};
        while (!left.empty()) {
            lang::value list = std::move(left.back());
            left.pop_back();
            if (!list.is(lang::kind::list) || list.length() == 0) continue;
            if (lang::list_places* places =
                    static_cast<lang::list_object*>(list.target())->places) {
                places->whole = moved(places->whole);
                for (std::size_t i = 0; i < places->count; ++i)
                    places->elements[i] = moved(places->elements[i]);
            }
            const auto items = lang::list_items(list);
            left.insert(left.end(), items.begin(), items.end());
        }
    }

private:
    [[nodiscard]] source_span moved(source_span span) const {
        if (!span.known()) return {};
        const auto after = std::upper_bound(
            parts_.begin(), parts_.end(), span.begin - 1,
            [](std::uint32_t at, const program_part& part) { return at < part.begin; });
        if (after == parts_.begin()) return {};
        const program_part& part = *std::prev(after);
        if (span.end - 1 > part.end) return {};
        return {position_ + part.call->begin, position_ + part.call->end};
    }

    const std::vector<program_part>& parts_;
    std::uint32_t position_;
};

} // namespace

std::string program_of_calls(const std::vector<template_call>& calls) {
    return call_program(calls).write();
}

result<std::vector<lang::datum>> forms_of_calls(lang::heap& memory,
                                                const std::vector<template_call>& calls,
                                                std::uint32_t position) {
    call_program program(calls);
    HEDDLE_TRY(std::vector<lang::datum> forms, lang::read_all(memory, program.write(), 1));
    relocation spans(program.parts(), position);
    for (lang::datum& form : forms) spans.move(form);
    return forms;
}

} // namespace heddle::tasks
