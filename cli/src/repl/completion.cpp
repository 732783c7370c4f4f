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

completion complete_word(const lang::realm& world, std::span<const std::string_view> commands,
                         std::string_view before_cursor) {
    const std::size_t stop = before_cursor.find_last_of("()[]\"'`,; \t");
    const std::size_t begin = stop == std::string_view::npos ? 0 : stop + 1;
    const std::string_view word = before_cursor.substr(begin);
    completion made;
    made.word_bytes = word.size();
    if (word.empty() || inside_string(before_cursor)) return made;
    std::vector<std::string> names;
    if (word.front() == ':' && before_cursor.find_first_not_of(" \t") == begin)
        names.assign(commands.begin(), commands.end());
    else world.collect_names(names);
    for (std::string& name : names) {
        if (name.starts_with(word)) made.candidates.push_back(std::move(name));
    }
    std::sort(made.candidates.begin(), made.candidates.end());
    made.candidates.erase(std::unique(made.candidates.begin(), made.candidates.end()),
                          made.candidates.end());
    return made;
}

} // namespace heddle::cli
