// What is written in the source, and what a macro made.
#include "lang/check/rules.hpp"

#include <algorithm>

namespace heddle::lang {

std::string_view written_head(const realm& realm, source_span form) {
    std::string_view text = realm.sources().text(form);
    if (!text.starts_with('(')) return {};
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n", 1), text.size()));
    return text.substr(0, text.find_first_of(" \t\r\n()[]\"'`,;"));
}

bool is_written_within(const realm& realm, source_span part, source_span whole) {
    if (!part.known() || !whole.known() || part.begin < whole.begin || part.end > whole.end)
        return false;
    // A part that a macro computes is where the template has its place.
    if (realm.sources().text(part).starts_with(',')) return false;
    return !realm.find_macro(written_head(realm, whole));
}

} // namespace heddle::lang
