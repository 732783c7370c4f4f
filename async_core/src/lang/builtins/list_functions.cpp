#include "lang/builtins/list_functions.hpp"

#include <heddle/lang/equality.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/arithmetic.hpp"
#include "lang/builtins/support.hpp"
#include "lang/text/given_back.hpp"
#include "lang/text/text_search.hpp"
#include "lang/value/hash.hpp"
#include "lang/value/seen_lists.hpp"
#include "lang/value/window_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] value integer_range(native_call& call, std::int64_t from, std::int64_t to,
                                  std::int64_t step) {
    if ((step > 0 && from >= to) || (step < 0 && from <= to)) return value::empty_list();
    // Without a sign nothing overflows: the distance of two integers fits 64 bits so.
    const auto low = static_cast<std::uint64_t>(step > 0 ? from : to);
    const auto high = static_cast<std::uint64_t>(step > 0 ? to : from);
    const auto width = step > 0 ? static_cast<std::uint64_t>(step)
                                : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    const std::uint64_t count = (high - low - 1) / width + 1;
    if (!reserve_elements(call, count) || !call.expect(count)) return {};
    value list = make_list_with_capacity(call.memory(), count);
    auto* storage = static_cast<list_object*>(list.target());
    auto item = static_cast<std::uint64_t>(from);
    for (std::uint64_t i = 0; i < count; ++i, item += static_cast<std::uint64_t>(step)) {
        // What is there belongs to the list, in case that it goes.
        if (i % 1024 == 1023) storage->end = static_cast<std::uint32_t>(i);
        if (i % 1024 == 1023 && !call.spend(1024)) return {};
        new (storage->items() + i) value(value::integer(static_cast<std::int64_t>(item)));
    }
    storage->end = static_cast<std::uint32_t>(count);
    if (!call.spend(count % 1024)) return {};
    return std::move(list).window(0, count);
}

[[nodiscard]] value real_range(native_call& call, double from, double to, double step) {
    const double steps = std::ceil((to - from) / step);
    if (std::isnan(steps)) return call.fail_evaluation("the bounds must be finite");
    if (steps <= 0) return value::empty_list();
    const auto most = static_cast<double>(value::max_length) + 1;
    const auto count = static_cast<std::size_t>(std::min(steps, most));
    if (!reserve_elements(call, count) || !call.expect(count)) return {};
    value list = make_list_with_capacity(call.memory(), count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!call.spend(1)) return {};
        list = list_push_back(call.memory(), std::move(list),
                              value::real(from + static_cast<double>(i) * step));
    }
    return list;
}

} // namespace

value range_of_numbers(native_call& call, arguments_span a) {
    bool real = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].is_integer() && !a[i].is_real()) return call.fail_type(i + 1, "a number", a[i]);
        real = real || a[i].is_real();
    }
    const value zero = value::integer(0);
    const value one = value::integer(1);
    const value& from = a.size() == 1 ? zero : a[0];
    const value& to = a.size() == 1 ? a[0] : a[1];
    const value& step = a.size() == 3 ? a[2] : one;
    if (compare_numbers(step, zero) == 0) return call.fail_evaluation("the step must not be 0");
    if (!real) return integer_range(call, from.as_integer(), to.as_integer(), step.as_integer());
    const auto as_double = [](const value& v) {
        return v.is_real() ? v.as_real() : static_cast<double>(v.as_integer());
    };
    return real_range(call, as_double(from), as_double(to), as_double(step));
}

namespace {

/// Sorts from below, run by run, each twice as long: n log n comparisons whatever the list. Equal
/// elements keep their order.
class sorting {
public:
    sorting(native_call& call, std::span<const value> items, bool strings)
        : call_(call), items_(items), strings_(strings) {}

