// The only file that sees pugixml.
#include "tasks/template_files/xml_tree.hpp"

#include <heddle/base/ascii.hpp>

#include <pugixml.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

class tree_maker {
public:
    explicit tree_maker(const std::vector<xml_tag_place>& places) : places_(places) {}

    /// Elements come in the order in which they open: so do their places. The depth was checked.
    [[nodiscard]] xml_element make(const pugi::xml_node& node) {
        xml_element element;
        const xml_tag_place& place = places_[next_++];
        element.name = node.name();
        element.span = place.tag;
        element.inside = place.inside;
        std::size_t i = 0;
        for (const pugi::xml_attribute& each : node.attributes()) {
            element.attributes.push_back(
                {each.name(), each.value(), place.attributes[i].name, place.attributes[i].text});
            ++i;
        }
        for (const pugi::xml_node& child : node.children()) {
            if (child.type() == pugi::node_element) element.children.push_back(make(child));
            else element.text += child.value();
        }
        return element;
    }

private:
    const std::vector<xml_tag_place>& places_;
    std::size_t next_ = 0;
};

/// The tree and the places must agree, whatever the bytes were.
[[nodiscard]] bool agrees(const pugi::xml_node& node, const std::vector<xml_tag_place>& places,
                          std::size_t& next) {
    if (next >= places.size()) return false;
    const xml_tag_place& place = places[next++];
    const auto attributes = node.attributes();
    if (std::distance(attributes.begin(), attributes.end()) !=
        static_cast<std::ptrdiff_t>(place.attributes.size())) {
        return false;
    }
    for (const pugi::xml_node& child : node.children()) {
        if (child.type() == pugi::node_element && !agrees(child, places, next)) return false;
    }
    return true;
}

} // namespace

const xml_attribute* xml_element::attribute(std::string_view wanted) const noexcept {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const xml_attribute& each) { return each.name == wanted; });
    return found == attributes.end() ? nullptr : &*found;
}

bool xml_element::has_text() const noexcept {
    return text.find_first_not_of(ascii::blanks) != std::string::npos;
}

std::optional<xml_element> read_xml(std::string_view text, std::uint32_t position,
                                    const template_file_limits& limits,
                                    std::vector<lang::problem>& problems) {
    std::vector<xml_tag_place> places;
    if (!check_xml(text, position, limits, places, problems)) return std::nullopt;
    pugi::xml_document document;
    // No DTD, no entities of one's own: check_xml has refused them, and pugixml expands none.
    constexpr unsigned manner =
        pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol | pugi::parse_wconv_attribute;
    const pugi::xml_parse_result read =
        document.load_buffer(text.data(), text.size(), manner, pugi::encoding_utf8);
    std::size_t count = 0;
    const pugi::xml_node root = document.document_element();
    if (!read || !root || !agrees(root, places, count) || count != places.size()) {
        const auto at =
            position + static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(
                           0, std::min<std::ptrdiff_t>(read.offset,
                                                       static_cast<std::ptrdiff_t>(text.size()))));
        problems.push_back({lang::severity::error,
                            "xml-syntax",
                            std::string("the XML cannot be read: ") + read.description(),
                            {},
                            {at, at}});
        return std::nullopt;
    }
    return tree_maker(places).make(root);
}

} // namespace heddle::tasks
