// Reads the text of a prompt_template.
#include <heddle/base/keyed_hash.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/lang/errors.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_placeholder_length = 1000;
constexpr std::size_t max_call_length = 16 * 1024;
constexpr std::size_t max_path_length = 64;
constexpr std::size_t max_arguments = 100;
constexpr std::size_t max_calls = 32;

/// What ends a name inside a placeholder.
[[nodiscard]] bool ends_name(char c) noexcept {
    return ascii::is_blank(c) || c == '.' || c == '[' || c == ']' || c == '(' || c == ')' ||
           c == '{' || c == '}' || c == '"' || c == '\'' || c == ',' || c == ';' || c == '=';
}

[[nodiscard]] error misread(std::string_view inside, std::string_view why) {
    inside = ascii::trim(inside);
    return error(lang::errc::evaluation,
                 "{{" + utf8::shortened(inside, 80) + "}} " + std::string(why))
        .with_hint(
            "a placeholder is {{name}}, {{name.field}} or {{name[0]}}, a call "
            "{{task(name, \"text\", key=1)}}; \\{{ writes the braces");
}

/// A string between quotes of either kind as JSON. Its escapes are those of the language.
[[nodiscard]] std::string quoted_json(std::string_view inside) {
    std::string text = "\"";
    for (;;) {
        const std::size_t plain = std::min(inside.find('\\'), inside.size());
        append_json_escaped(text, inside.substr(0, plain));
        inside.remove_prefix(plain);
        if (inside.size() < 2) break;
        const std::size_t escape = 1 + utf8::decode(inside, 1).bytes;
        if (inside[1] == '\'') text += '\'';
        else text += inside.substr(0, escape);
        inside.remove_prefix(escape);
    }
    append_json_escaped(text, inside);
    return text += '"';
}

} // namespace

class prompt_template::compiler {
public:
    compiler(std::string_view text, const std::vector<std::string>* declared)
        : text_(text), declared_(declared) {}

    result<prompt_template> compile();

private:
    /// The placeholder as it is written: it ends with its line, or where another one begins.
    [[nodiscard]] error not_closed() const {
        const std::string_view rest = text_.substr(open_, 200);
        const std::size_t end = std::min(rest.find('\n'), rest.find("{{", 2));
        return error(lang::errc::evaluation,
                     "the placeholder " +
                         utf8::shortened(rest.substr(0, std::min(end, rest.size())), 40) +
                         " has no closing }}");
    }
    [[nodiscard]] error wrong(std::string_view why) const {
        const std::size_t close = text_.find("}}", at_);
        const std::size_t end = close == std::string_view::npos ? text_.size() : close;
        return misread(utf8::prefix(text_.substr(open_ + 2, end - open_ - 2), 200), why);
    }
    void skip_blanks() noexcept {
        while (at_ < text_.size() && ascii::is_blank(text_[at_])) ++at_;
    }
    [[nodiscard]] bool next_is(std::string_view wanted) noexcept {
        skip_blanks();
        return text_.substr(at_).starts_with(wanted);
    }
    [[nodiscard]] bool take(std::string_view wanted) noexcept {
        if (!next_is(wanted)) return false;
        at_ += wanted.size();
        return true;
    }
    [[nodiscard]] std::string_view read_name() noexcept {
        const std::size_t from = at_;
        while (at_ < text_.size() && !ends_name(text_[at_])) ++at_;
        return text_.substr(from, at_ - from);
    }
    void end_literal();
    result<void> read_braces();
    result<void> read_path(placeholder& created);
    result<void> read_call(std::string_view name);
    result<void> read_argument(prompt_call& call);
    result<void> read_value(prompt_argument& argument);
    result<std::int32_t> declared_index(std::string_view inside, std::string_view name) const;
    void note_name(const std::string& name);

    std::string_view text_;
    const std::vector<std::string>* declared_;
    std::size_t at_ = 0;
    std::size_t open_ = 0; ///< where the braces stand that are being read
    std::string literal_;
    std::unordered_set<std::string, name_hash> seen_; ///< names; a hostile text has very many
    prompt_template prompt_;
};

void prompt_template::compiler::end_literal() {
    if (literal_.empty()) return;
    prompt_.literal_bytes_ += literal_.size();
    prompt_.parts_.emplace_back(std::move(literal_));
    literal_.clear();
}

void prompt_template::compiler::note_name(const std::string& name) {
    if (seen_.insert(name).second) prompt_.names_.push_back(name);
}

result<std::int32_t> prompt_template::compiler::declared_index(std::string_view inside,
                                                               std::string_view name) const {
    if (!declared_) return -1;
    const auto found = std::find(declared_->begin(), declared_->end(), name);
    if (found == declared_->end()) {
        return error(lang::errc::evaluation, "{{" + utf8::shortened(inside, 80) + "}}: '" +
                                                 std::string(name) +
                                                 "' is not one of the declared inputs");
    }
    return static_cast<std::int32_t>(found - declared_->begin());
}

result<void> prompt_template::compiler::read_path(placeholder& created) {
    for (;;) {
        if (at_ - open_ > max_placeholder_length) return not_closed();
        if (next_is("}}")) return {};
        if (at_ == text_.size()) return not_closed();
        if (created.path.size() == max_path_length) return wrong("goes too deep");
        step next;
        if (text_[at_] == '.') {
            ++at_;
            next.field = read_name();
            if (next.field.empty()) return wrong("has no field after the point");
        } else if (text_[at_] == '[') {
            const char* const end = text_.data() + text_.size();
            const auto read = std::from_chars(text_.data() + at_ + 1, end, next.index);
            if (read.ec != std::errc() || read.ptr == end || *read.ptr != ']') {
                return wrong("has no whole number between its brackets");
            }
            at_ = static_cast<std::size_t>(read.ptr - text_.data()) + 1;
            next.by_index = true;
        } else {
            if (text_[at_] == '}' || text_[at_] == '\n') return not_closed();
            return wrong("cannot be read");
        }
        created.path.push_back(std::move(next));
    }
}

