#include <heddle/lang/equality.hpp>

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/value/number_order.hpp"
#include "lang/value/window_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// Two lists or maps of the same length whose rest is still to be compared.
struct pair_frame {
    const value* left;
    const value* right;
    std::size_t next = 0;
};

/// Which windows on storage are known, or assumed, to be equal: sets of them, merged as they are
/// met together (as Hopcroft and Karp compare automata). Each merge leaves a set less, so the pairs
/// that are looked inside are no more than the windows are.
class equal_sets {
public:
    /// False when the two were in one set already.
    [[nodiscard]] bool merge(const value& left, const value& right) {
        std::size_t a = root(number_of(left));
        std::size_t b = root(number_of(right));
        if (a == b) return false;
        if (sizes_[a] < sizes_[b]) std::swap(a, b);
        parents_[b] = a;
        sizes_[a] += sizes_[b];
        return true;
    }

private:
    [[nodiscard]] std::size_t number_of(const value& v) {
        const auto [number, added] = numbers_.emplace(window_of(v), parents_.size());
        if (added) {
            parents_.push_back(*number);
            sizes_.push_back(1);
        }
        return *number;
    }
    [[nodiscard]] std::size_t root(std::size_t at) noexcept {
        while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
        return at;
    }

    window_table<std::size_t> numbers_;
    std::vector<std::size_t> parents_;
    std::vector<std::size_t> sizes_;
};

enum class answer : std::uint8_t { equal, different, look_inside, stopped };

class comparison {
public:
    explicit comparison(work_meter& work) : work_(work) {}
    [[nodiscard]] std::optional<bool> run(const value& left, const value& right);

private:
    [[nodiscard]] answer compare(const value& left, const value& right);
    [[nodiscard]] answer compare_texts(std::string_view left, std::string_view right);
    [[nodiscard]] bool met_before(const value& left, const value& right);

    work_meter& work_;
    std::vector<pair_frame> frames_;
    // A value in which parts are shared may be exponentially larger than its storage. A pair that
    // was met before needs no second look: had it differed, the comparison would be over.
    std::optional<equal_sets> met_;
};

bool comparison::met_before(const value& left, const value& right) {
    if (left.target()->references == 1 || right.target()->references == 1) return false;
    if (!met_) met_.emplace();
    return !met_->merge(left, right);
}

answer comparison::compare_texts(std::string_view left, std::string_view right) {
    constexpr std::size_t piece = 64 * 1024;
    if (left.size() != right.size()) return answer::different;
    if (left.data() == right.data()) return answer::equal;
    for (std::size_t at = 0; at < left.size(); at += piece) {
        if (!work_.spend_bytes(std::min(piece, left.size() - at))) return answer::stopped;
        if (left.substr(at, piece) != right.substr(at, piece)) return answer::different;
    }
    return answer::equal;
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
    case kind::string: return compare_texts(string_bytes(left), string_bytes(right));
    case kind::list:
    case kind::map:
        if (left.length() != right.length()) return answer::different;
        if (left.length() == 0 || left.identical(right)) return answer::equal;
        return met_before(left, right) ? answer::equal : answer::look_inside;
    default: return decide(left.identical(right));
    }
}

std::optional<bool> comparison::run(const value& left, const value& right) {
    const value* a = &left;
    const value* b = &right;
    for (;;) {
        if (!work_.spend(1)) return std::nullopt;
        switch (compare(*a, *b)) {
        case answer::stopped: return std::nullopt;
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
            if (!work_.spend_bytes(entry.key.length())) return std::nullopt;
            a = &entry.item;
            b = map_find(*frame.right, string_bytes(entry.key));
            if (!b) return false;
        }
    }
}

} // namespace

bool values_equal(const value& left, const value& right) {
    free_work work;
    return *values_equal(left, right, work);
}

std::optional<bool> values_equal(const value& left, const value& right, work_meter& work) {
    // Most comparisons are of numbers, symbols and short strings.
    if (left.type() == right.type()) {
        if (left.is_integer()) return left.as_integer() == right.as_integer();
        if (left.is(kind::symbol)) return left.identical(right);
        if (left.is(kind::string) && left.length() != right.length()) return false;
    }
    return comparison(work).run(left, right);
}

} // namespace heddle::lang
