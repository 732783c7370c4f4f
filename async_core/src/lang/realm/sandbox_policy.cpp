#include <heddle/lang/sandbox_policy.hpp>

#include "lang/print/form_text.hpp"
#include "lang/value/seen_lists.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <vector>

namespace heddle::lang {

namespace {

[[nodiscard]] std::string_view word(const value& v) noexcept {
    return v.is(kind::symbol) ? symbol_name(v) : string_bytes(v);
}

[[nodiscard]] sandbox_extent::name_set names_in(const value& list) {
    sandbox_extent::name_set names;
    for (const value& each : list_items(list)) names.emplace(word(each));
    return names;
}

[[nodiscard]] error wrong(std::string_view clause, const char* expected, const value& given) {
    return error(errc::type, "sandbox: " + std::string(clause) + " must be " + expected + ", not " +
                                 shown(given));
}

} // namespace

void sandbox_extent::enter(std::size_t used) noexcept {
    if (entries_++ != 0 || memory_ == SIZE_MAX) return;
    memory_end_ = memory_left_ > SIZE_MAX - used ? SIZE_MAX : used + memory_left_;
}

void sandbox_extent::leave(std::size_t used) noexcept {
    if (--entries_ != 0 || memory_ == SIZE_MAX) return;
    memory_left_ = used > memory_end_ ? 0 : std::min(memory_, memory_end_ - used);
}

result<host_ref<sandbox_policy>> sandbox_policy::create(heap& memory, const value& clauses,
                                                        const host_ref<sandbox_policy>& outer) {
    if (outer && outer->extents_.size() >= max_nested) {
        return error(errc::limit, "sandbox: sandboxes inside each other are bounded to " +
                                      std::to_string(max_nested));
    }
    auto object = std::make_unique<sandbox_extent>();
    for (const map_entry& clause : map_entries(clauses)) {
        const std::string_view name = string_bytes(clause.key);
        const value& given = clause.item;
        if (name == "allow" || name == "models") {
            (name == "allow" ? object->allowed_ : object->models_) = names_in(given);
            continue;
        }
        if (name == "timeout") {
            const bool number = given.is_integer() || given.is_real();
            object->seconds_ = !number              ? -1
                               : given.is_integer() ? static_cast<double>(given.as_integer())
                                                    : given.as_real();
            if (*object->seconds_ >= 0) continue;
            return wrong(name, "a non-negative number of seconds", given);
        }
        if (!given.is_integer() || given.as_integer() < 0)
            return wrong(name, "a non-negative integer", given);
        const auto bound = static_cast<std::uint64_t>(given.as_integer());
        if (name == "steps") object->steps_ = object->steps_given_ = bound;
        if (name == "calls") object->calls_ = object->calls_given_ = bound;
        if (name == "memory") object->memory_ = object->memory_left_ = bound;
    }
    auto policy = std::make_unique<sandbox_policy>();
    if (outer) policy->extents_ = outer->extents_;
    policy->own_ = host_ref<sandbox_extent>::make(memory, std::move(object));
    policy->extents_.push_back(policy->own_);
    return host_ref<sandbox_policy>::make(memory, std::move(policy));
}

host_ref<sandbox_policy> sandbox_policy::joined(heap& memory, const host_ref<sandbox_policy>& own,
                                                const host_ref<sandbox_policy>& caller) {
    if (!caller || caller == own) return own;
    auto policy = std::make_unique<sandbox_policy>();
    policy->extents_ = caller->extents_;
    for (const auto& each : own->extents_) {
        if (!caller->is_bound_by(each.as_value())) policy->extents_.push_back(each);
    }
    policy->own_ = own->own_;
    return host_ref<sandbox_policy>::make(memory, std::move(policy));
}

void sandbox_policy::visit_values(value_visitor& visitor) const {
    for (const auto& each : extents_) visitor.visit(each.as_value());
    visitor.visit(own_.as_value());
}

bool sandbox_policy::is_bound_by(const value& mark) const noexcept {
    return std::any_of(extents_.begin(), extents_.end(),
                       [&](const auto& each) { return each.as_value().identical(mark); });
}

bool sandbox_policy::is_within(const sandbox_policy& other) const noexcept {
    if (&other == this) return true;
    return std::all_of(other.extents_.begin(), other.extents_.end(),
                       [&](const auto& each) { return is_bound_by(each.as_value()); });
}

template <class Refuses>
value sandbox_policy::outermost(Refuses&& refuses) const {
    const auto found = std::find_if(extents_.begin(), extents_.end(),
                                    [&](const auto& each) { return refuses(*each); });
    return found == extents_.end() ? value() : found->as_value();
}

value sandbox_policy::refusing(std::span<const std::string_view> names) const {
    return outermost([&](const sandbox_extent& each) {
        return std::none_of(names.begin(), names.end(),
                            [&](std::string_view name) { return each.allowed_.contains(name); });
    });
}

value sandbox_policy::refusing_model(std::string_view name) const {
    return outermost([&](const sandbox_extent& each) { return !each.models_.contains(name); });
}

std::optional<error> sandbox_policy::refuse_model(std::string_view name) const {
    value refusing = refusing_model(name);
    if (refusing.is_nil()) return std::nullopt;
    const std::string shown_name(name);
    return with_extent(error(errc::permission,
                             "the sandbox does not let code choose the model or "
                             "provider '" +
                                 shown_name + "'")
                           .with_hint("add it to the sandbox: (models (" + shown_name + "))"),
                       std::move(refusing));
}

result<void> sandbox_policy::count_call() {
    const value full = outermost([](const sandbox_extent& each) { return each.calls_ == 0; });
    if (const auto* extent = host_as<sandbox_extent>(full)) {
        return with_extent(
            error(errc::limit, "the sandbox allows " + std::to_string(extent->calls_given_) +
                                   " calls of tasks and tools, and they are used up"),
            full);
    }
    for (const auto& each : extents_) {
        if (each->calls_ != UINT64_MAX) --each->calls_;
    }
    return {};
}

void sandbox_extent::end_with(error failure) {
    if (!ended_) ended_ = std::move(failure);
}

std::optional<error> sandbox_policy::ended() const {
    for (const auto& each : extents_) {
        if (each->ended_) return with_extent(*each->ended_, each.as_value());
    }
    return std::nullopt;
}

std::uint64_t sandbox_policy::steps_left() const noexcept {
    std::uint64_t least = UINT64_MAX;
    for (const auto& each : extents_) least = std::min(least, each->steps_);
    return least;
}

void sandbox_policy::spend(std::uint64_t steps) noexcept {
    for (const auto& each : extents_) {
        if (each->steps_ == UINT64_MAX) continue;
        const std::uint64_t within = std::min(each->steps_, steps);
        each->steps_ -= within;
        each->cleanup_steps_ -= std::min(each->cleanup_steps_, steps - within);
    }
}

value sandbox_policy::used_up_by_cleanups() const {
    return outermost([](const sandbox_extent& each) { return each.cleanup_steps_ == 0; });
}

std::size_t sandbox_policy::memory_end() const noexcept {
    std::size_t least = SIZE_MAX;
    for (const auto& each : extents_) least = std::min(least, each->memory_end_);
    return least;
}

std::size_t sandbox_policy::memory_given() const noexcept {
    const auto first = std::min_element(
        extents_.begin(), extents_.end(),
        [](const auto& a, const auto& b) { return a->memory_end_ < b->memory_end_; });
    return first == extents_.end() ? SIZE_MAX : (*first)->memory_;
}

std::optional<double> sandbox_policy::seconds(const sandbox_policy* caller) const noexcept {
    std::optional<double> least;
    for (const auto& each : extents_) {
        if (!each->seconds_ || (caller && caller->is_bound_by(each.as_value()))) continue;
        if (!least || *each->seconds_ < *least) least = each->seconds_;
    }
    return least;
}

void sandbox_policy::moved(const sandbox_policy* from, const sandbox_policy* to,
                           std::size_t used) noexcept {
    if (from == to) return;
    if (from) {
        for (const auto& each : from->extents_) {
            if (!to || !to->is_bound_by(each.as_value())) each->leave(used);
        }
    }
    if (!to) return;
    for (const auto& each : to->extents_) {
        if (!from || !from->is_bound_by(each.as_value())) each->enter(used);
    }
}

value sandbox_policy::exhausted(std::size_t used, std::string& what) const {
    for (const auto& each : extents_) {
        const bool steps = each->steps_ == 0;
        if (!steps && used <= each->memory_end_) continue;
        what = "the sandbox allows " +
               (steps ? std::to_string(each->steps_given_) + " steps"
                      : std::to_string(each->memory_) + " bytes of memory") +
               ", and they are used up";
        return each.as_value();
    }
    return {};
}

} // namespace heddle::lang
