#include "page.hpp"
#include "rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>

namespace heddle::checks {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::string_view section_sign = "§";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Length of the character of a path, or of a placeholder in one, that begins at `at`; 0: no such.
std::size_t path_character(std::string_view line, std::size_t at) {
    if (is_word(line[at]) || std::string_view("./-*<>").find(line[at]) != std::string_view::npos)
        return 1;
    return line.substr(at).starts_with(ellipsis) ? ellipsis.size() : 0;
}

struct mention {
    std::string_view path;
    std::string_view rest; ///< of the line
    bool linked = false;   ///< the target of a link
};

/// The path in a run of path characters: without brackets and the end of a sentence. Empty for
/// `<other/header.hpp>`, a header of someone else.
std::string_view trimmed(std::string_view word) {
    if (word.starts_with('<') && word.find('>') + 1 >= word.size()) {
        word.remove_prefix(1);
        if (!word.starts_with("heddle/")) return {};
    }
    const bool placeholder = word.find('<') != std::string_view::npos;
    while (word.ends_with('.') || word.ends_with('-') || (word.ends_with('>') && !placeholder)) {
        word.remove_suffix(1);
    }
    return word;
}

/// The words of a line that contain a slash or a point.
std::vector<mention> mentions_in(std::string_view line) {
    std::vector<mention> found;
    for (std::size_t at = 0; at < line.size();) {
        std::size_t end = at;
        while (end < line.size() && path_character(line, end) > 0) end += path_character(line, end);
        const auto path = trimmed(line.substr(at, end - at));
        if (path.find_first_of("./") != std::string_view::npos) {
            const bool linked = line.substr(0, at).ends_with("](");
            found.push_back({path, line.substr(end), linked});
        }
        at = std::max(end, at + 1);
    }
    return found;
}

/// The folder in front of a placeholder such as `<name>`, `*`, `…` or `NAME`; else the whole path.
std::string_view without_placeholder(std::string_view path) {
    auto at = std::min(path.find_first_of("*<"), path.find(ellipsis));
    at = std::min(at, path.find("NAME"));
    if (at == std::string_view::npos) return path;
    const auto slash = path.rfind('/', at);
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

bool names_source(std::string_view path) {
    constexpr std::array<std::string_view, 6> extensions{".hpp", ".cpp",   ".md",
                                                         ".def", ".cmake", ".sh"};
    return path != "llama.cpp" && without_placeholder(path) == path &&
           std::any_of(extensions.begin(), extensions.end(), [&](std::string_view extension) {
               return path.ends_with(extension) && path.size() > extension.size();
           });
}

/// Pages about using heddle name files of their readers, too. These name only files of the project.
bool is_about_the_project(const source_file& file) {
    const std::string_view path = file.path;
    if (!path.ends_with(".md")) return true;
    const bool guide = path.starts_with("docs/") && !path.starts_with("docs/adr/") &&
                       !path.starts_with("docs/contributing/") && !path.starts_with("docs/spec/");
    return path != "CHANGELOG.md" && (!guide || path.ends_with("README.md"));
}

bool is_product(const source_file& file) {
    constexpr std::array<std::string_view, 6> libraries{"async_core", "cli",       "embed",
                                                        "io",         "providers", "setup"};
    return file.is_cpp() &&
           std::find(libraries.begin(), libraries.end(), file.library()) != libraries.end();
}

class reference_check {
public:
    reference_check(const std::vector<source_file>& files, const fs::path& root,
                    std::vector<finding>& findings)
        : root_(root), findings_(findings) {
        for (const auto& file : files) {
            const std::string_view path = file.path;
            if (path.find('/') != std::string_view::npos) folders_.emplace(file.library());
            names_.insert(path);
            for (auto at = path.find('/'); at != std::string_view::npos;
                 at = path.find('/', at + 1))
                names_.insert(path.substr(at + 1));
            if (path.ends_with(".md")) pages_.emplace(path, read_page(file.text));
        }
    }

    void check(const source_file& file) {
        const bool is_page = file.path.ends_with(".md");
        const auto lines = is_page ? split_lines(file.text) : comment_lines(file);
        const auto fenced = is_page ? fenced_lines(lines) : std::vector<bool>(lines.size());
        // Messages and help of the program name pages, too.
        const auto literals = is_product(file) ? split_lines(file.text) : lines;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const int number = static_cast<int>(i + 1);
            for (const auto& each : mentions_in(literals[i])) {
                if (!each.linked) check_path(file, number, each.path);
            }
            for (const auto& each : mentions_in(lines[i])) {
                if (!fenced[i] && !each.linked) check_name(file, number, each.path);
                check_section(file, number, each);
            }
        }
        if (is_page) check_links(file);
        if (is_page && file.path.ends_with("/README.md")) check_folder_list(file);
    }

private:
    void add(const source_file& file, int line, std::string rule, std::string what,
             std::string how) {
        findings_.push_back({file.path, line, std::move(rule), std::move(what), std::move(how)});
    }

    /// True for a file, a folder, and a file without the end of its name: docs/adr/0005,
    /// io/src/net/tls.
    [[nodiscard]] bool exists(const fs::path& path) const {
        const auto full = root_ / path;
        if (fs::exists(full)) return true;
        if (!fs::is_directory(full.parent_path())) return false;
        const auto begin = full.filename().string();
        for (const auto& entry : fs::directory_iterator(full.parent_path())) {
            const auto name = entry.path().filename().string();
            if (name.starts_with(begin + '.') || name.starts_with(begin + '-')) return true;
        }
        return false;
    }

    // `docs/reference/cli.md`: a path from the root of the project.
    void check_path(const source_file& file, int line, std::string_view path) {
        const auto slash = path.find('/');
        if (slash == std::string_view::npos || !folders_.contains(path.substr(0, slash))) return;
        const auto known = without_placeholder(path);
        if (exists(known)) return;
        add(file, line, "dangling-path", std::string(known) + " does not exist",
            "name the file as it is called today, from the root of the project");
    }

    // `heddle/base/utf8.hpp`, `utf8.hpp`: the end of some path.
    void check_name(const source_file& file, int line, std::string_view name) {
        if (!names_source(name) || !is_about_the_project(file)) return;
        const auto slash = name.find('/');
        if (slash == 0 || folders_.contains(name.substr(0, slash))) return; // check_path's
        const auto here = (fs::path(file.path).parent_path() / name).lexically_normal();
        if (names_.contains(name) || names_.contains(here.generic_string())) return;
        add(file, line, "dangling-path", "no file of this name: " + std::string(name),
            "name the file as it is called today");
    }

    [[nodiscard]] const page* find_page(const source_file& file, std::string_view name) const {
        const auto here = (fs::path(file.path).parent_path() / name).lexically_normal();
        for (const auto& path :
             {std::string(name), here.generic_string(), "docs/spec/" + std::string(name)}) {
            const auto at = pages_.find(path);
            if (at != pages_.end()) return &at->second;
        }
        return nullptr;
    }

    // The page, and the sections that are cited behind it: §4, §5 and §6.
    void check_section(const source_file& file, int line, const mention& cited) {
        if (!cited.path.ends_with(".md")) return;
        auto rest = cited.rest;
        const auto skip = [&](std::string_view what) {
            if (rest.starts_with(what)) rest.remove_prefix(what.size());
        };
        skip("`");
        skip(")");
        if (rest.size() > 1 && rest[0] == ' ' && std::isdigit(static_cast<unsigned char>(rest[1])))
            add(file, line, "dangling-section", "a section without the sign", "write §N");
        skip(" ");
        const page* target = find_page(file, cited.path);
        while (rest.starts_with(section_sign)) {
            skip(section_sign);
            const auto end = std::min(rest.find_first_not_of("0123456789."), rest.size());
            auto number = rest.substr(0, end);
            while (number.ends_with('.')) number.remove_suffix(1);
            if (!target || !target->sections.contains(number)) {
                add(file, line, "dangling-section",
                    std::string(cited.path) + " has no section " + std::string(number),
                    "cite a heading of that page that begins with the number");
            }
            rest.remove_prefix(end);
            skip(",");
            skip(" and");
            skip(" ");
        }
    }

    void check_links(const source_file& file) {
        const page& from = pages_.find(file.path)->second;
        for (const auto& link : from.links) {
            const std::string_view target = link.target;
            if (target.find(':') != std::string_view::npos) continue; // https:, mailto:
            const auto hash = target.find('#');
            const auto path = target.substr(0, hash);
            const auto full = path.empty()
                                  ? fs::path(file.path)
                                  : (fs::path(file.path).parent_path() / path).lexically_normal();
            if (!fs::exists(root_ / full)) {
                add(file, link.line, "dangling-link", full.generic_string() + " does not exist",
                    "links are relative to the folder of the page");
            } else if (hash != std::string_view::npos) {
                const auto page_at = pages_.find(full.generic_string());
                if (page_at != pages_.end() &&
                    page_at->second.anchors.contains(target.substr(hash + 1)))
                    continue;
                add(file, link.line, "dangling-link",
                    "no heading " + std::string(target.substr(hash)) + " in " +
                        full.generic_string(),
                    "take the heading in lower case, with hyphens for spaces");
            }
        }
    }

    // The README of a folder names every folder in it, or every folder of its sources.
    void check_folder_list(const source_file& file) {
        auto folder = root_ / fs::path(file.path).parent_path();
        if (fs::is_directory(folder / "src")) folder /= "src";
        std::set<std::string> inside;
        for (const auto& entry : fs::directory_iterator(folder)) {
            const auto name = entry.path().filename().string();
            if (entry.is_directory() && !name.starts_with('.')) inside.insert(name);
        }
        for (const auto& name : inside) {
            if (lists(file.text, name)) continue;
            add(file, 1, "folder-list", "the folder " + name + " is not listed",
                "say in one line what is in " + name + "/");
        }
    }

    static bool lists(std::string_view text, std::string_view name) {
        for (auto at = text.find(name); at != std::string_view::npos;
             at = text.find(name, at + 1)) {
            const auto after = text.substr(at + name.size());
            if (at > 0 && !is_word(text[at - 1]) && text[at - 1] != '-' &&
                (after.starts_with('/') || after.starts_with('`') || after.starts_with(" |")))
                return true;
        }
        return false;
    }

    const fs::path& root_;
    std::vector<finding>& findings_;
    std::set<std::string_view> folders_; ///< of the root
    std::set<std::string_view> names_;   ///< every path, and every end of one that begins a name
    std::map<std::string, page, std::less<>> pages_;
};

} // namespace

void check_references(const std::vector<source_file>& files, const fs::path& root,
                      std::vector<finding>& findings) {
    reference_check check(files, root, findings);
    for (const auto& file : files) check.check(file);
}

} // namespace heddle::checks
