// What a program may do to values, done at random.
#pragma once

#include "lang_harness.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang::testing {

/// Holds values; notes its end.
class witness final : public host_object {
public:
    witness(std::vector<value> held, std::set<int>& living, int number)
        : held_(std::move(held)), living_(living), number_(number) {
        living_.insert(number_);
    }
    ~witness() override { living_.erase(number_); }
    [[nodiscard]] std::string_view type_name() const noexcept override { return "witness"; }
    void visit_values(value_visitor& visitor) const override {
        for (const value& each : held_) visitor.visit(each);
    }
    [[nodiscard]] std::vector<value>& held() noexcept { return held_; }
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    std::vector<value> held_;
    std::set<int>& living_;
    int number_;
};

inline void assign(const value& cell, value content) {
    cell_of(cell)->content = std::move(content);
}

template <class Visit>
void for_each_constant(const function& code, Visit& visit) {
    for (const value& each : code.constants) visit(each);
    for (const function* each : code.functions) for_each_constant(*each, visit);
}

/// All values that an object refers to, without the means of the collector.
template <class Visit>
void for_each_value(object* target, Visit visit) {
    switch (target->type) {
    case kind::list: {
        auto* list = static_cast<list_object*>(target);
        for (std::uint32_t i = list->begin; i < list->end; ++i) visit(list->items()[i]);
        break;
    }
    case kind::map: {
        auto* map = static_cast<map_object*>(target);
        for (std::uint32_t i = 0; i < map->used; ++i) {
            visit(map->entries()[i].key);
            visit(map->entries()[i].item);
        }
        break;
    }
    case kind::closure: {
        auto* closure = static_cast<closure_object*>(target);
        for (std::uint32_t i = 0; i < closure->values(); ++i) visit(closure->captured()[i]);
        for_each_constant(*closure->code, visit);
        break;
    }
    case kind::cell: visit(static_cast<cell_object*>(target)->content); break;
    case kind::host:
        for (const value& each :
             static_cast<witness*>(static_cast<host_holder*>(target)->held)->held())
            visit(each);
        break;
    default: break;
    }
}

inline std::set<object*> reachable(const std::vector<value>& roots) {
    std::set<object*> found;
    std::vector<object*> work;
    const auto reach = [&](const value& v) {
        if (v.target() && found.insert(v.target()).second) work.push_back(v.target());
    };
    for (const value& root : roots) reach(root);
    while (!work.empty()) {
        object* next = work.back();
        work.pop_back();
        for_each_value(next, reach);
    }
    return found;
}

inline std::set<int> witnesses_among(const std::set<object*>& objects) {
    std::set<int> numbers;
    for (object* each : objects) {
        if (each->type == kind::host)
            numbers.insert(static_cast<witness*>(static_cast<host_holder*>(each)->held)->number());
    }
    return numbers;
}

/// A program that does at random all that can be done to values.
class random_program {
public:
    explicit random_program(unsigned seed) : random_(seed) {
        const outcome ended = harness_.run("(lambda () 1)");
        code_ = ended.result;
        memory().collect_cycles();
        objects_before_ = memory().live_objects();
        roots_.resize(24);
    }

    heap& memory() { return harness_.harness.memory(); }
    [[nodiscard]] const std::vector<value>& roots() const { return roots_; }
    [[nodiscard]] std::set<int>& living() { return living_; }
    std::size_t objects() { return memory().live_objects() - objects_before_; }

    void act() {
        value& to = root();
        if (to.is(kind::list) && to.length() > 6) to = list_slice(to, 4, to.length());
        switch (below(17)) {
        case 0:
        case 1: to = make_cell(memory(), root()); break;
        case 2: to = make_list(memory(), some()); break;
        case 3:
            if (to.is(kind::list)) to = list_push_back(memory(), to, root());
            else to = make_list_with_capacity(memory(), 8);
            break;
        case 4:
            if (to.is(kind::list)) to = list_push_front(memory(), root(), to);
            else to = make_list_with_room(memory(), {8, 4});
            break;
        case 5:
        case 6: {
            const std::string key(1, static_cast<char>('a' + below(10)));
            to = map_put(memory(), to.is(kind::map) ? to : value::empty_map(), key, root());
            break;
        }
        case 7:
        case 8: {
            const std::vector<value> captured = some();
            const value& other = root();
            to = make_closure(memory(), *closure_of(other.is(kind::closure) ? other : code_)->code,
                              static_cast<std::uint32_t>(captured.size()));
            std::copy(captured.begin(), captured.end(), closure_of(to)->captured());
            break;
        }
        case 16: to = make_closure(memory(), *make_code(), 0); break;
        case 9:
            to = make_host(memory(), std::make_unique<witness>(some(), living_, ++witnesses_));
            break;
        case 10:
        case 11:
        case 12: assign_any(); break;
        case 13: to = part_of(root()); break;
        case 14:
            if (to.is(kind::list) && to.length() != 0)
                to = list_slice(to, below(to.length()), to.length());
            break;
        default: to.set_nil(); break;
        }
    }
    void drop_all() {
        for (value& each : roots_) each.set_nil();
    }
    std::size_t below(std::size_t end) {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

private:
    value& root() { return roots_[below(roots_.size())]; }
    std::vector<value> some() {
        std::vector<value> chosen(below(4));
        for (value& each : chosen) each = root();
        return chosen;
    }
    /// With constants, and functions inside it that others may call, too. Those have none inside,
    /// so that for_each_constant() ends soon.
    function_ref make_code() {
        auto* code = new function(memory());
        function_ref owner(code);
        code->may_close_cycle = true;
        code->constants = some();
        for (const value& each : some()) {
            if (!each.is(kind::closure) || !closure_of(each)->code->functions.empty()) continue;
            code->functions.push_back(closure_of(each)->code);
            function_retain(code->functions.back());
        }
        return owner;
    }
    value part_of(const value& whole) {
        std::vector<value> parts;
        if (whole.target())
            for_each_value(whole.target(), [&](const value& v) { parts.push_back(v); });
        return parts.empty() ? value() : parts[below(parts.size())];
    }
    void assign_any() {
        for (const value& each : roots_) {
            if (each.is(kind::cell) && below(3) == 0) return assign(each, root());
        }
    }

    std::mt19937 random_;
    std::set<int> living_; ///< outlives the witnesses
    int witnesses_ = 0;
    lang_harness harness_;
    value code_;
    std::size_t objects_before_ = 0;
    std::vector<value> roots_;
};

} // namespace heddle::lang::testing
