#include <heddle/lang/equality.hpp>

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/arithmetic.hpp"

#include <cstddef>
#include <unordered_set>
#include <vector>

namespace heddle::lang {

namespace {

/// Two lists or maps of the same length whose rest is still to be compared.
struct pair_frame {
    const value* left;
    const value* right;
    std::size_t next = 0;
};

/// Two windows that were met together before.
struct met_pair {
    const object* left;
    const object* right;
    std::uint64_t left_window;
    std::uint64_t right_window;
    bool operator==(const met_pair&) const = default;
};
struct met_hash {
    std::size_t operator()(const met_pair& pair) const noexcept {
        std::size_t hash = reinterpret_cast<std::size_t>(pair.left) * 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ reinterpret_cast<std::size_t>(pair.right)) * 0xBF58476D1CE4E5B9ULL;
        return (hash ^ pair.left_window * 31 ^ pair.right_window) * 0x94D049BB133111EBULL;
    }
};

enum class answer : std::uint8_t { equal, different, look_inside };

class comparison {
public:
    [[nodiscard]] bool run(const value& left, const value& right);

private:
    [[nodiscard]] answer compare(const value& left, const value& right);
    [[nodiscard]] bool met_before(const value& left, const value& right);

    std::vector<pair_frame> frames_;
    // A value in which parts are shared may be exponentially larger than its storage. A pair that
    // was met before needs no second look: had it differed, the comparison would be over.
    std::unordered_set<met_pair, met_hash> met_;
};

bool comparison::met_before(const value& left, const value& right) {
    if (left.target()->references == 1 || right.target()->references == 1) return false;
    const auto window = [](const value& v) { return std::uint64_t{v.offset()} << 32 | v.length(); };
    return !met_.insert({left.target(), right.target(), window(left), window(right)}).second;
}

answer comparison::compare(const value& left, const value& right) {
    const auto decide = [](bool same) { return same ? answer::equal : answer::different; };
    if (left.type() != right.type()) {
        const bool numbers = counts_as_number(left) && counts_as_number(right);
        return decide(numbers && compare_numbers(left, right) == 0);
    }
    switch (left.type()) {
    case kind::nil:
    case kind::unbound: return answer::equal;
    case kind::boolean:
    case kind::integer: return decide(left.as_integer() == right.as_integer());
    case kind::real: return decide(left.as_real() == right.as_real());
    case kind::string: return decide(string_bytes(left) == string_bytes(right));
    case kind::list:
    case kind::map:
        if (left.length() != right.length()) return answer::different;
        if (left.length() == 0 || left.identical(right)) return answer::equal;
        return met_before(left, right) ? answer::equal : answer::look_inside;
    default: return decide(left.identical(right));
    }
}

bool comparison::run(const value& left, const value& right) {
    const value* a = &left;
    const value* b = &right;
    for (;;) {
        switch (compare(*a, *b)) {
        case answer::different: return false;
        case answer::look_inside: frames_.push_back({a, b}); break;
        case answer::equal: break;
        }
        while (!frames_.empty() && frames_.back().next == frames_.back().left->length()) {
            frames_.pop_back();
        }
        if (frames_.empty()) return true;
        pair_frame& frame = frames_.back();
        const std::size_t next = frame.next++;
        if (frame.left->is(kind::list)) {
            a = &list_items(*frame.left)[next];
            b = &list_items(*frame.right)[next];
        } else {
            const map_entry& entry = map_entries(*frame.left)[next];
            a = &entry.item;
            b = map_find(*frame.right, string_bytes(entry.key));
            if (!b) return false;
        }
    }
}

} // namespace

bool values_equal(const value& left, const value& right) { return comparison().run(left, right); }

} // namespace heddle::lang
