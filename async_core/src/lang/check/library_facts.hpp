// What calls of functions that are written in the language can be held to.
#pragma once

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::lang {

/// A function of the prelude or of a library, as its definition shows.
struct library_function {
    std::vector<std::string> parameters; ///< required, optional, rest
    std::size_t required = 0;
    std::size_t optional = 0;
    bool has_rest = false;
    std::map<std::size_t, std::size_t>
        callbacks;                  ///< parameters it calls, and with how many arguments
    std::vector<std::size_t> lists; ///< parameters that must be lists
};

/// Reads the definitions of prelude and libraries: how a function calls its parameters, and which
/// it holds to be lists (%check-list). The texts are the one source of both.
class library_facts {
public:
    explicit library_facts(heap& memory) : memory_(memory) {}

    /// Adds the top-level functions of a text.
    void add(std::string_view text);
    void add_prelude();
    /// Null when there is none of that name.
    [[nodiscard]] const library_function* find(std::string_view name);

private:
    struct definition {
        value whole; ///< (define (name parameter…) body…)
        library_function facts;
        bool read = false;
    };
    class reading;

    heap& memory_;
    std::unordered_map<std::string, definition, name_hash> all_;
    bool has_prelude_ = false;
};

} // namespace heddle::lang
