#include "list_places.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <memory>

namespace heddle::lang {

value list_with_places(heap& memory, const std::vector<value>& items,
                       const std::vector<source_span>& spans, source_span whole) {
    if (items.empty()) return value::empty_list();
    value result = make_list(memory, items);
    auto* storage = static_cast<list_object*>(result.target());
    const std::size_t room = storage->capacity;
    auto elements = std::make_unique<source_span[]>(room);
    std::copy(spans.begin(), spans.end(), elements.get() + result.offset());
    storage->places = new list_places{whole, room, std::move(elements)};
    memory.charge(list_places::bytes_for(room));
    return result;
}

} // namespace heddle::lang