    [[nodiscard]] value run() {
        const std::size_t size = items_.size();
        if (!call_.expect(size * static_cast<std::size_t>(std::bit_width(size)))) return {};
        if (!fill()) return {};
        for (std::size_t width = first_run; width < size; width *= 2) {
            for (std::size_t at = 0; at < size; at += 2 * width) {
                if (!merge(at, std::min(at + width, size), std::min(at + 2 * width, size)))
                    return {};
            }
            from_.swap(to_);
        }
        value sorted = make_list_with_capacity(call_.memory(), size);
        for (const value* each : from_) {
            if (!call_.spend(1)) return {};
            sorted = list_push_back(call_.memory(), std::move(sorted), *each);
        }
        return sorted;
    }

private:
    static constexpr std::size_t first_run = 8;

    /// Runs that are sorted by insertion. What is not a number in spite of its type goes to the
    /// end: it is in no order with the others.
    [[nodiscard]] bool fill() {
        const std::size_t size = items_.size();
        from_.reserve(size);
        for (const bool last : {false, true}) {
            for (const value& item : items_) {
                if (is_last(item) == last) from_.push_back(&item);
                if (!call_.spend(1)) return false;
            }
        }
        for (std::size_t begin = 0; begin < size; begin += first_run) {
            const std::size_t end = std::min(begin + first_run, size);
            for (std::size_t i = begin + 1; i < end; ++i) {
                for (std::size_t k = i; k > begin && less(*from_[k], *from_[k - 1]); --k)
                    std::swap(from_[k], from_[k - 1]);
            }
            if (!call_.spend(first_run)) return false;
        }
        to_.resize(size);
        return true;
    }
    [[nodiscard]] bool merge(std::size_t begin, std::size_t middle, std::size_t end) {
        std::size_t left = begin;
        std::size_t right = middle;
        for (std::size_t at = begin; at < end; ++at) {
            const bool takes_right =
                right < end && (left == middle || less(*from_[right], *from_[left]));
            to_[at] = takes_right ? from_[right++] : from_[left++];
            if (!call_.spend(1)) return false;
        }
        return true;
    }
    [[nodiscard]] static bool is_last(const value& v) noexcept {
        return v.is_real() && std::isnan(v.as_real());
    }
    /// False also when the call has to stop.
    [[nodiscard]] bool less(const value& x, const value& y) {
        constexpr std::uint64_t work_of_looks = 6; // at two objects anywhere in the memory
        if (!strings_) {
            if (x.is_integer() && y.is_integer()) return x.as_integer() < y.as_integer();
            return compare_numbers(x, y) == -1;
        }
        if (x.identical(y) || !call_.spend(work_of_looks)) return false;
        const auto order = compare_texts(call_, string_bytes(x), string_bytes(y));
        return order && *order < 0;
    }

    native_call& call_;
    std::span<const value> items_;
    bool strings_;
    std::vector<const value*> from_;
    std::vector<const value*> to_;
};

/// Values, each once, found by their hashes. Its tables do not grow, and are not cleared or dropped
/// in one long step.
class distinct_values {
public:
    distinct_values(native_call& call, std::size_t most)
        : call_(call), hasher_(call.memory(), call.work()), mask_(std::bit_ceil(most * 2 + 1) - 1),
          // Pages of zeros, which the system makes as they are needed.
          places_(static_cast<std::uint32_t*>(std::calloc(mask_ + 1, sizeof(std::uint32_t)))) {
        if (!places_) throw std::bad_alloc();
        seen_.reserve(most);
    }

    distinct_values(const distinct_values&) = delete;
    distinct_values& operator=(const distinct_values&) = delete;
    /// What is known of shared parts may be much.
    ~distinct_values() {
        while (!call_.work().stopped() && hasher_.drop_some() && call_.spend(256)) {}
        give_back_pages(places_.get(), (mask_ + 1) * sizeof(std::uint32_t), call_.work());
        give_back_pages_of(seen_, call_.work());
    }