result<void> prompt_template::compiler::read_value(prompt_argument& argument) {
    skip_blanks();
    const char c = at_ < text_.size() ? text_[at_] : ')';
    if (c == '"' || c == '\'') {
        const std::size_t from = ++at_;
        while (at_ < text_.size() && text_[at_] != c) at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size()) return wrong("has a string that is not closed");
        argument.json = quoted_json(text_.substr(from, at_ - from));
        ++at_;
        return {};
    }
    if (take("{{")) {
        skip_blanks();
        argument.input = read_name();
        if (argument.input.empty() || !take("}}"))
            return wrong("has an argument that is no {{name}}");
        return {};
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && !ascii::is_blank(text_[at_]) && text_[at_] != ',' &&
           text_[at_] != ')' && text_[at_] != '=' && text_[at_] != '{' && text_[at_] != '}') {
        ++at_;
    }
    const std::string_view word = text_.substr(from, at_ - from);
    if (word.empty()) return wrong("has an empty argument");
    if (word == "true" || word == "false" || word == "null") {
        argument.json = word;
        return {};
    }
    if (ascii::is_digit(c) || c == '-' || c == '.') {
        const auto number = parse_number<double>(word);
        if (!number || !std::isfinite(*number) || word.front() == '.' || word.back() == '.') {
            return wrong("has an argument that is not a number");
        }
        argument.json = word;
        return {};
    }
    if (std::any_of(word.begin(), word.end(), ends_name)) {
        return wrong("has an argument that is neither a literal nor the name of an input");
    }
    argument.input = word;
    return {};
}

result<void> prompt_template::compiler::read_argument(prompt_call& call) {
    prompt_argument argument;
    HEDDLE_CHECK(read_value(argument));
    if (next_is("=")) {
        if (argument.input.empty()) return wrong("has an argument whose name is not an identifier");
        ++at_;
        argument.name = std::move(argument.input);
        argument.input.clear();
        HEDDLE_CHECK(read_value(argument));
        for (const prompt_argument& other : call.arguments) {
            if (other.name == argument.name) return wrong("has an argument twice");
        }
    } else if (!call.arguments.empty() && !call.arguments.back().name.empty()) {
        return wrong("has a position after a named argument");
    }
    call.arguments.push_back(std::move(argument));
    return {};
}

result<void> prompt_template::compiler::read_call(std::string_view name) {
    prompt_call call;
    call.task = name;
    if (prompt_.calls_.size() == max_calls) return wrong("is one call too many");
    if (!take(")")) {
        for (;;) {
            if (call.arguments.size() == max_arguments) return wrong("has too many arguments");
            HEDDLE_CHECK(read_argument(call));
            if (take(")")) break;
            if (!take(",")) return wrong("has arguments that are not separated by commas");
        }
    }
    if (!next_is("}}") || at_ - open_ > max_call_length) return not_closed();
    call.text = text_.substr(open_ + 2, at_ - open_ - 2);
    for (prompt_argument& each : call.arguments) {
        if (each.input.empty()) continue;
        HEDDLE_TRY(each.input_index, declared_index(call.text, each.input));
        note_name(each.input);
    }
    prompt_.parts_.emplace_back(call_place{static_cast<std::uint32_t>(prompt_.calls_.size())});
    prompt_.calls_.push_back(std::move(call));
    return {};
}

result<void> prompt_template::compiler::read_braces() {
    at_ = open_ + 2;
    skip_blanks();
    const std::string_view name = read_name();
    if (name.empty()) return wrong("names no input");
    if (take("(")) {
        HEDDLE_CHECK(read_call(name));
    } else {
        placeholder wanted;
        wanted.name = name;
        HEDDLE_CHECK(read_path(wanted));
        std::string_view inside = text_.substr(open_ + 2, at_ - open_ - 2);
        while (ascii::is_blank(inside.front())) inside.remove_prefix(1);
        while (ascii::is_blank(inside.back())) inside.remove_suffix(1);
        wanted.text = inside;
        HEDDLE_TRY(wanted.index, declared_index(wanted.text, wanted.name));
        note_name(wanted.name);
        prompt_.parts_.emplace_back(std::move(wanted));
    }
    at_ += 2;
    return {};
}

result<prompt_template> prompt_template::compiler::compile() {
    while (at_ < text_.size()) {
        open_ = text_.find("{{", at_);
        if (open_ == std::string_view::npos) break;
        if (open_ > at_ && text_[open_ - 1] == '\\') {
            literal_.append(text_, at_, open_ - 1 - at_);
            literal_ += "{{";
            at_ = open_ + 2;
            continue;
        }
        literal_.append(text_, at_, open_ - at_);
        end_literal();
        HEDDLE_CHECK(read_braces());
    }
    literal_.append(text_, at_);
    end_literal();
    return std::move(prompt_);
}

result<prompt_template> prompt_template::compile(std::string_view text,
                                                 const std::vector<std::string>* declared) {
    return compiler(text, declared).compile();
}

} // namespace heddle::tasks
