#include "tasks/output/json_pointer.hpp"

#include <heddle/base/hex.hpp>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

void append_pointer_token(std::string& pointer, std::string_view name) {
    pointer += '/';
    for (const char c : name) {
        if (c == '~') pointer += "~0";
        else if (c == '/') pointer += "~1";
        else pointer += c;
    }
}

std::vector<std::string> tokens_of_pointer(std::string_view pointer) {
    std::vector<std::string> strings;
    for (std::size_t at = 0; at < pointer.size();) {
        const std::size_t next = std::min(pointer.find('/', at + 1), pointer.size());
        std::string token;
        for (std::size_t i = at + 1; i < next; ++i) {
            const bool escape = pointer[i] == '~' && i + 1 < next;
            if (!escape) token += pointer[i];
            else token += pointer[++i] == '1' ? '/' : '~';
        }
        strings.push_back(std::move(token));
        at = next;
    }
    return strings;
}

std::optional<std::string> pointer_of_fragment(std::string_view fragment) {
    const auto decoded = percent_decoded(fragment, broken_escape::refused);
    if (!decoded) return std::nullopt;
    std::string pointer;
    for (const std::string& token : tokens_of_pointer(*decoded))
        append_pointer_token(pointer, token);
    return pointer;
}

std::string fragment_of_pointer(std::string_view pointer) {
    std::string fragment;
    for (const char c : pointer) {
        if (c == '%') fragment += "%25";
        else fragment += c;
    }
    return fragment;
}

} // namespace heddle::tasks