    /// Whether it equals none before. Nothing: stop.
    [[nodiscard]] std::optional<bool> add(const value& v) {
        const auto hash = hasher_.hash(v);
        if (!hash || !call_.spend(work_of_a_look)) return std::nullopt;
        std::size_t place = *hash & mask_;
        for (; places_[place] != 0; place = (place + 1) & mask_) {
            const entry& other = seen_[places_[place] - 1];
            if (other.hash != *hash) continue;
            // The same part may stand in many places.
            if (v.target() && v.identical(*other.content)) return false;
            const auto same = equals(*other.content, v);
            if (!same || *same) return same ? std::optional(false) : std::nullopt;
        }
        seen_.push_back({*hash, &v});
        places_[place] = static_cast<std::uint32_t>(seen_.size());
        return true;
    }

private:
    struct entry {
        std::uint64_t hash;
        const value* content;
    };

    /// What is large and was found to equal another one is not compared a second time.
    [[nodiscard]] std::optional<bool> equals(const value& known, const value& v) {
        constexpr std::uint32_t large = 16;
        const bool shared = v.length() > large && v.target() && v.target()->references > 1;
        if (shared) {
            const value* const* found = copies_.find(window_of(v));
            if (found && *found == &known) return true;
        }
        const auto same = values_equal(known, v, call_.work());
        if (shared && same && *same) copies_.emplace(window_of(v), &known);
        return same;
    }

    /// A look into a large table meets memory that is far away.
    static constexpr std::uint64_t work_of_a_look = 6;

    native_call& call_;
    value_hasher hasher_;
    struct freed {
        void operator()(std::uint32_t* block) const noexcept { std::free(block); }
    };
    std::size_t mask_;                               ///< of places
    std::unique_ptr<std::uint32_t[], freed> places_; ///< in seen_, from 1; 0: free
    std::vector<entry> seen_;
    window_table<const value*> copies_;
};

} // namespace

value sort_list(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    if (items->empty()) return value::empty_list();
    const bool strings = items->front().is(kind::string);
    for (std::size_t i = 0; i < items->size(); ++i) {
        const value& item = (*items)[i];
        if (!call.spend(1)) return {};
        if (strings ? item.is(kind::string) : counts_as_number(item)) continue;
        if (i == 0) return fail_element(call, i, "a number or a string", item);
        return fail_element(call, i,
                            strings ? "a string like the first" : "a number like the first", item);
    }
    if (!reserve_elements(call, items->size() * 2)) return {};
    return sorting(call, *items, strings).run();
}

value unique_elements(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    // The set of what was seen takes more than the elements themselves.
    if (!items || !call.reserve(items->size() * 4 * sizeof(value))) return {};
    if (!call.expect(items->size() * 4)) return {};
    distinct_values seen(call, items->size());
    value list = value::empty_list();
    for (const value& item : *items) {
        const auto added = seen.add(item);
        if (!added) return {};
        if (*added && !append_element(call, list, item)) return {};
    }
    return list;
}

namespace {

/// Walks lists inside of lists. A part that occurs in several places is walked once: its result
/// is copied from its first place in the result.
class flattening {
public:
    explicit flattening(native_call& call) : call_(call) {}

    [[nodiscard]] value run(const value& list) {
        open_.push_back({&list, 0, 0});
        while (!open_.empty()) {
            level& now = open_.back();
            if (!call_.spend(1)) return {};
            if (now.next == now.list->length()) {
                close();
                continue;
            }
            const value& item = list_items(*now.list)[now.next++];
            if (!(item.is(kind::list) ? enter(item) : add(item))) return {};
        }
        return std::move(flat_);
    }

private:
    struct level {
        const value* list;
        std::size_t next;
        std::size_t from; ///< where in the result its elements begin
    };
    struct range {
        std::size_t from;
        std::size_t to;
    };

    [[nodiscard]] bool enter(const value& list) {
        constexpr std::uint64_t work_of_shared = 8; // to look for it, and to note it
        if (list.length() == 0) return true;
        if (list.target()->references > 1) {
            if (!call_.spend(work_of_shared)) return false;
            if (const range* found = known_.find(window_of(list))) {
                const range known = *found;
                for (std::size_t i = known.from; i < known.to; ++i) {
                    if (!call_.spend(1) || !add(value(list_items(flat_)[i]))) return false;
                }
                return true;
            }
        }
        open_.push_back({&list, 0, flat_.length()});
        return true;
    }
    void close() {
        const level done = open_.back();
        open_.pop_back();
        if (done.list->target() && done.list->target()->references > 1)
            known_.emplace(window_of(*done.list), range{done.from, flat_.length()});
    }
    [[nodiscard]] bool add(const value& item) {
        // Lists that share parts can be much longer flat than they are in memory.
        if (flat_.length() % 1024 == 0 && !reserve_elements(call_, flat_.length() + 1024U))
            return false;
        return append_element(call_, flat_, item);
    }

