// Rules of scripted models.
#pragma once

#include <string>

namespace heddle::cli_test {

/// The rules of a model that answers every request with `text`, which needs no escapes in JSON.
inline std::string always_answering(const std::string& text) {
    return R"({"rules": [{"match": ".*", "text": ")" + text + R"("}]})";
}

} // namespace heddle::cli_test
