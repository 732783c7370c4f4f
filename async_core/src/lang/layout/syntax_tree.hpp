// Source text as a tree that loses nothing but white space: comments, brackets and spellings stay.
#pragma once

#include "lang/compile/form_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::lang::layout {

enum class node_kind : std::uint8_t {
    program,
    list,
    prefix, ///< ' ` , ,@ and what it applies to, with the comments between them
    drop,   ///< #; likewise
    leaf,   ///< a number, a word, a symbol, a string
    line_comment,
    block_comment
};

using node_index = std::uint32_t;
constexpr node_index no_node = 0; // the program, which is nobody's child

struct syntax_node {
    node_kind kind = node_kind::leaf;
    shape form = shape::data;
    std::uint8_t beside_head = 0; ///< parts that `body` places beside the head
    std::uint8_t newlines = 0;    ///< before it in the source: 0, 1, or 2 for more
    bool quoted = false;          ///< data, as far as one can see
    bool fits_line = false;       ///< may be written in one line
    bool open_ended = false;      ///< in one line, but for a string of several lines at its end
    std::uint32_t begin = 0;      ///< bytes of the token, for lists of the opening bracket
    std::uint32_t end = 0;
    std::uint32_t close = 0; ///< lists: of the closing bracket
    std::uint32_t width = 0; ///< in one line; open-ended: of the first line
    std::uint32_t need = 0;  ///< columns that its widest piece takes when everything is broken
    node_index first_child = no_node;
    node_index next = no_node;

    [[nodiscard]] bool is_comment() const noexcept {
        return kind == node_kind::line_comment || kind == node_kind::block_comment ||
               kind == node_kind::drop;
    }
    [[nodiscard]] bool has_parts() const noexcept {
        return kind == node_kind::list || kind == node_kind::prefix || kind == node_kind::drop ||
               kind == node_kind::program;
    }
};

/// Nodes in the order of the text: a parent comes before its children. Node 0 is the program.
struct syntax_tree {
    std::string_view text;
    std::vector<syntax_node> nodes;

    [[nodiscard]] std::string_view text_of(const syntax_node& n) const noexcept {
        return text.substr(n.begin, n.end - n.begin);
    }
    /// The bytes that close a list: one bracket; nothing for other nodes.
    [[nodiscard]] std::string_view closing_of(const syntax_node& n) const noexcept {
        return n.kind == node_kind::list ? text.substr(n.close, 1) : std::string_view{};
    }
};

/// The tree of a text that the reader accepts and that outlives it. Linear, without recursion.
[[nodiscard]] syntax_tree make_syntax_tree(std::string_view text);

} // namespace heddle::lang::layout
