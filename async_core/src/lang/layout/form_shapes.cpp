#include "lang/layout/form_shapes.hpp"

#include <algorithm>
#include <array>

namespace heddle::lang::layout {

namespace {

//  head                 shape            beside  bindings  names  clauses
constexpr std::array rows{
    form_shape{"%join-scope", shape::body, 4, 0, 0, 0},
    form_shape{"%try-when", shape::body, 1, 0, 0, 0},
    form_shape{"%with-config", shape::body, 1, 0, 0, 0},
    form_shape{"%within", shape::body, 2, 0, 0, 0},
    form_shape{"begin", shape::block, 0, 0, 0, 0},
    form_shape{"bind", shape::body, 1, 0, 0, 0},
    form_shape{"case", shape::body, 1, 0, 0, 2},
    form_shape{"catch", shape::body, 1, 0, 1, 0},
    form_shape{"cond", shape::branches, 0, 0, 0, 1},
    form_shape{"defatom", shape::body, 1, 0, 0, 0},
    form_shape{"define", shape::body, 1, 0, 1, 0},
    form_shape{"defmacro", shape::body, 2, 0, 2, 0},
    form_shape{"deftool", shape::body, 1, 0, 0, 0},
    form_shape{"dict", shape::pairs, 0, 0, 0, 0},
    form_shape{"director-evaluator-loop", shape::body, 0, 0, 0, 0},
    form_shape{"do", shape::body, 2, 1, 0, 0},
    form_shape{"finally", shape::body, 0, 0, 0, 0},
    form_shape{"hedge", shape::body, 1, 0, 0, 0},
    form_shape{"if", shape::branches, 0, 0, 0, 0},
    form_shape{"iterative-loop", shape::body, 0, 0, 0, 0},
    form_shape{"lambda", shape::body, 1, 0, 1, 0},
    form_shape{"let", shape::body, 1, 1, 0, 0},
    form_shape{"let*", shape::body, 1, 1, 0, 0},
    form_shape{"letrec", shape::body, 1, 1, 0, 0},
    form_shape{"list", shape::rows, 0, 0, 0, 0},
    form_shape{"loop", shape::body, 1, 0, 0, 0},
    form_shape{"parallel", shape::block, 0, 0, 0, 0},
    form_shape{"progn", shape::block, 0, 0, 0, 0},
    form_shape{"race", shape::block, 0, 0, 0, 0},
    form_shape{"retry", shape::body, 1, 1, 0, 0},
    form_shape{"sandbox", shape::body, 1, 1, 0, 0},
    form_shape{"set!", shape::body, 1, 0, 0, 0},
    form_shape{"stream", shape::body, 1, 0, 0, 0},
    form_shape{"timeout", shape::body, 1, 0, 0, 0},
    form_shape{"try", shape::attempt, 0, 0, 0, 0},
    form_shape{"unless", shape::body, 1, 0, 0, 0},
    form_shape{"when", shape::body, 1, 0, 0, 0},
    form_shape{"while", shape::body, 1, 0, 0, 0},
    form_shape{"with", shape::body, 1, 1, 0, 0},
    form_shape{"with-permit", shape::body, 1, 0, 0, 0},
};

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
        const form_shape* row = named ? find_form_shape(tree_.text_of(head)) : nullptr;
        // In a quoted list a head is no call, but a form is likely to be code.
        if (!row || (n.quoted && row->form != shape::body)) {
            if (named && !n.quoted) n.form = shape::call;
            const bool quotes = named && tree_.text_of(head) == "quote";
            return pass_on(n, n.quoted || quotes);
        }
        n.form = row->form;
        n.beside_head = row->beside_head;
        assign_parts(n, *row);
    }

    void assign_parts(syntax_node& n, const form_shape& row) {
        unsigned shift = 0; // a named let has its name before the bindings
        unsigned part = 0;
        for (node_index c = n.first_child; c != no_node; c = tree_.nodes[c].next) {
            syntax_node& child = tree_.nodes[c];
            if (child.is_comment()) continue;
            if (part == 1 && row.head == "let" && child.kind == node_kind::leaf) {
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

const form_shape* find_form_shape(std::string_view head) noexcept {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.head == head; });
    return found == rows.end() ? nullptr : &*found;
}

void assign_shapes(syntax_tree& tree) { shape_assignment(tree).run(); }

} // namespace heddle::lang::layout
