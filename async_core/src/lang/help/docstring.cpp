#include <heddle/lang/help.hpp>

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool begins_example(std::string_view line) {
    return !line.empty() && (line.front() == '(' || line.front() == '\'' || line.front() == '`');
}

/// How many more brackets a line opens than it closes, outside of strings.
int open_brackets(std::string_view line) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') ++i;
        else if (line[i] == '"') in_string = !in_string;
        else if (!in_string && line[i] == '(') ++depth;
        else if (!in_string && line[i] == ')') --depth;
    }
    return depth;
}

/// The lines from `from` on as examples; nothing when they are something else.
std::optional<std::vector<std::string>> examples_from(const std::vector<std::string_view>& lines,
                                                      std::size_t from) {
    std::vector<std::string> strings;
    std::string under_way;
    int depth = 0;
    for (std::size_t i = from; i < lines.size(); ++i) {
        const std::string_view line = ascii::trim(lines[i]);
        if (under_way.empty() && !begins_example(line)) {
            if (line.empty()) continue;
            return std::nullopt;
        }
        if (line.empty()) return std::nullopt;
        if (!under_way.empty()) under_way += '\n';
        under_way += line;
        depth += open_brackets(line);
        if (line.find(" => ") == std::string_view::npos) {
            if (depth <= 0) return std::nullopt; // prose in brackets
            continue;
        }
        strings.push_back(std::exchange(under_way, {}));
        depth = 0;
    }
    if (!under_way.empty()) return std::nullopt;
    return strings;
}

/// Where the first sentence ends: after a full stop, question or exclamation mark before a blank
/// or the end; or with the paragraph.
std::size_t end_of_sentence(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') return i;
        const bool mark = text[i] == '.' || text[i] == '?' || text[i] == '!';
        const bool last = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n';
        // A name such as any? may end in a mark; the next sentence begins with no small letter.
        const bool goes_on =
            i + 2 < text.size() && text[i + 1] == ' ' && text[i + 2] >= 'a' && text[i + 2] <= 'z';
        if (mark && last && !goes_on) return i + 1;
    }
    return text.size();
}

/// Lines of a paragraph in one line, paragraphs with an empty line between.
std::string flowed(const std::vector<std::string_view>& lines, std::size_t end) {
    std::string text;
    bool gap = false;
    for (std::size_t i = 0; i < end; ++i) {
        const std::string_view line = ascii::trim(lines[i]);
        if (line.empty()) {
            gap = !text.empty();
            continue;
        }
        if (gap) text += "\n\n";
        else if (!text.empty()) text += ' ';
        gap = false;
        text += line;
    }
    return text;
}

} // namespace

docstring parse_docstring(std::string_view text) {
    const std::vector<std::string_view> lines = lines_of(text);
    docstring result;
    std::size_t end = lines.size();
    constexpr std::size_t max_tries =
        50; // a docstring may be the work of a model, and each try reads on
    for (std::size_t i = 0, tries = 0; i < lines.size() && tries < max_tries; ++i) {
        if (!begins_example(ascii::trim(lines[i]))) continue;
        ++tries;
        auto examples = examples_from(lines, i);
        if (!examples) continue;
        result.examples = *std::move(examples);
        end = i;
        break;
    }
    const std::string prose = flowed(lines, end);
    const std::size_t sentence = end_of_sentence(prose);
    result.summary = prose.substr(0, sentence);
    const std::size_t rest = prose.find_first_not_of(" \n", sentence);
    if (rest != std::string::npos) result.details = prose.substr(rest);
    return result;
}

std::vector<std::string> split_examples(std::string_view text) {
    std::vector<std::string> strings;
    std::string under_way;
    for (const std::string_view line : lines_of(text)) {
        if (line.empty()) continue;
        if (!under_way.empty()) under_way += '\n';
        under_way += line;
        if (line.find(" => ") != std::string_view::npos)
            strings.push_back(std::exchange(under_way, {}));
    }
    if (!under_way.empty()) strings.push_back(std::move(under_way));
    return strings;
}

} // namespace heddle::lang