    native_call& call_;
    value flat_ = value::empty_list();
    std::vector<level> open_;
    window_table<range> known_;
};

} // namespace

value flatten_list(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items || !call.expect(items->size())) return {};
    return flattening(call).run(a[0]);
}

value zip_lists(native_call& call, arguments_span a) {
    std::size_t length = SIZE_MAX;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto items = list_argument(call, a, i);
        if (!items || !call.spend(1)) return {};
        length = std::min(length, items->size());
    }
    if (!reserve_elements(call, length)) return {};
    if (!call.reserve(length * (a.size() + 4) * sizeof(value))) return {};
    if (!call.expect(length * (a.size() + 2))) return {};
    value rows = make_list_with_capacity(call.memory(), length);
    for (std::size_t i = 0; i < length; ++i) {
        if (!call.spend(2)) return {};
        value row = make_list_with_capacity(call.memory(), a.size());
        for (const value& list : a) {
            if (!call.spend(1)) return {};
            row = list_push_back(call.memory(), std::move(row), list_items(list)[i]);
        }
        rows = list_push_back(call.memory(), std::move(rows), std::move(row));
    }
    return rows;
}

value chunk_list(native_call& call, arguments_span a) {
    const auto items = list_argument(call, a, 0);
    if (!items) return {};
    if (!a[1].is_integer() || a[1].as_integer() < 1) {
        return call.fail_type(2, "an integer of at least 1", a[1]);
    }
    const auto size = static_cast<std::size_t>(a[1].as_integer());
    const std::size_t count = items->empty() ? 0 : (items->size() - 1) / size + 1;
    if (!reserve_elements(call, count) || !call.expect(count * 2)) return {};
    value chunks = make_list_with_capacity(call.memory(), count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!call.spend(2)) return {};
        const std::size_t from = i * size;
        const std::size_t to = std::min(items->size() - from, size) + from;
        chunks = list_push_back(call.memory(), std::move(chunks), list_slice(a[0], from, to));
    }
    return chunks;
}

value index_of(native_call& call, arguments_span a) {
    if (a[0].is(kind::string)) {
        const auto part = string_argument(call, a, 1);
        if (!part) return {};
        const std::string_view text = string_bytes(a[0]);
        const auto at = text_search(*part, call.work()).find(text, 0);
        if (!at || *at == std::string_view::npos) return {};
        const auto count = count_code_points(call, text.substr(0, *at));
        return count ? value::integer(static_cast<std::int64_t>(*count)) : value();
    }
    if (!a[0].is(kind::list)) return call.fail_type(1, "a list or a string", a[0]);
    const auto items = list_items(a[0]);
    seen_lists compared;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!call.spend(1)) return {};
        const value& item = items[i];
        if ((item.is(kind::list) || item.is(kind::map)) && !compared.first_time(item)) continue;
        const auto same = values_equal(item, a[1], call.work());
        if (!same) return {};
        if (*same) return value::integer(static_cast<std::int64_t>(i));
    }
    return {};
}

value contains(native_call& call, arguments_span a) {
    if (a[0].is(kind::map)) {
        const auto key = key_argument(call, a, 1);
        if (!key) return {};
        return value::boolean(map_find(a[0], *key) != nullptr);
    }
    if (!a[0].is(kind::list) && !a[0].is(kind::string)) {
        return call.fail_type(1, "a list, a string or a map", a[0]);
    }
    const value at = index_of(call, a);
    if (call.failure()) return {};
    return value::boolean(!at.is_nil());
}

} // namespace heddle::lang
