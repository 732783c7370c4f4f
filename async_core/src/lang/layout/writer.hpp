// A measured tree as text.
#pragma once

#include "lang/layout/syntax_tree.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::lang::layout {

/// Writes each list in one line where that fits, else according to its shape. Keeps open lists on
/// an explicit stack, because the nesting of a source is not bounded.
class writer {
public:
    writer(const syntax_tree& tree, std::size_t width) : tree_(tree), width_(width) {}

    [[nodiscard]] std::string run();

private:
    /// A list, or a mark with what it applies to, that is being written over several lines.
    struct open_list {
        node_index node = no_node;
        node_index child = no_node; ///< the next to write
        node_index last = no_node;  ///< the one before
        unsigned items = 0;         ///< written so far, comments not counted
        std::size_t column = 0;     ///< of the bracket
        std::size_t arguments = 0;  ///< column of what goes below the first argument
        std::size_t trailing = 0;   ///< brackets that follow it in its last line
        bool hanging = false;       ///< the first argument begins a line
        bool filled = false;        ///< a call of words alone: as many in a line as fit
        bool spread = false;        ///< data that holds lists, all in one line so far
        bool last_was_broken = false;
    };
    enum class joint : std::uint8_t { same_line, new_line, open };

    void write_next();
    void close_list();
    void write_node(node_index index, std::size_t trailing);
    void write_in_line(node_index index);
    void open(node_index index, std::size_t trailing);
    void set_up_arguments(open_list& list) const;
    void separate(open_list& list, const syntax_node& part);
    [[nodiscard]] joint joint_before(const open_list& list, node_index part) const;
    [[nodiscard]] bool leads_to_item(node_index comment) const;
    [[nodiscard]] bool begins_line(const open_list& list, const syntax_node& part) const;
    [[nodiscard]] bool row_ends(const open_list& list, const syntax_node& part) const;
    [[nodiscard]] bool clause_body_begins_line(const open_list& list,
                                               const syntax_node& part) const;
    [[nodiscard]] std::size_t column_of(const open_list& list) const;
    [[nodiscard]] std::size_t trailing_of(const open_list& list, const syntax_node& part) const;
    [[nodiscard]] bool fits(const syntax_node& n, std::size_t column, std::size_t trailing) const;
    [[nodiscard]] bool starts_with(const syntax_node& list, std::string_view head) const;
    void new_line(std::size_t column, bool blank_line_before);
    void put(std::string_view text);

    const syntax_tree& tree_;
    std::size_t width_;
    std::size_t column_ = 0;
    std::vector<open_list> open_;
    std::string out_;
};

} // namespace heddle::lang::layout
