#include "repl/completion.hpp"

#include <heddle/lang/help.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::string_view word_ends = "()[]\"'`,; \t\n";
constexpr std::string_view load_command = ":load ";

bool inside_string(std::string_view text) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (inside && text[i] == '\\') ++i;
        else if (text[i] == '"') inside = !inside;
        else if (!inside && text[i] == ';') return false;
    }
    return inside;
}

/// The words that the lists which are open at the end of `text` begin with, the innermost last;
/// empty for a list that has none yet.
std::vector<std::string_view> open_heads(std::string_view text) {
    std::vector<std::string_view> heads;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
            ++at;
        } else if (c == ';') {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '(' || c == '[') {
            const std::size_t end = std::min(text.find_first_of(word_ends, ++at), text.size());
            heads.push_back(text.substr(at, end - at));
        } else {
            if ((c == ')' || c == ']') && !heads.empty()) heads.pop_back();
            ++at;
        }
    }
    return heads;
}

/// Files whose path begins with `typed`; directories end in a slash.
std::vector<std::string> paths_like(std::string_view typed) {
    namespace fs = std::filesystem;
    constexpr std::size_t max_candidates = 1000;
    const std::size_t slash = typed.rfind('/');
    const std::string folder(slash == typed.npos ? "" : typed.substr(0, slash + 1));
    const std::string_view name = typed.substr(folder.size());
    std::vector<std::string> found;
    std::error_code failed;
    fs::directory_iterator each(folder.empty() ? "." : folder, failed);
    for (; !failed && each != fs::directory_iterator() && found.size() < max_candidates;
         each.increment(failed)) {
        const std::string file = each->path().filename().string();
        const bool hidden = file.starts_with('.') && !name.starts_with('.');
        if (hidden || !file.starts_with(name)) continue;
        std::error_code unknown;
        found.push_back(folder + file + (each->is_directory(unknown) ? "/" : ""));
    }
    return found;
}

completion sorted(completion found) {
    std::vector<std::string>& names = found.candidates;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return found;
}

/// What may stand at `begin`, behind `text`.
std::vector<std::string> names_behind(lang::realm& realm, std::string_view text) {
    const std::vector<std::string_view> heads = open_heads(text);
    if (!heads.empty() && heads.back() == "import") return lang::library_modules();
    std::vector<std::string> names;
    if (text.ends_with('(') && heads.size() > 1) {
        const auto task = realm.host().find_operator(realm.memory(), heads[heads.size() - 2]);
        if (task) names = task->inputs;
    }
    realm.collect_names(names);
    return names;
}

} // namespace

completion complete_word(lang::realm& realm, std::span<const std::string_view> commands,
                         std::string_view before_cursor) {
    completion result;
    if (before_cursor.starts_with(load_command)) {
        const std::string_view path = before_cursor.substr(load_command.size());
        result.word_bytes = path.size();
        result.candidates = paths_like(path);
        return sorted(std::move(result));
    }
    const std::size_t stop = before_cursor.find_last_of(word_ends);
    const std::size_t begin = stop == std::string_view::npos ? 0 : stop + 1;
    const std::string_view word = before_cursor.substr(begin);
    result.word_bytes = word.size();
    if (word.empty() || inside_string(before_cursor)) return result;
    std::vector<std::string> names;
    if (word.front() == ':' && before_cursor.find_first_not_of(" \t") == begin)
        names.assign(commands.begin(), commands.end());
    else names = names_behind(realm, before_cursor.substr(0, begin));
    for (std::string& name : names) {
        if (name.starts_with(word)) result.candidates.push_back(std::move(name));
    }
    return sorted(std::move(result));
}

} // namespace heddle::cli
