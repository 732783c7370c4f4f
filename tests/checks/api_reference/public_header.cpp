#include "public_header.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace heddle::checks {

namespace {

[[nodiscard]] std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

/// A declaration without its `template <…>`.
[[nodiscard]] std::string_view behind_template(std::string_view code) {
    if (!code.starts_with("template <")) return code;
    int depth = 0;
    for (std::size_t at = code.find('<'); at < code.size(); ++at) {
        if (code[at] == '<') ++depth;
        if (code[at] == '>' && --depth == 0) return trimmed(code.substr(at + 1));
    }
    return code;
}

/// "struct", "class", "enum", or nothing.
[[nodiscard]] std::string_view type_word(std::string_view code) {
    code = behind_template(code);
    for (const std::string_view word : {"struct", "class", "enum"})
        if (code.starts_with(word) && code.size() > word.size() && code[word.size()] == ' ')
            return word;
    return {};
}

[[nodiscard]] std::string type_name(std::string_view code, std::string_view word) {
    code = trimmed(behind_template(code).substr(word.size()));
    if (code.starts_with("class ")) code = trimmed(code.substr(6)); // enum class
    const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    return {code.begin(), std::find_if_not(code.begin(), code.end(), is_part)};
}

/// Lines of code without the indentation that all but the first have in common.
[[nodiscard]] std::string dedented(std::string_view code, std::size_t indent) {
    std::string out;
    while (!code.empty()) {
        const std::size_t end = std::min(code.find('\n'), code.size());
        std::string_view line = code.substr(0, end);
        if (!out.empty()) {
            out += '\n';
            line.remove_prefix(std::min({indent, line.find_first_not_of(' '), line.size()}));
        }
        out += line;
        code.remove_prefix(std::min(end + 1, code.size()));
    }
    return out;
}

class header_reader {
public:
    explicit header_reader(std::string_view text) : text_(text) {}

    std::string purpose() {
        std::string out;
        while (rest().starts_with("//")) {
            if (!out.empty()) out += '\n';
            out += trimmed(line().substr(2));
        }
        return out;
    }

    std::vector<declaration> scope(bool is_class_scope) {
        std::vector<declaration> out;
        bool is_visible = true;
        std::string documentation;
        for (skip_space(); !rest().empty() && !rest().starts_with("}"); skip_space()) {
            if (rest().starts_with("///")) {
                append_line(documentation, comment_text(line()));
            } else if (rest().starts_with("//")) {
                std::string note;
                while (rest().starts_with("//") && !rest().starts_with("///")) {
                    append_line(note, comment_text(line()));
                    skip_blanks();
                }
                if (is_visible && !note.starts_with(" namespace"))
                    out.push_back({declaration::kind::note, {}, {}, std::move(note), {}});
            } else if (rest().starts_with("#")) {
                while (line().ends_with('\\')) {}
            } else if (const bool shows = rest().starts_with("public:");
                       shows || rest().starts_with("private:") ||
                       rest().starts_with("protected:")) {
                is_visible = shows;
                at_ = text_.find(':', at_) + 1;
            } else if (rest().starts_with("namespace ")) {
                const std::string_view head = rest().substr(0, rest().find('{'));
                at_ += head.size() + 1;
                std::vector<declaration> inner = scope(false);
                close();
                if (trimmed(head) == "namespace HEDDLE_PUBLIC heddle")
                    std::move(inner.begin(), inner.end(), std::back_inserter(out));
                documentation.clear();
            } else {
                declaration read = one(std::exchange(documentation, {}));
                if (is_visible && is_wanted(read, is_class_scope)) out.push_back(std::move(read));
            }
        }
        return out;
    }

private:
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    void skip_blanks() { // and at most one line end
        const std::size_t line_start = text_.find_first_not_of(" ", at_);
        if (line_start != std::string_view::npos && text_.substr(line_start).starts_with("//"))
            at_ = line_start;
    }
    std::string_view line() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view out = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        return out;
    }
    [[nodiscard]] static std::string_view comment_text(std::string_view comment) {
        comment.remove_prefix(std::min(comment.find_first_not_of('/'), comment.size()));
        if (comment.starts_with('<')) comment.remove_prefix(1);
        if (comment.starts_with(' ')) comment.remove_prefix(1);
        return comment;
    }
    static void append_line(std::string& to, std::string_view text) {
        if (!to.empty()) to += '\n';
        to += text;
    }

