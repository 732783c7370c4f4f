#include <heddle/json.hpp>

#include <heddle/base/keyed_hash.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace heddle {

namespace {

constexpr std::size_t max_unindexed = 12; ///< members that are compared one after the other
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

[[nodiscard]] std::size_t hash_of(std::string_view name) noexcept {
    static const hash_key key = random_hash_key(); // names may come from outside
    return hash_text(key, name);
}

} // namespace

json_object::json_object(std::initializer_list<json_member> members) {
    reserve(members.size());
    for (const json_member& each : members) set(each.name, each.value);
}

void json_object::reserve(std::size_t count) { members_.reserve(count); }

/// The slot of the member, or the free one where it belongs.
std::size_t json_object::slot_of(std::string_view name) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash_of(name) & mask;
    while (slots_[slot] != 0 && members_[slots_[slot] - 1].name != name) slot = (slot + 1) & mask;
    return slot;
}

std::size_t json_object::index_of(std::string_view name) const noexcept {
    if (!slots_.empty()) {
        const std::uint32_t number = slots_[slot_of(name)];
        return number == 0 ? none : number - 1;
    }
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [&](const json_member& each) { return each.name == name; });
    return found == members_.end() ? none : static_cast<std::size_t>(found - members_.begin());
}

const json* json_object::find(std::string_view name) const noexcept {
    const std::size_t index = index_of(name);
    return index == none ? nullptr : &members_[index].value;
}

json* json_object::find(std::string_view name) noexcept {
    const std::size_t index = index_of(name);
    return index == none ? nullptr : &members_[index].value;
}

void json_object::build_index() {
    slots_.clear();
    if (members_.size() <= max_unindexed) return;
    slots_.resize(std::bit_ceil(members_.size() * 2));
    for (std::size_t i = 0; i < members_.size(); ++i) {
        slots_[slot_of(members_[i].name)] = static_cast<std::uint32_t>(i + 1);
    }
}

json& json_object::append(std::string name, json value) {
    members_.push_back({std::move(name), std::move(value)});
    if (slots_.empty() ? members_.size() > max_unindexed : members_.size() * 2 > slots_.size()) {
        build_index();
    } else if (!slots_.empty()) {
        slots_[slot_of(members_.back().name)] = static_cast<std::uint32_t>(members_.size());
    }
    return members_.back().value;
}

json& json_object::set(std::string name, json value) {
    if (json* old = find(name)) return *old = std::move(value);
    return append(std::move(name), std::move(value));
}

bool json_object::add(std::string name, json value) {
    if (index_of(name) != none) return false;
    append(std::move(name), std::move(value));
    return true;
}

bool json_object::erase(std::string_view name) {
    const std::size_t index = index_of(name);
    if (index == none) return false;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
    build_index();
    return true;
}

bool json_object::equals(const json_object& other) const {
    if (size() != other.size()) return false;
    return std::all_of(begin(), end(), [&](const json_member& each) {
        const json* match = other.find(each.name);
        return match != nullptr && *match == each.value;
    });
}

} // namespace heddle
