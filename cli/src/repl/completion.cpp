#include "repl/completion.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

bool inside_string(std::string_view text) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (inside && text[i] == '\\') ++i;
        else if (text[i] == '"') inside = !inside;
        else if (!inside && text[i] == ';') return false;
    }
    return inside;
}

} // namespace

completion complete_word(const lang::realm& realm, std::span<const std::string_view> commands,
                         std::string_view before_cursor) {
    const std::size_t stop = before_cursor.find_last_of("()[]\"'`,; \t");
    const std::size_t begin = stop == std::string_view::npos ? 0 : stop + 1;
    const std::string_view word = before_cursor.substr(begin);
    completion result;
    result.word_bytes = word.size();
    if (word.empty() || inside_string(before_cursor)) return result;
    std::vector<std::string> names;
    if (word.front() == ':' && before_cursor.find_first_not_of(" \t") == begin)
        names.assign(commands.begin(), commands.end());
    else realm.collect_names(names);
    for (std::string& name : names) {
        if (name.starts_with(word)) result.candidates.push_back(std::move(name));
    }
    std::sort(result.candidates.begin(), result.candidates.end());
    result.candidates.erase(std::unique(result.candidates.begin(), result.candidates.end()),
                            result.candidates.end());
    return result;
}

} // namespace heddle::cli
