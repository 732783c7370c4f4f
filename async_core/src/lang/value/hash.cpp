#include "lang/value/hash.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <bit>
#include <cmath>
#include <utility>

namespace heddle::lang {

namespace {

[[nodiscard]] bool has_parts(const value& v) noexcept {
    return (v.is(kind::list) || v.is(kind::map)) && v.length() != 0;
}

constexpr std::uint64_t work_of_shared = 8; ///< to look for a part, and to note it

/// Whether it may be found in other places too.
[[nodiscard]] bool is_shared(const value& v) noexcept {
    return has_parts(v) && v.target()->references != 1;
}

[[nodiscard]] std::uint64_t bits_of(double number) noexcept {
    const bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
    if (fits && std::trunc(number) == number)
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    return std::bit_cast<std::uint64_t>(number);
}

} // namespace

std::uint64_t value_hasher::mixed(std::uint64_t a, std::uint64_t b) const noexcept {
    return folded_product(a ^ key_.first, b ^ key_.second);
}

/// Of what has no parts.
std::uint64_t value_hasher::hash_leaf(const value& v) const noexcept {
    const auto tag = static_cast<std::uint64_t>(v.type()) << 56;
    switch (v.type()) {
    case kind::nil:
    case kind::unbound: return mixed(tag, 0);
    case kind::boolean:
    case kind::integer: return mixed(1, static_cast<std::uint64_t>(v.as_integer()));
    case kind::real: return mixed(1, bits_of(v.as_real()));
    case kind::string: return mixed(tag, hash_text(key_, string_bytes(v)));
    case kind::list:
    case kind::map: return mixed(tag, 1);
    case kind::builtin: return mixed(tag, reinterpret_cast<std::uintptr_t>(&v.as_builtin()));
    default: return mixed(tag, reinterpret_cast<std::uintptr_t>(v.target()));
    }
}

/// Of a part that needs no look inside, or that is known.
std::optional<std::uint64_t> value_hasher::known(const value& v) {
    if (!has_parts(v)) return hash_leaf(v);
    if (v.target()->references == 1) return std::nullopt;
    const std::uint64_t* found = known_.find(window_of(v));
    return found ? std::optional(*found) : std::nullopt;
}

/// A part of the innermost list or map is hashed: on to its end, if it was the last. The hash then.
std::uint64_t value_hasher::take_in(std::uint64_t part) {
    for (;;) {
        frame& now = frames_.back();
        const value& whole = *now.content;
        if (whole.is(kind::list)) {
            now.sum = mixed(now.sum, part);
        } else { // in any order
            const map_entry& entry = map_entries(whole)[now.next];
            now.sum += mixed(hash_text(key_, string_bytes(entry.key)), part);
        }
        if (++now.next != whole.length()) return 0;
        part = mixed(now.sum, whole.length());
        if (whole.target()->references != 1) known_.emplace(window_of(whole), part);
        frames_.pop_back();
        if (frames_.empty()) return part;
    }
}

std::optional<std::uint64_t> value_hasher::hash(const value& v) {
    if (is_shared(v) && !work_.spend(work_of_shared)) return std::nullopt;
    if (const auto leaf = known(v)) return leaf;
    frames_.assign(1, {&v, 0, static_cast<std::uint64_t>(v.type())});
    for (;;) {
        const frame& now = frames_.back();
        const bool list = now.content->is(kind::list);
        const value& part =
            list ? list_items(*now.content)[now.next] : map_entries(*now.content)[now.next].item;
        const std::size_t bytes =
            (part.is(kind::string) ? part.length() : 0) +
            (list ? std::size_t{0} : map_entries(*now.content)[now.next].key.length());
        const std::uint64_t shared = is_shared(part) ? work_of_shared : 0;
        if (!work_.spend(1 + shared + bytes / work_meter::bytes_of_a_unit)) return std::nullopt;
        if (const auto leaf = known(part)) {
            const std::uint64_t whole = take_in(*leaf);
            if (frames_.empty()) return whole;
        } else {
            frames_.push_back({&part, 0, static_cast<std::uint64_t>(part.type())});
        }
    }
}

} // namespace heddle::lang
