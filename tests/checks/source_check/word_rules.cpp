#include "rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace heddle::checks {

namespace {

constexpr std::size_t max_columns = 100;

/// A word of docs/contributing/words.md that is not used, and what is used instead.
struct banned_word {
    std::string_view word;
    std::string_view instead;
};

// Ends of identifiers: `strand` is found in `strand`, `strand_` and `first_strand`.
constexpr std::array banned_last{
    banned_word{"strand", "fiber"},         banned_word{"world", "realm, session or fixture"},
    banned_word{"workshop", "application"}, banned_word{"primitive", "builtin"},
    banned_word{"primitives", "builtins"},  banned_word{"leftovers", "what is left"},
};

// Whole identifiers, and beginnings of longer ones.
constexpr std::array banned_whole{banned_word{"made", "the noun"}};
constexpr std::array banned_first{
    banned_word{"most", "max_"},
    banned_word{"deepest", "max_"},
    banned_word{"swelling", "inflation or expansion"},
    banned_word{"tell", "report_"},
    banned_word{"told", "reported_"},
    banned_word{"tells", "reports_"},
    banned_word{"widest", "max_"},
};

/// A variable, parameter or member of a type that must not have that name.
struct banned_variable {
    std::string_view type;
    std::string_view name;
    std::string_view instead;
};

constexpr std::array banned_variables{
    banned_variable{"session", "owner", "session"},
    banned_variable{"engine", "owner", "engine"},
    banned_variable{"permit", "right", "permit"},
};

constexpr std::array banned_in_prose{
    banned_word{"strand", "fiber"},
    banned_word{"workshop", "application"},
    banned_word{"hears of", "is notified of"},
    banned_word{"hear of", "be notified of"},
    banned_word{"and kin", "and similar"},
    // Of code and data: people tell, say, stand and hear.
    banned_word{"tells", "reports, names or shows"},
    banned_word{"told", "reported or notified"},
    banned_word{"says", "reports, contains or requires"},
    banned_word{"stands", "is"},
    banned_word{"stood", "was"},
    banned_word{"gives", "returns, sets or passes"},
    banned_word{"hears", "receives or is notified of"},
};

/// What begins with a word of `banned_in_prose` and is used all the same.
constexpr std::array<std::string_view, 1> usual_phrases{"gives up"};

/// What follows "is no" in a sentence that denies more than a name.
constexpr std::array<std::string_view, 14> usual_after_no{
    "longer", "more",    "less",    "better", "other", "one",  "such",
    "way",    "further", "shorter", "later",  "time",  "need", "wider"};

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t columns_of(std::string_view line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

void report(const source_file& file, std::size_t line, std::string_view found,
            std::string_view instead, std::vector<finding>& findings) {
    findings.push_back({file.path, static_cast<int>(line + 1), "words",
                        "the word '" + std::string(found) + "'",
                        "use " + std::string(instead) + " (docs/contributing/words.md)"});
}

/// True for a line that names a test: its name is a sentence, and so prose.
bool names_test(std::string_view line) {
    while (line.starts_with(' ')) line.remove_prefix(1);
    for (const std::string_view macro : {"TEST(", "TEST_F(", "TEST_P(", "TYPED_TEST("}) {
        if (line.starts_with(macro)) return true;
    }
    return false;
}

template <class Words>
const banned_word* find_word(const Words& words, std::string_view word) {
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const banned_word& each) { return each.word == word; });
    return found == words.end() ? nullptr : &*found;
}

void check_name(const source_file& file, std::size_t line, std::string_view name,
                std::vector<finding>& findings) {
    auto bare = name;
    while (bare.ends_with('_')) bare.remove_suffix(1); // a member
    const auto first = bare.substr(0, bare.find('_'));
    const auto last = bare.substr(bare.rfind('_') + 1); // all of it where there is none
    const auto* found = find_word(banned_whole, bare);
    if (!found) found = find_word(banned_last, last);
    if (!found && first.size() < bare.size()) found = find_word(banned_first, first);
    if (found) report(file, line, name, found->instead, findings);
}

/// `before`: the code in front of the name, on its line.
void check_variable(const source_file& file, std::size_t line, std::string_view before,
                    std::string_view name, std::vector<finding>& findings) {
    if (name.ends_with('_')) name.remove_suffix(1); // a member
    while (!before.empty() && std::string_view(" *&").find(before.back()) != std::string_view::npos)
        before.remove_suffix(1);
    for (const auto& each : banned_variables) {
        if (name != each.name || !before.ends_with(each.type)) continue;
        before.remove_suffix(each.type.size());
        if (before.empty() || !is_word_byte(before.back()))
            report(file, line, name, each.instead, findings);
        return;
    }
}

void check_test_name(const source_file& file, std::size_t line, std::string_view name,
                     std::vector<finding>& findings) {
    for (std::size_t at = 0; at <= name.size();) {
        const auto end = std::min(name.find('_', at), name.size());
        if (const auto* found = find_word(banned_in_prose, name.substr(at, end - at))) {
            report(file, line, found->word, found->instead, findings);
        }
        at = end + 1;
    }
}

