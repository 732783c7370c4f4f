#include "lang/codec/value_reader.hpp"

#include "lang/codec/format.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <bit>

namespace heddle::lang::codec {

error byte_reader::malformed() {
    return error(heddle::errc::io_error, "the recorded answer is damaged")
        .with_hint("it was changed, or written by another version of heddle");
}

result<std::uint8_t> byte_reader::byte() {
    if (left() == 0) return malformed();
    return static_cast<std::uint8_t>(bytes_[at_++]);
}

result<std::uint64_t> byte_reader::number() {
    std::uint64_t built = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        HEDDLE_TRY(const std::uint8_t next, byte());
        if (shift == 63 && next > 1) break;
        built |= std::uint64_t{next & 0x7FU} << shift;
        if (next < 0x80) return built;
    }
    return malformed();
}

result<std::uint64_t> byte_reader::count() {
    HEDDLE_TRY(const std::uint64_t many, number());
    if (many > left() || many > value::max_length) return malformed();
    return many;
}

result<std::string_view> byte_reader::text() {
    HEDDLE_TRY(const std::uint64_t size, count());
    const std::string_view found = bytes_.substr(at_, size);
    at_ += size;
    return found;
}

result<std::uint64_t> byte_reader::word() {
    std::uint64_t built = 0;
    for (int shift = 0; shift < 64; shift += 8) {
        HEDDLE_TRY(const std::uint8_t next, byte());
        built |= std::uint64_t{next} << shift;
    }
    return built;
}

void value_reader::note(const value& part) {
    numbered_.push_back(part);
    charge_.set(memory_, open_.capacity() * sizeof(frame) + numbered_.capacity() * sizeof(value));
}

result<void> value_reader::make_room(std::size_t bytes) {
    // What both tables double to is among it.
    std::size_t more = 0;
    if (open_.size() == open_.capacity()) more += (open_.size() + 1) * sizeof(frame);
    if (numbered_.size() == numbered_.capacity()) more += (numbered_.size() + 1) * sizeof(value);
    if (memory_.can_allocate(bytes + more)) return {};
    return error(errc::limit, "a recorded answer needs more memory than is left");
}

result<void> value_reader::text_part(std::uint8_t mark, bool numbered, value& out) {
    HEDDLE_TRY(const std::string_view text, from_.text());
    if (!utf8::is_valid(text)) return byte_reader::malformed();
    HEDDLE_CHECK(make_room(sizeof(string_object) + text.size()));
    out = mark == mark_symbol ? memory_.symbol(text) : make_valid_string(memory_, text);
    if (numbered) note(out);
    return {};
}

result<void> value_reader::window(value& out) {
    HEDDLE_TRY(const std::uint64_t number, from_.number());
    HEDDLE_TRY(const std::uint64_t first, from_.number());
    HEDDLE_TRY(const std::uint64_t length, from_.number());
    if (number >= numbered_.size()) return byte_reader::malformed();
    const value& whole = numbered_[number];
    if (!whole.is(kind::string) && !whole.is(kind::list)) return byte_reader::malformed();
    if (length == 0 || first > whole.length() || length > whole.length() - first)
        return byte_reader::malformed();
    HEDDLE_CHECK(
        make_room(sizeof(list_object) + std::min<std::size_t>(length, 64) * sizeof(value)));
    if (whole.is(kind::list)) {
        out = list_slice(whole, first, first + length);
        return {};
    }
    const std::string_view text = string_bytes(whole);
    const auto splits = [&](std::uint64_t at) {
        return at < text.size() && utf8::is_continuation(text[at]);
    };
    if (splits(first) || splits(first + length)) return byte_reader::malformed();
    out = string_window(whole, first, first + length);
    return {};
}

result<bool> value_reader::begin(std::uint8_t mark, bool numbered, value& out) {
    HEDDLE_TRY(const std::uint64_t many, from_.count());
    const bool list = mark == mark_list;
    // Each part that any of the open ones misses takes at least one byte.
    missing_ += list ? many : 2 * many;
    if (missing_ > from_.left()) return byte_reader::malformed();
    out = list ? value::empty_list() : value::empty_map();
    if (many == 0) {
        if (numbered) return byte_reader::malformed(); // it has no storage to be shared
        return true;
    }
    // A map has at most twice its capacity of numbers beside it, and that is a power of two.
    const std::size_t each = list ? sizeof(value) : 2 * (sizeof(map_entry) + 8);
    HEDDLE_CHECK(make_room(sizeof(map_object) + (many + 4) * each));
    out = list ? make_list_with_capacity(memory_, many) : make_map_with_capacity(memory_, many);
    open_.push_back({std::move(out), {}, static_cast<std::uint32_t>(many), numbered});
    charge_.set(memory_, open_.capacity() * sizeof(frame) + numbered_.capacity() * sizeof(value));
    return false;
}

result<bool> value_reader::part(value& out) {
    HEDDLE_TRY(const std::uint8_t mark, from_.byte());
    if (mark >= first_small) {
        out = value::integer(mark - first_small);
        return true;
    }
    const bool numbered = (mark & mark_numbered) != 0;
    switch (mark & ~mark_numbered) {
    case mark_string:
    case mark_symbol: HEDDLE_CHECK(text_part(mark & ~mark_numbered, numbered, out)); return true;
    case mark_list:
    case mark_map: return begin(mark & ~mark_numbered, numbered, out);
    default: break;
    }
    switch (mark) {
    case mark_nil: out = value(); return true;
    case mark_false: out = value::boolean(false); return true;
    case mark_true: out = value::boolean(true); return true;
    case mark_integer: {
        HEDDLE_TRY(const std::uint64_t number, from_.number());
        out = value::integer(unfolded(number));
        return true;
    }
    case mark_real: {
        HEDDLE_TRY(const std::uint64_t bits, from_.word());
        out = value::real(std::bit_cast<double>(bits));
        return true;
    }
    case mark_again: {
        HEDDLE_TRY(const std::uint64_t number, from_.number());
        if (number >= numbered_.size()) return byte_reader::malformed();
        out = numbered_[number];
        return true;
    }
    case mark_window: HEDDLE_CHECK(window(out)); return true;
    default: return byte_reader::malformed();
    }
}

result<void> value_reader::read_key() {
    value key;
    HEDDLE_TRY(const bool whole, part(key));
    // A key is a string, so no part of it comes first.
    if (!whole || !key.is(kind::string)) return byte_reader::malformed();
    open_.back().key = std::move(key);
    return {};
}

result<value> value_reader::read() {
    value done;
    HEDDLE_TRY(bool whole, part(done));
    for (;;) {
        if (whole) {
            if (open_.empty()) return done;
            frame& inner = open_.back();
            if (inner.whole.is(kind::list)) {
                inner.whole = list_push_back(memory_, std::move(inner.whole), std::move(done));
            } else {
                const std::uint32_t before = inner.whole.length();
                inner.whole =
                    map_put(memory_, std::move(inner.whole), std::move(inner.key), std::move(done));
                if (inner.whole.length() == before) return byte_reader::malformed();
            }
            if (--inner.left == 0) {
                done = std::move(inner.whole);
                const bool numbered = inner.numbered;
                open_.pop_back();
                if (numbered) note(done);
                continue;
            }
        }
        if (open_.back().whole.is(kind::map)) {
            --missing_;
            HEDDLE_CHECK(read_key());
        }
        --missing_;
        auto next = part(done);
        if (!next) return std::move(next).error();
        whole = *next;
    }
}

} // namespace heddle::lang::codec
