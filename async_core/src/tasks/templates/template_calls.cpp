// The calls of a file as a program.
#include <heddle/tasks/template_loader.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/lang/printer.hpp>

#include "tasks/templates/element_reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace heddle::tasks {

namespace {

using std::string_view;

/// Names that the program itself uses: an argument of that name is a text.
constexpr std::array<string_view, 7> taken{
    "null?", "string?", "json-string", "string-append", "get-field", "nth", "call-atomic-task"};

[[nodiscard]] bool is_number(string_view text) noexcept {
    double number = 0;
    const bool digit = !text.empty() && (ascii::is_digit(text.front()) || text.front() == '-');
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return digit && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

class call_program {
public:
    explicit call_program(const std::vector<template_call>& calls) : calls_(calls) {}

    std::string write() {
        if (calls_.empty()) return {};
        std::string steps;
        for (std::size_t i = 0; i + 1 < calls_.size(); ++i) {
            const template_call& call = calls_[i];
            const std::string name =
                call.name.empty() ? "%step-" + std::to_string(i + 1) : call.name;
            steps += "\n      (" + name + " " + written(call) + ")";
            if (!call.name.empty()) results_.push_back(call.name);
        }
        const std::string last = written(calls_.back());
        std::string body = last;
        if (!steps.empty()) {
            // A step that failed ends the whole: what comes after it has nothing to work on.
            body = "(with ((on-failure 'raise))\n    (let* (" + steps.substr(7) + ")\n      " +
                   last + "))";
        }
        std::string made = "(define (main";
        for (const std::string& name : required_) made += " " + name;
        if (!optional_.empty()) made += " &optional";
        for (const std::string& name : optional_) made += " " + name;
        return made + ")\n  " + body + ")\n";
    }

private:
    std::string written(const template_call& call) {
        std::string made = "(call-atomic-task '" + call.template_name;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            const template_argument& argument = call.arguments[i];
            made += " (" + argument.name + " " + expression(argument.text) + ")";
        }
        return made + ")";
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

    /// Text in which {{name.field[0]}} stands for a value; alone it is the value itself.
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
        std::string made = "(string-append";
        for (const std::string& part : parts) made += " " + part;
        return made + ")";
    }

    /// An expression for name.field[0]; empty when it is none.
    std::string reference(string_view path) {
        std::size_t at = std::min(path.find_first_of(".["), path.size());
        const std::string name(path.substr(0, at));
        if (!is_input_name(name) || std::find(taken.begin(), taken.end(), name) != taken.end()) {
            return {};
        }
        std::string made = name;
        while (at < path.size()) {
            if (path[at] == '.') {
                const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
                if (end == at + 1) return {};
                made = "(get-field " + made + " " +
                       lang::quoted(path.substr(at + 1, end - at - 1)) + ")";
                at = end;
            } else {
                const std::size_t end = path.find(']', at);
                const string_view index =
                    end == string_view::npos ? string_view() : path.substr(at + 1, end - at - 1);
                const bool whole = !index.empty() && index.size() < 10 &&
                                   index.find_first_not_of("0123456789") == string_view::npos;
                if (!whole) return {};
                made = "(nth " + made + " " + std::string(index) + ")";
                at = end + 1;
                if (at < path.size() && path[at] != '.' && path[at] != '[') return {};
            }
        }
        if (!is_result(name)) {
            std::erase(optional_, name); // one that must be there, after all
            add(required_, name);
        }
        return made;
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
    std::vector<std::string> results_; ///< names of earlier calls
    std::vector<std::string> required_;
    std::vector<std::string> optional_;
};

} // namespace

std::string program_of_calls(const std::vector<template_call>& calls) {
    return call_program(calls).write();
}

} // namespace heddle::tasks
