// The references that objects hold to others.
#pragma once

#include <heddle/lang/code.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::lang {

/// Whether what is behind a value may hold references itself.
[[nodiscard]] inline bool may_hold_references(const value& v) noexcept {
    return v.is_object() && v.type() != kind::string && v.type() != kind::symbol;
}

/// What is left of some work, in units: a reference that is looked at, an object.
using work_left = std::int64_t;

namespace detail {

template <class At, class Visit>
[[nodiscard]] bool visit_items(std::uint32_t end, std::uint32_t& at, work_left& left, At item_at,
                               Visit& visit) {
    while (at < end) {
        if (left <= 0) return false;
        const value& item = item_at(at++);
        if (may_hold_references(item)) {
            --left;
            if (!visit(item.target())) return false;
        } else if (at % 16 == 0) {
            --left;
        }
    }
    return true;
}

/// The reference to a function, at the place `own` among those of the object that holds it.
template <class Visit>
[[nodiscard]] bool visit_code(const function* code, std::uint32_t own, std::uint32_t& at,
                              work_left& left, Visit& visit) {
    if (at > own || !code->may_close_cycle) return true;
    if (left <= 0) return false;
    at = own + 1;
    --left;
    return visit(const_cast<function*>(code));
}

template <class Visit>
class items_of_host final : public host_object::value_visitor {
public:
    items_of_host(std::uint32_t& at, work_left& left, Visit& visit)
        : at_(at), left_(left), visit_(visit) {}
    void visit(const value& held) override {
        --left_;
        if (stopped_ || seen_++ < at_) return;
        ++at_;
        stopped_ = may_hold_references(held) && !visit_(held.target());
    }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

private:
    std::uint32_t& at_;
    work_left& left_;
    Visit& visit_;
    std::uint32_t seen_ = 0;
    bool stopped_ = false;
};

} // namespace detail

/// Calls visit(object*) for references that `target` holds to objects that may hold some
/// themselves. Begins at `at`, 0 at first, and goes on until `visit` returns false, or `left` is
/// used up, which it takes its work from: what a host object holds is shown in one go. Result:
/// whether that were all. `target` may change between two calls: what is new may be left out.
template <class Visit>
[[nodiscard]] bool visit_references(object* target, std::uint32_t& at, work_left& left,
                                    Visit&& visit) {
    switch (target->type) {
    case kind::list: {
        auto* list = static_cast<list_object*>(target);
        at = std::max(at, list->begin);
        return detail::visit_items(
            list->end, at, left,
            [list](std::uint32_t i) -> const value& { return list->items()[i]; }, visit);
    }
    case kind::map: {
        auto* map = static_cast<map_object*>(target);
        return detail::visit_items(
            map->used, at, left,
            [map](std::uint32_t i) -> const value& { return map->entries()[i].item; }, visit);
    }
    case kind::closure: {
        auto* closure = static_cast<closure_object*>(target);
        return detail::visit_items(
                   closure->values(), at, left,
                   [closure](std::uint32_t i) -> const value& { return closure->captured()[i]; },
                   visit) &&
               detail::visit_code(closure->code, closure->values(), at, left, visit);
    }
    case kind::code: {
        auto* code = static_cast<function*>(target);
        const auto constants = static_cast<std::uint32_t>(code->constants.size());
        if (!detail::visit_items(
                constants, at, left,
                [code](std::uint32_t i) -> const value& { return code->constants[i]; }, visit))
            return false;
        for (std::uint32_t i = at - constants; i < code->functions.size(); ++i) {
            if (!detail::visit_code(code->functions[i], constants + i, at, left, visit))
                return false;
        }
        return true;
    }
    case kind::cell:
        return detail::visit_items(
            1, at, left,
            [target](std::uint32_t) -> const value& {
                return static_cast<cell_object*>(target)->content;
            },
            visit);
    case kind::host: {
        if (left <= 0) return false;
        detail::items_of_host<std::remove_reference_t<Visit>> items(at, left, visit);
        static_cast<host_holder*>(target)->held->visit_values(items);
        return !items.stopped();
    }
    default: return true;
    }
}

} // namespace heddle::lang