void check_names(const source_file& file, std::vector<finding>& findings) {
    const auto lines = split_lines(file.code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto line = lines[i];
        const bool of_test = names_test(line);
        for (std::size_t at = 0; at < line.size();) {
            if (!is_word_byte(line[at])) {
                ++at;
                continue;
            }
            auto end = at;
            while (end < line.size() && is_word_byte(line[end])) ++end;
            // Asio's strand is another thing.
            const bool of_asio = line.substr(0, at).ends_with("asio::");
            if (!of_asio) check_name(file, i, line.substr(at, end - at), findings);
            check_variable(file, i, line.substr(0, at), line.substr(at, end - at), findings);
            if (of_test) check_test_name(file, i, line.substr(at, end - at), findings);
            at = end;
        }
    }
}

bool same_letter(char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; }

bool begins_usual(std::string_view::iterator at, std::string_view::iterator end) {
    return std::any_of(usual_phrases.begin(), usual_phrases.end(), [&](std::string_view usual) {
        return static_cast<std::size_t>(end - at) >= usual.size() &&
               std::equal(usual.begin(), usual.end(), at,
                          [](char a, char b) { return same_letter(b, a); });
    });
}

bool has_phrase(std::string_view line, std::string_view phrase) {
    for (auto at = line.begin();; ++at) {
        at = std::search(at, line.end(), phrase.begin(), phrase.end(), same_letter);
        if (at == line.end()) return false;
        const auto behind = at + static_cast<long>(phrase.size());
        if ((at == line.begin() || !is_word_byte(at[-1])) &&
            (behind == line.end() || !is_word_byte(*behind)) && !begins_usual(at, line.end())) {
            return true;
        }
    }
}

/// The word that ends before `end`, or that begins at `begin`.
std::string_view word_before(std::string_view line, std::size_t end) {
    while (end != 0 && !is_word_byte(line[end - 1])) --end;
    std::size_t begin = end;
    while (begin != 0 && is_word_byte(line[begin - 1])) --begin;
    return line.substr(begin, end - begin);
}
std::string_view word_at(std::string_view line, std::size_t begin) {
    std::size_t end = begin;
    while (end < line.size() && is_word_byte(line[end])) ++end;
    return line.substr(begin, end - begin);
}

/// "It is no template": people write "it is not a template". "There is no template" is usual.
void check_denials(const source_file& file, std::size_t number, std::string_view line,
                   std::vector<finding>& findings) {
    for (const std::string_view denial : {"is no ", "are no ", "was no ", "were no "}) {
        for (std::size_t at = line.find(denial); at != std::string_view::npos;
             at = line.find(denial, at + 1)) {
            if (at != 0 && is_word_byte(line[at - 1])) continue;
            const std::string_view before = word_before(line, at);
            const std::string_view denied = word_at(line, at + denial.size());
            if (before.empty() || before == "there" || before == "There" || denied.empty())
                continue;
            if (std::find(usual_after_no.begin(), usual_after_no.end(), denied) ==
                usual_after_no.end())
                report(file, number, line.substr(at, denial.size() + denied.size()), "'not a'",
                       findings);
        }
    }
}

/// Comments and literals of a source, and the whole of a page or program.
void check_prose(const source_file& file, std::vector<finding>& findings) {
    const auto lines = split_lines(file.text);
    const auto code = split_lines(file.code);
    std::string prose;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        prose = lines[i];
        if (file.has_code() && i < code.size()) { // what is code is no prose
            for (std::size_t k = 0; k < prose.size() && k < code[i].size(); ++k) {
                if (code[i][k] != ' ') prose[k] = '\x01';
            }
        }
        for (const auto& each : banned_in_prose) {
            if (has_phrase(prose, each.word)) report(file, i, each.word, each.instead, findings);
        }
        check_denials(file, i, prose, findings);
    }
}

std::string_view without_end_blanks(std::string_view line) {
    while (line.ends_with(' ')) line.remove_suffix(1);
    return line;
}

/// Of code and comments: a literal is not broken in mid-phrase.
void check_columns(const source_file& file, std::vector<finding>& findings) {
    const auto code = split_lines(file.code);
    const auto comments = split_lines(file.comments);
    const auto lines = split_lines(file.text);
    for (std::size_t i = 0; i < code.size() && i < comments.size(); ++i) {
        const bool literal = lines[i].find('"') != std::string_view::npos;
        const auto columns = std::max(literal ? 0 : columns_of(without_end_blanks(code[i])),
                                      columns_of(without_end_blanks(comments[i])));
        if (columns <= max_columns) continue;
        findings.push_back(
            {file.path, static_cast<int>(i + 1), "columns",
             std::to_string(columns) + " columns, more than " + std::to_string(max_columns),
             "break the line"});
    }
}

} // namespace

void check_words(const source_file& file, std::vector<finding>& findings) {
    for (const std::string_view list :
         {"tests/checks/source_check/word_rules.cpp", "docs/contributing/words.md"}) {
        if (file.path == list) return; // of these words
    }
    if (file.path == "CHANGELOG.md") return; // what was released keeps its words
    if (file.has_code()) check_names(file, findings);
    if (file.is_cpp()) check_columns(file, findings);
    const bool is_page = file.path.ends_with(".md") || file.path.ends_with(".heddle");
    if (file.has_code() || is_page) check_prose(file, findings);
}

} // namespace heddle::checks
