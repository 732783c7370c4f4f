// The API for C++ programs: the headers that embed/public_headers.txt lists are installed, and no
// others, so they must be enough and must show nothing internal.
#include "rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

namespace heddle::checks {
namespace {

constexpr std::string_view list_path = "embed/public_headers.txt";
constexpr std::string_view rule = "public-api";

// Namespaces of the layers below embed, whose types the API hides.
constexpr std::array<std::string_view, 11> internal_namespaces{
    "lang",  "coro", "ports",     "memory",   "host", "tasks",
    "setup", "io",   "providers", "scripted", "http"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a line of code names a namespace: `name::`, with nothing of a word before it.
bool names(std::string_view line, std::string_view name) {
    for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
        const bool begins = at == 0 || !is_word(line[at - 1]);
        const std::string_view rest = line.substr(at + name.size());
        if (begins && rest.starts_with("::")) return true;
        if (begins && line.substr(0, at).ends_with("::") && rest.starts_with(" {")) return true;
    }
    return false;
}

class public_api_check {
public:
    public_api_check(const std::vector<source_file>& files, std::vector<finding>& findings)
        : files_(files), findings_(findings) {}

    void run() {
        const auto list = std::find_if(files_.begin(), files_.end(),
                                       [](const auto& file) { return file.path == list_path; });
        if (list == files_.end()) return;
        read(*list);
        for (const source_file& file : files_) {
            constexpr std::string_view door = "embed/include/";
            if (!file.is_header() || !file.path.starts_with(door)) continue;
            if (!headers_.contains(file.path.substr(door.size())))
                add(file, 1, "a header of embed that is not installed",
                    "list it in " + std::string(list_path) + ", or move it to embed/src");
        }
        for (const auto& [name, file] : headers_) {
            if (file != nullptr) check(*file);
        }
    }

private:
    void add(const source_file& file, int line, std::string what, std::string how) {
        findings_.push_back({file.path, line, std::string(rule), std::move(what), std::move(how)});
    }

    void read(const source_file& list) {
        int number = 0;
        for (std::string_view line : split_lines(list.text)) {
            ++number;
            const std::string name(line.substr(0, line.find_first_of(" #")));
            if (name.empty()) continue;
            const auto file = std::find_if(files_.begin(), files_.end(), [&](const auto& each) {
                return each.path == "embed/include/" + name ||
                       each.path == "async_core/include/" + name;
            });
            if (file == files_.end()) {
                add(list, number, name + " does not exist in embed or async_core",
                    "remove it from the list");
            }
            headers_[name] = file == files_.end() ? nullptr : &*file;
        }
    }

    void check(const source_file& file) {
        for (const include_line& include : file.includes) {
            const bool ours = include.quoted || include.path.starts_with("heddle/");
            if (ours && !headers_.contains(include.path)) {
                add(file, include.line, "#include of " + include.path + ": it is not installed",
                    "include it in a .cpp and hide the type, or list it in " +
                        std::string(list_path));
            }
        }
        int number = 0;
        for (std::string_view line : split_lines(file.code)) {
            ++number;
            for (const std::string_view name : internal_namespaces) {
                if (names(line, name))
                    add(file, number, "a name of " + std::string(name) + "::, which is internal",
                        "declare a type of the API and convert in a .cpp");
            }
            if (line.starts_with("namespace heddle {"))
                add(file, number, "what this namespace declares is hidden in libheddle.so",
                    "write namespace HEDDLE_PUBLIC heddle (heddle/base/visibility.hpp)");
        }
    }

    const std::vector<source_file>& files_;
    std::vector<finding>& findings_;
    std::map<std::string, const source_file*, std::less<>> headers_;
};

} // namespace

void check_public_api(const std::vector<source_file>& files, std::vector<finding>& findings) {
    public_api_check(files, findings).run();
}

} // namespace heddle::checks
