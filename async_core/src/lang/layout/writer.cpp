#include "lang/layout/writer.hpp"

#include <heddle/base/utf8.hpp>

#include "lang/layout/measure.hpp"

#include <algorithm>

namespace heddle::lang::layout {

namespace {

/// Indentation grows no further than this, so that the text of deeply nested lists does not grow
/// with the square of their depth.
constexpr std::size_t max_column = 240;

} // namespace

std::string writer::run() {
    open(0, 0);
    while (!open_.empty()) write_next();
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
}

void writer::put(std::string_view text) {
    out_ += text;
    const std::size_t line_end = text.rfind('\n');
    if (line_end == std::string_view::npos) {
        column_ += utf8::count(text);
    } else {
        column_ = utf8::count(text.substr(line_end + 1));
    }
}

void writer::new_line(std::size_t column, bool blank_line_before) {
    out_ += blank_line_before ? "\n\n" : "\n";
    column_ = std::min(column, std::max(max_column, width_));
    out_.append(column_, ' ');
}

bool writer::fits(const syntax_node& n, std::size_t column, std::size_t trailing) const {
    return n.fits_line && column + n.width + (n.open_ended ? 0 : trailing) <= width_;
}

std::size_t writer::trailing_of(const open_list& list, const syntax_node& part) const {
    if (part.next != no_node) return 0;
    return list.trailing + (tree_.nodes[list.node].kind == node_kind::list ? 1 : 0);
}

void writer::write_next() {
    open_list& list = open_.back();
    if (list.child == no_node) return close_list();
    const node_index index = list.child;
    const syntax_node& part = tree_.nodes[index];
    const std::size_t trailing = trailing_of(list, part);
    separate(list, part);
    if (list.items == 1 && !part.is_comment() && !list.hanging && list.arguments == 0) {
        list.arguments = column_;
    }
    list.items += part.is_comment() ? 0 : 1;
    list.child = part.next;
    list.last = index;
    list.last_was_broken = part.has_parts() && !fits(part, column_, trailing);
    write_node(index, trailing); // may move `list`
}

void writer::close_list() {
    const open_list& list = open_.back();
    const syntax_node& n = tree_.nodes[list.node];
    if (n.kind == node_kind::list) {
        if (tree_.nodes[list.last].kind == node_kind::line_comment) new_line(list.column, false);
        put(tree_.closing_of(n));
    }
    open_.pop_back();
}

void writer::write_node(node_index index, std::size_t trailing) {
    const syntax_node& n = tree_.nodes[index];
    if (!n.has_parts()) put(tree_.text_of(n));
    else if (fits(n, column_, trailing)) write_in_line(index);
    else open(index, trailing);
}

void writer::write_in_line(node_index index) {
    struct place {
        node_index node;
        node_index child;
    };
    std::vector<place> path;
    const auto begin = [&](node_index i) {
        const syntax_node& n = tree_.nodes[i];
        put(tree_.text_of(n));
        if (!n.has_parts()) return;
        if (mark_needs_blank(tree_, n)) put(" ");
        path.push_back({i, n.first_child});
    };
    begin(index);
    while (!path.empty()) {
        place& here = path.back();
        if (here.child == no_node) {
            put(tree_.closing_of(tree_.nodes[here.node]));
            path.pop_back();
            continue;
        }
        const node_index child = here.child;
        if (child != tree_.nodes[here.node].first_child) put(" ");
        here.child = tree_.nodes[child].next;
        begin(child);
    }
}

void writer::open(node_index index, std::size_t trailing) {
    const syntax_node& n = tree_.nodes[index];
    open_list list;
    list.node = index;
    list.child = n.first_child;
    list.column = column_;
    list.trailing = trailing;
    if (n.kind == node_kind::list) set_up_arguments(list);
    put(tree_.text_of(n));
    if (mark_needs_blank(tree_, n)) put(" ");
    open_.push_back(list);
}

/// Where arguments go: below the first one beside the head, or two columns in when the author has
/// it so, or when something would pass the width there and would not here.
void writer::set_up_arguments(open_list& list) const {
    const syntax_node& n = tree_.nodes[list.node];
    if (n.first_child == no_node) return;
    const std::size_t beside = list.column + tree_.nodes[n.first_child].width + 2;
    const std::size_t below = list.column + 2;
    bool passes_beside = false;
    bool passes_below = false;
    bool holds_lists = false;
    bool has_lines = false; // that the author began
    unsigned items = 0;
    for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
        const syntax_node& part = tree_.nodes[c];
        if (items > (n.form == shape::rows ? 1U : 0U)) has_lines = has_lines || part.newlines != 0;
        if (part.is_comment()) continue;
        if (items > 0 || n.form == shape::data) {
            holds_lists = holds_lists || part.has_parts() || part.open_ended;
        }
        if (items > 0) {
            const std::size_t needs = part.need + trailing_of(list, part);
            passes_beside = passes_beside || beside + needs > width_;
            passes_below = passes_below || below + needs > width_;
        }
        ++items;
    }
    const node_index first = tree_.nodes[n.first_child].next;
    const bool author_hangs = first != no_node && tree_.nodes[first].newlines != 0;
    switch (n.form) {
    case shape::call:
    case shape::pairs:
    case shape::rows: list.hanging = author_hangs || (passes_beside && !passes_below); break;
    case shape::branches: list.hanging = passes_beside && !passes_below; break;
    case shape::block: list.hanging = author_hangs; break;
    default: break;
    }
    list.filled = n.form == shape::call && !holds_lists;
    if (list.hanging) list.arguments = below;
    list.spread = holds_lists && !has_lines;
}

