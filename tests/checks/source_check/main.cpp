// heddle_source_check ROOT            holds the sources below ROOT to the rules
// heddle_source_check --samples DIR   tests the rules: exactly the lines of DIR that end in
//                                     `expect: <rule>` must be found
//
// A line that must break a rule is marked on it or on the line before: `heddle-check: allow
// <rule>`, with the reason.
#include "rules.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

namespace {

using namespace heddle::checks;

bool allowed(const source_file& file, const finding& found) {
    const auto mark = "heddle-check: allow " + found.rule;
    return file.line(found.line).find(mark) != std::string_view::npos ||
           file.line(found.line - 1).find(mark) != std::string_view::npos;
}

std::vector<finding> check(const std::vector<source_file>& files,
                           const std::filesystem::path& root) {
    std::vector<finding> findings;
    check_includes(files, findings);
    check_references(files, root, findings);
    check_drawings(files, findings);
    check_public_api(files, findings);
    for (const auto& file : files) {
        check_coroutines(file, findings);
        check_text(file, root, findings);
        check_words(file, findings);
    }
    std::erase_if(findings, [&](const finding& found) {
        const auto file = std::find_if(files.begin(), files.end(),
                                       [&](const auto& each) { return each.path == found.file; });
        return file != files.end() && allowed(*file, found);
    });
    std::sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
        return std::tie(a.file, a.line, a.rule) < std::tie(b.file, b.line, b.rule);
    });
    return findings;
}

int check_tree(const std::filesystem::path& root) {
    auto files = read_tree(root);
    std::erase_if(files,
                  [](const auto& file) { return file.path.starts_with("tests/checks/samples/"); });
    int errors = 0;
    for (const auto& found : check(files, root)) {
        std::printf("%s:%d: %s: %s [%s]\n    %s\n", found.file.c_str(), found.line,
                    found.warning ? "note" : "error", found.what.c_str(), found.rule.c_str(),
                    found.how_to_mend.c_str());
        if (!found.warning) ++errors;
    }
    std::printf("%zu files, %d errors\n", files.size(), errors);
    return errors == 0 ? 0 : 1;
}

using place = std::tuple<std::string, int, std::string>;

int check_samples(const std::filesystem::path& root) {
    const auto files = read_tree(root);
    std::set<place> expected;
    std::set<place> found;
    for (const auto& file : files) {
        const auto lines = split_lines(file.text);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            constexpr std::string_view mark = "expect: ";
            const auto at = lines[i].find(mark);
            if (at == std::string_view::npos) continue;
            expected.emplace(file.path, static_cast<int>(i + 1), lines[i].substr(at + mark.size()));
        }
    }
    for (const auto& each : check(files, root)) found.emplace(each.file, each.line, each.rule);

    int wrong = 0;
    const auto report = [&](const char* what, const std::set<place>& in,
                            const std::set<place>& not_in) {
        for (const auto& each : in) {
            if (not_in.contains(each)) continue;
            const auto& [file, line, rule] = each;
            std::printf("%s:%d: %s [%s]\n", file.c_str(), line, what, rule.c_str());
            ++wrong;
        }
    };
    report("not found", expected, found);
    report("found, but nothing is wrong here", found, expected);
    std::printf("%zu samples, %zu expected findings, %d wrong\n", files.size(), expected.size(),
                wrong);
    return wrong == 0 && !expected.empty() ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
    if (count == 3 && std::strcmp(arguments[1], "--samples") == 0)
        return check_samples(arguments[2]);
    if (count == 2) return check_tree(std::filesystem::canonical(arguments[1]));
    std::fputs("usage: heddle_source_check ROOT | --samples DIR\n", stderr);
    return 2;
}
