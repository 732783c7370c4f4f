#include "lang/layout/syntax_tree.hpp"

#include "lang/reader/lexer.hpp"

#include <algorithm>

namespace heddle::lang::layout {

namespace {

class tree_builder {
public:
    explicit tree_builder(std::string_view text) : lexer_(text, 0, work_) {
        tree_.text = text;
        syntax_node program;
        program.kind = node_kind::program;
        program.form = shape::program;
        tree_.nodes.push_back(program);
        open_.push_back({0, no_node});
    }

    syntax_tree build() {
        std::size_t end_of_last = 0;
        for (;;) {
            const token t = lexer_.next();
            take_gap(end_of_last, t.begin);
            if (t.kind == token_kind::end || t.kind == token_kind::failure) break;
            take(t);
            end_of_last = t.end;
        }
        return std::move(tree_);
    }

private:
    struct open_node {
        node_index node;
        node_index last_child;
    };

    /// What is between two tokens: white space and comments.
    void take_gap(std::size_t at, std::size_t end) {
        newlines_ = 0;
        while (at < end) {
            const char c = tree_.text[at];
            if (c == ';') {
                std::size_t stop = std::min(tree_.text.find_first_of("\r\n", at), end);
                const std::size_t next = stop;
                while (is_blank(tree_.text[stop - 1])) --stop;
                append(node_kind::line_comment, at, stop);
                at = next;
            } else if (tree_.text.substr(at, 2) == "#|") {
                const std::size_t stop = end_of_block_comment(at);
                append(node_kind::block_comment, at, stop);
                at = stop;
            } else {
                const bool two = tree_.text.substr(at, 2) == "\r\n";
                if ((c == '\n' || c == '\r') && newlines_ < 2) ++newlines_;
                at += two ? 2 : 1;
            }
        }
    }

    static bool is_blank(char c) noexcept {
        return c == ' ' || c == '\t' || c == '\r' || c == '\f';
    }

    [[nodiscard]] std::size_t end_of_block_comment(std::size_t at) const noexcept {
        std::size_t depth = 0;
        do {
            const std::string_view two = tree_.text.substr(at, 2);
            if (two == "#|") ++depth;
            if (two == "|#") --depth;
            at += two == "#|" || two == "|#" ? 2 : 1;
        } while (depth != 0 && at < tree_.text.size());
        return at;
    }

    void take(const token& t) {
        switch (t.kind) {
        case token_kind::open: open(node_kind::list, t); break;
        case token_kind::prefix: open(node_kind::prefix, t); break;
        case token_kind::drop: open(node_kind::drop, t); break;
        case token_kind::close:
            tree_.nodes[open_.back().node].close = static_cast<std::uint32_t>(t.begin);
            open_.pop_back();
            complete_expression();
            break;
        default:
            append(node_kind::leaf, t.begin, t.end);
            complete_expression();
            break;
        }
    }

    void open(node_kind kind, const token& t) {
        append(kind, t.begin, t.end);
        open_.push_back({static_cast<node_index>(tree_.nodes.size() - 1), no_node});
    }

    /// Marks that waited for an expression have it now. A dropped one counts for nobody.
    void complete_expression() {
        while (open_.size() > 1) {
            const node_kind kind = tree_.nodes[open_.back().node].kind;
            if (kind == node_kind::list) return;
            open_.pop_back();
            if (kind == node_kind::drop) return;
        }
    }

    void append(node_kind kind, std::size_t begin, std::size_t end) {
        syntax_node syntax;
        syntax.kind = kind;
        syntax.begin = static_cast<std::uint32_t>(begin);
        syntax.end = static_cast<std::uint32_t>(end);
        syntax.newlines = newlines_;
        newlines_ = 0;
        const auto index = static_cast<node_index>(tree_.nodes.size());
        open_node& parent = open_.back();
        if (parent.last_child == no_node) tree_.nodes[parent.node].first_child = index;
        else tree_.nodes[parent.last_child].next = index;
        parent.last_child = index;
        tree_.nodes.push_back(syntax);
    }

    free_work work_;
    lexer lexer_;
    syntax_tree tree_;
    std::vector<open_node> open_;
    std::uint8_t newlines_ = 0;
};

} // namespace

syntax_tree make_syntax_tree(std::string_view text) { return tree_builder(text).build(); }

} // namespace heddle::lang::layout
