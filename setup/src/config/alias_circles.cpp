#include "config/alias_circles.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace heddle::setup {

std::vector<alias_circle> alias_circles(const std::vector<alias_config>& aliases) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < aliases.size(); ++i) places.emplace(aliases[i].name, i);
    std::vector<std::size_t> walk_of(aliases.size(),
                                     aliases.size()); // by which start it was reached
    std::vector<alias_circle> circles;
    for (std::size_t start = 0; start < aliases.size(); ++start) {
        std::size_t at = start;
        bool known = true;
        while (known && walk_of[at] == aliases.size()) {
            walk_of[at] = start;
            const auto next = places.find(aliases[at].model);
            known = next != places.end();
            if (known) at = next->second;
        }
        if (!known || walk_of[at] != start) continue;
        std::string names = aliases[at].name;
        for (std::size_t each = places.at(aliases[at].model); each != at;
             each = places.at(aliases[each].model)) {
            names += " -> " + aliases[each].name;
        }
        circles.push_back({aliases[at].place,
                           "the aliases lead in a circle: " + names + " -> " + aliases[at].name});
    }
    return circles;
}

} // namespace heddle::setup