/// Goes to where the next part of a list is to stand.
void writer::separate(open_list& list, const syntax_node& part) {
    const node_index index = list.child;
    if (list.last == no_node) return; // directly after the bracket or mark
    joint wanted = joint_before(list, index);
    if (wanted == joint::open) {
        wanted = begins_line(list, part) ? joint::new_line : joint::same_line;
    }
    if (wanted == joint::same_line) put(" ");
    else new_line(column_of(list), part.newlines >= 2);
}

/// Comments stay in the line in which they stand, or in lines of their own.
writer::joint writer::joint_before(const open_list& list, node_index index) const {
    const syntax_node& last = tree_.nodes[list.last];
    const syntax_node& part = tree_.nodes[index];
    if (last.kind == node_kind::line_comment) return joint::new_line;
    if (!last.is_comment() && !part.is_comment()) return joint::open;
    if (part.newlines != 0) return joint::new_line;
    // `a #|about b|# b`: the comment goes with what follows it.
    if (!last.is_comment() && leads_to_item(index)) return joint::open;
    return joint::same_line;
}

bool writer::leads_to_item(node_index comment) const {
    while (tree_.nodes[comment].is_comment()) {
        if (tree_.nodes[comment].kind == node_kind::line_comment) return false;
        comment = tree_.nodes[comment].next;
        if (comment == no_node || tree_.nodes[comment].newlines != 0) return false;
    }
    return true;
}

/// Whether the part after `list.items` others begins a line, where no comment decides it. Each
/// line that is begun here is either one that measure.cpp keeps, or follows from widths alone.
bool writer::begins_line(const open_list& list, const syntax_node& part) const {
    const syntax_node& n = tree_.nodes[list.node];
    const unsigned k = list.items;
    switch (n.form) {
    case shape::call:
        if (k == 1) return list.hanging;
        if (!list.filled || part.newlines >= 2) return true;
        return !fits(part, column_ + 1, trailing_of(list, part));
    case shape::branches:
    case shape::block: return k != 1 || list.hanging;
    case shape::rows: return k == 1 ? list.hanging : row_ends(list, part);
    case shape::data: return row_ends(list, part);
    case shape::pairs:
        if (k == 1) return list.hanging;
        return k % 2 == 1 || (column_ + 1 + part.need + trailing_of(list, part) > width_ &&
                              list.arguments + 2 + part.need <= width_);
    case shape::body:
        if (k > n.beside_head) return true;
        return column_ + 1 + part.need > width_ && list.column + 4 + part.need <= width_;
    case shape::clause: return k != 1 || clause_body_begins_line(list, part);
    case shape::attempt: {
        if (k != 1 || part.newlines != 0) return true;
        if (part.next == no_node) return false;
        const syntax_node& after = tree_.nodes[part.next];
        return !starts_with(after, "catch") && !starts_with(after, "finally");
    }
    case shape::bindings:
    case shape::program: break;
    }
    return true;
}

bool writer::row_ends(const open_list& list, const syntax_node& part) const {
    return part.newlines != 0 || list.spread || list.last_was_broken ||
           !fits(part, column_ + 1, trailing_of(list, part));
}

/// A single expression may stand beside the test when the author put it there.
bool writer::clause_body_begins_line(const open_list& list, const syntax_node& part) const {
    if (part.newlines != 0 || part.is_comment() || part.next != no_node) return true;
    return list.last_was_broken || column_ + 1 + part.need + trailing_of(list, part) > width_;
}

std::size_t writer::column_of(const open_list& list) const {
    const syntax_node& n = tree_.nodes[list.node];
    switch (n.form) {
    case shape::program: return 0;
    case shape::data:
    case shape::bindings:
    case shape::clause: return list.column + (n.end - n.begin);
    case shape::body: return list.column + (list.items <= n.beside_head ? 4 : 2);
    case shape::attempt: return list.column + 2;
    case shape::pairs:
        if (list.items >= 2 && list.items % 2 == 0) return list.arguments + 2;
        [[fallthrough]];
    default: return list.arguments != 0 ? list.arguments : list.column + 2;
    }
}

bool writer::starts_with(const syntax_node& list, std::string_view head) const {
    if (list.kind != node_kind::list || list.first_child == no_node) return false;
    return tree_.text_of(tree_.nodes[list.first_child]) == head;
}

} // namespace heddle::lang::layout
