// Arguments and variables as execve() takes them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// The texts, which must outlive the result, with a null at the end.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> items;
    for (std::string& text : texts) items.push_back(text.data());
    items.push_back(nullptr);
    return items;
}

/// Appends "NAME=text" for each variable.
inline void append_variables(std::vector<std::string>& out,
                             const std::map<std::string, std::string>& variables) {
    for (const auto& [name, text] : variables) out.push_back(name + '=' + text);
}

} // namespace heddle::cli_test
