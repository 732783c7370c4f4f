#include <heddle/lang/state_search.hpp>

#include "lang/value/references.hpp"

#include <heddle/lang/code.hpp>

namespace heddle::lang {

void state_search::visit(const value& held) {
    if (!found_.empty()) return;
    add(held);
    if (searching_) return; // called by visit_values() of what is looked at
    searching_ = true;
    while (!work_.empty() && found_.empty()) {
        object* next = work_.back();
        work_.pop_back();
        look_inside(next);
    }
    searching_ = false;
}

void state_search::add(const value& held) {
    if (may_hold_references(held)) add(held.target());
}

void state_search::add(object* target) {
    if (seen_.insert(target).second) work_.push_back(target);
}

void state_search::look_inside(object* target) {
    switch (target->type) {
    case kind::list: {
        auto* list = static_cast<list_object*>(target);
        for (std::uint32_t i = list->begin; i < list->end; ++i) add(list->items()[i]);
        return;
    }
    case kind::map: {
        auto* map = static_cast<map_object*>(target);
        for (std::uint32_t i = 0; i < map->used; ++i) add(map->entries()[i].item);
        return;
    }
    case kind::closure: {
        auto* closure = static_cast<closure_object*>(target);
        for (std::uint32_t i = 0; i < closure->values(); ++i) add(closure->captured()[i]);
        return add(const_cast<function*>(closure->code));
    }
    case kind::code: {
        auto* code = static_cast<function*>(target);
        for (const value& constant : code->constants) add(constant);
        for (const function* inner : code->functions) add(const_cast<function*>(inner));
        return;
    }
    case kind::cell:
        found_ = "a variable that a function has closed over and that is assigned";
        return;
    case kind::host: {
        const host_object* held = static_cast<host_holder*>(target)->held;
        if (held->is_immutable()) return held->visit_values(*this);
        found_ = "an object of type " + std::string(held->type_name());
        return;
    }
    default: return;
    }
}

} // namespace heddle::lang