    /// Past a block whose `{` has been read, with everything in it.
    void skip_block() {
        for (int depth = 1; depth > 0 && at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (rest().starts_with("//")) at_ = std::min(text_.find('\n', at_), text_.size() - 1);
            if (c == '"' || c == '\'') {
                for (++at_; at_ < text_.size() && text_[at_] != c; ++at_)
                    if (text_[at_] == '\\') ++at_;
            }
            if (c == '{') ++depth;
            if (c == '}') --depth;
        }
    }
    void close() { // `}` or `};`
        if (rest().starts_with("}")) ++at_;
        if (rest().starts_with(";")) ++at_;
        if (rest().starts_with(" //")) line();
    }

    /// What is written behind a declaration, `///< …`, on its line and those that go on with it.
    std::string trailing() {
        std::string out;
        for (;;) {
            const std::size_t next = text_.find_first_not_of(" ", at_);
            if (next == std::string_view::npos || !text_.substr(next).starts_with("///<")) {
                if (out.empty()) return out;
                const std::size_t word = text_.find_first_not_of(" \n", at_);
                if (word == std::string_view::npos || !text_.substr(word).starts_with("///<"))
                    return out;
                at_ = word;
            } else {
                at_ = next;
            }
            append_line(out, comment_text(line()));
        }
    }

    declaration one(std::string documentation) {
        const std::size_t begin = at_;
        const std::size_t line_begin = text_.rfind('\n', begin) + 1;
        const std::size_t indent = begin - line_begin;
        declaration out;
        out.documentation = std::move(documentation);
        int depth = 0; // of parentheses and brackets
        std::size_t code_end = std::string_view::npos;
        std::size_t initialisers = std::string_view::npos; // of a constructor
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (rest().starts_with("//")) {
                at_ = std::min(text_.find('\n', at_), text_.size() - 1);
                continue;
            }
            if (c == '(' || c == '[') ++depth;
            if (c == ')' || c == ']') --depth;
            if (depth != 0) continue;
            if (c == ':' && text_[at_ + 1] == ' ' &&
                text_.substr(begin, at_ - begin).find(')') != std::string_view::npos)
                initialisers = std::min(initialisers, at_);
            if (c == ';') {
                code_end = at_++;
                break;
            }
            if (c != '{') continue;
            const std::string_view head = trimmed(text_.substr(begin, at_ - begin));
            const std::string_view word = type_word(head);
            if (!word.empty()) {
                out.name = type_name(head, word);
                out.code = dedented(head, indent);
                ++at_;
                if (word == "enum") {
                    const std::size_t from = begin;
                    skip_block();
                    out.what = declaration::kind::enumeration;
                    out.code = dedented(text_.substr(from, at_ - from), indent) + ";";
                } else {
                    out.what = declaration::kind::type;
                    out.members = scope(true);
                    ++at_; // }
                }
                if (rest().starts_with(";")) ++at_;
                return out;
            }
            const std::size_t block = at_++;
            skip_block();
            if (rest().starts_with(";") || rest().starts_with(",") || rest().starts_with(")") ||
                rest().starts_with("{") || rest().starts_with(" {")) {
                --at_; // an initialiser: `std::string tag{};`, `member_{a}`
                continue;
            }
            code_end = block;
            break;
        }
        code_end = std::min({code_end, initialisers, text_.size()});
        out.code = dedented(trimmed(text_.substr(begin, code_end - begin)), indent) + ";";
        const bool is_function =
            out.code.find('(') < out.code.find(" = ") && !out.code.starts_with("std::function<");
        out.what = is_function || out.code.starts_with("template <") ? declaration::kind::function
                                                                     : declaration::kind::object;
        const std::string behind = trailing();
        if (!behind.empty()) append_line(out.documentation, behind);
        return out;
    }

    [[nodiscard]] static bool is_wanted(const declaration& read, bool is_member) {
        const std::string& code = read.code;
        const auto has = [&](std::string_view part) {
            return code.find(part) != std::string::npos;
        };
        if (has("embed::") || has("detail::pending_call") || has("template <>")) return false;
        if (has("static_assert") || has("~") || has("operator=(")) return false;
        if (has("= delete") || has("friend ")) return false;
        if (read.what != declaration::kind::type && has("= default") && read.documentation.empty())
            return false;
        if (code.starts_with("inline ") && has("::") && read.documentation.empty()) return false;
        // A class that is only announced.
        if (read.what == declaration::kind::object && !type_word(code).empty())
            return !read.documentation.empty();
        return is_member || !code.empty();
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

public_header read_public_header(std::string path, std::string_view text) {
    header_reader reader(text);
    public_header out;
    out.path = std::move(path);
    out.purpose = reader.purpose();
    out.declarations = reader.scope(false);
    return out;
}

} // namespace heddle::checks
