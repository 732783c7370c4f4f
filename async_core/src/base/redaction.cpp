#include <heddle/base/redaction.hpp>

#include <algorithm>

namespace heddle {

redactor::redactor(std::vector<secret> secrets, std::string_view mark, std::size_t min_length)
    : secrets_(std::move(secrets)), mark_(mark) {
    const std::size_t least = std::max<std::size_t>(min_length, 1);
    std::erase_if(secrets_, [least](const secret& each) { return each.reveal().size() < least; });
    std::stable_sort(secrets_.begin(), secrets_.end(), [](const secret& one, const secret& other) {
        return one.reveal().size() > other.reveal().size();
    });
}

bool redactor::hide(std::string& text) const {
    bool found = false;
    for (const secret& each : secrets_) {
        const std::string_view value = each.reveal();
        std::size_t at = text.find(value);
        if (at == std::string::npos) continue;
        // Built anew: replacing in place would move the rest for every hit.
        found = true;
        std::string made;
        std::size_t done = 0;
        for (; at != std::string::npos; at = text.find(value, done)) {
            made.append(text, done, at - done).append(mark_);
            done = at + value.size();
        }
        made.append(text, done);
        text = std::move(made);
    }
    return found;
}

std::string redactor::hidden(std::string_view text) const {
    std::string made(text);
    hide(made);
    return made;
}

} // namespace heddle
