#include "language_file.hpp"

#include "lang/compile/special_form.hpp"

#include <heddle/base/source.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::language_test {

namespace {

constexpr std::string_view value_marker = ";=>";
constexpr std::string_view error_marker = ";!!";

[[nodiscard]] std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

[[nodiscard]] bool is_expectation(std::string_view line) {
    return line.starts_with(value_marker) || line.starts_with(error_marker);
}

/// A comment is "; text" or ";; text": what follows the semicolons at once is meant as a marker.
[[nodiscard]] bool is_unknown_marker(std::string_view line) {
    const auto after = line.find_first_not_of(';');
    return line.starts_with(';') && !is_expectation(line) && after != std::string_view::npos &&
           line[after] != ' ';
}

/// True for forms that are written for what they define: their value need not be shown.
[[nodiscard]] bool defines(const lang::value& form) {
    if (!form.is(lang::kind::list) || form.length() == 0) return false;
    const lang::value& head = lang::list_items(form)[0];
    if (!head.is(lang::kind::symbol)) return false;
    const std::string_view name = lang::symbol_name(head);
    const lang::special_form* found = lang::find_special_form(name);
    return name == "import" || (found && found->binds != lang::binding::nothing);
}

class file_reader {
public:
    file_reader(std::string_view text, std::uint32_t position) : text_(text), position_(position) {}

    language_file read(lang::heap& memory) {
        auto forms = lang::read_all(memory, text_, position_);
        if (!forms) {
            const source_span span = forms.error().info().span;
            refuse(span.known() ? span.begin - position_ : 0, forms.error().message());
            return std::move(file_);
        }
        if (!text_.starts_with("; ")) refuse(0, "the first line must say what the file shows: ; …");
        if (forms->empty()) refuse(0, "there is no expression");
        std::size_t done = 0;
        for (lang::datum& form : *forms) {
            const std::size_t begin = form.span.begin - position_;
            between(done, begin);
            done = form.span.end - position_;
            within(begin, done);
            example& added = file_.examples.emplace_back();
            added.line = line_of(begin);
            added.text = text_.substr(begin, done - begin);
            added.form = std::move(form);
        }
        between(done, text_.size());
        std::stable_sort(file_.mistakes.begin(), file_.mistakes.end(),
                         [](const mistake& a, const mistake& b) { return a.line < b.line; });
        return std::move(file_);
    }

private:
    [[nodiscard]] std::size_t line_of(std::size_t offset) const {
        return 1 + static_cast<std::size_t>(
                       std::count(text_.begin(), text_.begin() + static_cast<long>(offset), '\n'));
    }

    void refuse(std::size_t offset, std::string what) {
        file_.mistakes.push_back({line_of(offset), std::move(what)});
    }

    /// Comments between two expressions: the line after the first one marks what it is.
    void between(std::size_t begin, std::size_t end) {
        const bool after_one = !file_.examples.empty();
        bool expected = false;
        std::size_t number = 0;
        for (std::size_t at = begin; at < end; ++number) {
            const std::size_t stop = std::min(text_.find('\n', at), end);
            const std::string_view line = trimmed(text_.substr(at, stop - at));
            const bool begins_line = number != 0 || begin == 0;
            if (!begins_line && line.find(value_marker) != std::string_view::npos) {
                refuse(at, "an expectation must be on its own line");
            } else if (begins_line && is_unknown_marker(line)) {
                refuse(at, "unknown marker: " + std::string(line));
            } else if (begins_line && is_expectation(line)) {
                if (after_one && number == 1) expected = expect(file_.examples.back(), line, at);
                else refuse(at, "an expectation must be on the line after its expression");
            }
            at = stop + 1;
        }
        if (after_one && !expected && !defines(file_.examples.back().form.content)) {
            const std::size_t line = file_.examples.back().line;
            file_.mistakes.push_back({line, "the expression has no expectation"});
        }
    }

    /// A marker inside an expression is not read, so it must not look as if it were.
    void within(std::size_t begin, std::size_t end) {
        for (std::size_t at = text_.find('\n', begin); at < end; at = text_.find('\n', at + 1)) {
            const std::string_view line = trimmed(text_.substr(at + 1, end - at - 1));
            if (is_expectation(line)) refuse(at + 1, "an expectation inside an expression");
        }
    }

    /// Always true: whatever is wrong with it, it is an expectation.
    bool expect(example& of, std::string_view line, std::size_t at) {
        const std::string_view rest = trimmed(line.substr(value_marker.size()));
        of.expected_line = line_of(at);
        if (line.starts_with(value_marker)) {
            of.expects = example::outcome::value;
            of.expected = rest;
            if (rest.empty()) refuse(at, "the value is missing");
            return true;
        }
        of.expects = example::outcome::failure;
        const auto colon = rest.find(": ");
        if (colon == std::string_view::npos) {
            refuse(at, "expected ;!! Kind: part of the message");
            return true;
        }
        of.kind = rest.substr(0, colon);
        of.expected = trimmed(rest.substr(colon + 2));
        return true;
    }

    std::string_view text_;
    std::uint32_t position_;
    language_file file_;
};

} // namespace

language_file read_language_file(lang::heap& memory, std::string_view text,
                                 std::uint32_t position) {
    return file_reader(text, position).read(memory);
}

} // namespace heddle::language_test
