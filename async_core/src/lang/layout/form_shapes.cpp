#include "lang/layout/form_shapes.hpp"

#include "lang/compile/special_form.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::lang::layout {

namespace {

/// Heads that are not special forms but are laid out as such.
constexpr std::array<std::pair<std::string_view, form_layout>, 4> others{{
    {"catch", {.form = shape::body, .beside_head = 1, .names = 1}},
    {"dict", {.form = shape::pairs}},
    {"finally", {.form = shape::body}},
    {"list", {.form = shape::rows}},
}};

/// What a list is to the form around it.
enum class role : std::uint8_t { code, bindings, binding, names, clause };

/// Whether a leaf may name what a list does.
bool is_name(std::string_view leaf) noexcept {
    return leaf.front() != '"' && (leaf.front() < '0' || leaf.front() > '9');
}

/// Visits parents before their children.
class shape_assignment {
public:
    explicit shape_assignment(syntax_tree& tree)
        : tree_(tree), roles_(tree.nodes.size(), role::code) {}

    void run() {
        for (node_index i = 0; i < tree_.nodes.size(); ++i) {
            syntax_node& n = tree_.nodes[i];
            switch (n.kind) {
            case node_kind::list: assign(i); break;
            case node_kind::prefix: pass_on(n, n.quoted || tree_.text_of(n) == "'"); break;
            case node_kind::drop: pass_on(n, n.quoted); break;
            default: break;
            }
        }
    }

private:
    void pass_on(const syntax_node& n, bool quoted) {
        for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
            tree_.nodes[c].quoted = quoted && tree_.text_of(n) != ",";
        }
    }

    void assign(node_index i) {
        syntax_node& n = tree_.nodes[i];
        n.form = shape::data;
        if (n.first_child == no_node) return;
        switch (roles_[i]) {
        case role::bindings:
            n.form = shape::bindings;
            for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
                roles_[c] = role::binding;
            }
            return;
        case role::binding: n.form = shape::call; return;
        case role::names: return pass_on(n, true);
        case role::clause: n.form = shape::clause; return;
        case role::code: break;
        }
        const syntax_node& head = tree_.nodes[n.first_child];
        const bool named = head.kind == node_kind::leaf && is_name(tree_.text_of(head));
        const std::string_view head_text = named ? tree_.text_of(head) : std::string_view();
        const form_layout* row = named ? find_layout(head_text) : nullptr;
        // In a quoted list a head is not a call, but a form is likely to be code.
        if (!row || (n.quoted && row->form != shape::body)) {
            if (named && !n.quoted) n.form = shape::call;
            const bool quotes = named && tree_.text_of(head) == "quote";
            return pass_on(n, n.quoted || quotes);
        }
        n.form = row->form;
        n.beside_head = row->beside_head;
        assign_parts(n, *row, head_text == "let");
    }

    void assign_parts(syntax_node& n, const form_layout& row, bool may_be_named) {
        unsigned shift = 0; // a named let has its name before the bindings
        unsigned part = 0;
        for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
            syntax_node& child = tree_.nodes[c];
            if (child.is_comment()) continue;
            if (part == 1 && may_be_named && child.kind == node_kind::leaf) {
                shift = 1;
                ++n.beside_head;
            }
            if (child.kind == node_kind::list && part != 0) {
                if (part == row.bindings + shift && holds_lists(child)) roles_[c] = role::bindings;
                if (part == row.names) roles_[c] = role::names;
                if (row.clauses != 0 && part >= row.clauses) roles_[c] = role::clause;
            }
            ++part;
        }
    }

    [[nodiscard]] bool holds_lists(const syntax_node& n) const {
        for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
            if (!tree_.nodes[c].is_comment()) return tree_.nodes[c].kind == node_kind::list;
        }
        return false;
    }

    syntax_tree& tree_;
    std::vector<role> roles_;
};

} // namespace

const form_layout* find_layout(std::string_view head) noexcept {
    if (const special_form* row = find_special_form(head))
        return row->layout.form == shape::call ? nullptr : &row->layout;
    const auto found = std::find_if(others.begin(), others.end(),
                                    [&](const auto& each) { return each.first == head; });
    return found == others.end() ? nullptr : &found->second;
}

void assign_shapes(syntax_tree& tree) { shape_assignment(tree).run(); }

} // namespace heddle::lang::layout
