#include "tasks/output/json_pointer.hpp"

#include <heddle/base/ascii.hpp>

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
    std::string decoded;
    for (std::size_t i = 0; i < fragment.size(); ++i) {
        if (fragment[i] != '%') {
            decoded += fragment[i];
            continue;
        }
        const std::string_view digits = fragment.substr(i + 1, 2);
        const int high = digits.size() == 2 ? ascii::hex_value(digits[0]) : -1;
        const int low = digits.size() == 2 ? ascii::hex_value(digits[1]) : -1;
        if (high < 0 || low < 0) return std::nullopt;
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    std::string pointer;
    for (const std::string& token : tokens_of_pointer(decoded))
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
