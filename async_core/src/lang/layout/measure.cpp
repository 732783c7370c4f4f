#include "lang/layout/measure.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>

namespace heddle::lang::layout {

namespace {

/// Whether a line that the author began at part `k` of a list is a reason to break the list. Where
/// it is one, the broken list begins a line there too: so a second look finds the same.
bool keeps_line(const syntax_node& list, unsigned k, const syntax_node& part) noexcept {
    if (part.newlines == 0) return false;
    switch (list.form) {
    case shape::call: return k >= 2 && part.newlines >= 2; // a blank line is meant
    case shape::branches:
    case shape::rows: return k >= 2;
    case shape::pairs: return k >= 3 && k % 2 == 1;
    case shape::body: return k > list.beside_head;
    case shape::block:
    case shape::attempt:
    case shape::data:
    case shape::bindings:
    case shape::clause: return k >= 1;
    case shape::program: break;
    }
    return true;
}

class measuring {
public:
    explicit measuring(syntax_tree& tree) : tree_(tree) {}

    void run() {
        for (auto n = tree_.nodes.rbegin(); n != tree_.nodes.rend(); ++n) {
            if (n->has_parts()) measure_parts(*n);
            else measure_token(*n);
        }
    }

private:
    void measure_token(syntax_node& n) const {
        const std::string_view text = tree_.text_of(n);
        const std::size_t first_line = std::min(text.find('\n'), text.size());
        n.width = static_cast<std::uint32_t>(utf8::count(text.substr(0, first_line)));
        n.open_ended = first_line != text.size();
        n.fits_line =
            n.kind == node_kind::leaf || (n.kind == node_kind::block_comment && !n.open_ended);
        n.need = n.is_comment() ? 0 : n.width;
    }

    void measure_parts(syntax_node& n) const {
        const bool bracketed = n.kind == node_kind::list;
        n.width = bracketed ? 2 : n.end - n.begin;
        n.need = n.width;
        n.fits_line = n.kind != node_kind::program;
        if (mark_needs_blank(tree_, n)) ++n.width;
        unsigned items = 0;
        for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
            const syntax_node& part = tree_.nodes[c];
            const bool first = c == n.first_child;
            const bool last = part.next == no_node;
            if (!part.fits_line || (part.open_ended && !last)) n.fits_line = false;
            if (part.is_comment() && !stands_within_line(part, first)) n.fits_line = false;
            if (bracketed && !part.is_comment() && !first && keeps_line(n, items, part)) {
                n.fits_line = false;
            }
            n.open_ended = n.open_ended || part.open_ended;
            // The bracket after a string of several lines is not in the first of them.
            n.width += part.width + (first ? 0 : 1) - (bracketed && last && part.open_ended);
            const std::uint32_t before = !bracketed ? n.end - n.begin : items == 0 ? 1U : 2U;
            n.need = std::max(n.need, part.need + before + (bracketed && last ? 1 : 0));
            if (!part.is_comment()) ++items;
        }
    }

    [[nodiscard]] bool stands_within_line(const syntax_node& comment, bool first) const {
        if (comment.newlines != 0 && !first) return false;
        return comment.next == no_node || tree_.nodes[comment.next].newlines == 0;
    }

    syntax_tree& tree_;
};

} // namespace

bool mark_needs_blank(const syntax_tree& tree, const syntax_node& n) noexcept {
    return n.kind == node_kind::prefix && tree.text_of(n) == "," &&
           tree.text[tree.nodes[n.first_child].begin] == '@';
}

void measure(syntax_tree& tree) { measuring(tree).run(); }

} // namespace heddle::lang::layout
