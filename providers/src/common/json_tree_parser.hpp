// Makes the tree of a JSON text, on the parser of Boost.JSON.
#pragma once

#include "common/json_tree.hpp"

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace heddle::providers {

/// How deep the JSON of a service may be.
inline constexpr std::size_t max_json_depth = 64;

/// Makes one tree at a time, in memory that it keeps: a tree that does not fit takes more, which
/// the next one frees. Threads: as any value.
class json_tree_parser {
public:
    /// What becomes of bytes that are not UTF-8.
    enum class wrong_bytes { refused, kept };

    /// `max_depth`: of arrays and objects within each other.
    explicit json_tree_parser(std::size_t max_depth);
    json_tree_parser(const json_tree_parser&) = delete;
    json_tree_parser& operator=(const json_tree_parser&) = delete;
    ~json_tree_parser();

    /// The tree of `text`, valid until the next call and for as long as `text` is: strings without
    /// escapes are views into it. `failed` receives what is wrong with the text; then the result is
    /// null. Throws std::bad_alloc when there is no memory.
    [[nodiscard]] json_tree::value parse(std::string_view text, wrong_bytes bytes,
                                         boost::system::error_code& failed);
    /// Whether the last tree failed because it takes far more memory than its text has bytes.
    [[nodiscard]] bool is_too_big() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace heddle::providers
