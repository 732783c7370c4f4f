// A public header as its reader sees it: declarations with what is written about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::checks {

/// A declaration of a header, without bodies and private members.
struct declaration {
    enum class kind { type, enumeration, function, object, note };
    kind what = kind::object;
    std::string name;                 ///< of a type: "runtime"
    std::string code;                 ///< as written, without a body; of a note: nothing
    std::string documentation;        ///< its comments, lines kept
    std::vector<declaration> members; ///< of a type, in order
};

struct public_header {
    std::string path;                      ///< "heddle/runtime.hpp"
    std::string purpose;                   ///< the comment that the file begins with
    std::vector<declaration> declarations; ///< of namespace heddle; not those of inner namespaces
};

/// Reads the text of a header. It is written as .clang-format has it, with one namespace heddle and
/// documentation in `///` and `///<`; private members, inner namespaces, specialisations and what
/// names types of inner namespaces are left out.
[[nodiscard]] public_header read_public_header(std::string path, std::string_view text);

} // namespace heddle::checks
