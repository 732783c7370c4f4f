#include <heddle/lang/layout.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/heap.hpp>

#include "lang/layout/form_shapes.hpp"
#include "lang/layout/measure.hpp"
#include "lang/layout/syntax_tree.hpp"
#include "lang/layout/writer.hpp"

#include <algorithm>
#include <limits>

namespace heddle::lang {

result<std::string> lay_out(std::string_view text, std::uint32_t position,
                            const layout_options& options) {
    if (text.size() > std::numeric_limits<std::int32_t>::max()) {
        return error(errc::limit, "the text is larger than 2 GiB");
    }
    {
        const heap_owner memory(heap::create());
        memory->set_limit(std::numeric_limits<std::size_t>::max());
        auto read = read_all(*memory, text, position, options.reading);
        if (!read) return std::move(read).error();
    }
    layout::syntax_tree tree = layout::make_syntax_tree(text);
    layout::assign_shapes(tree);
    layout::measure(tree);
    return layout::writer(tree, options.width).run();
}

bool same_but_for_blanks(std::string_view one, std::string_view other) {
    const layout::syntax_tree first = layout::make_syntax_tree(one);
    const layout::syntax_tree second = layout::make_syntax_tree(other);
    return std::equal(first.nodes.begin(), first.nodes.end(), second.nodes.begin(),
                      second.nodes.end(), [&](const auto& a, const auto& b) {
                          return a.kind == b.kind && first.text_of(a) == second.text_of(b) &&
                                 (a.first_child == 0) == (b.first_child == 0) && a.next == b.next &&
                                 first.closing_of(a) == second.closing_of(b);
                      });
}

} // namespace heddle::lang
