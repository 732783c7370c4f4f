#include "lang/codec/value_writer.hpp"

#include "lang/codec/format.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <bit>

namespace heddle::lang::codec {

namespace {

/// Shorter texts are written again rather than referred to.
constexpr std::uint32_t shortest_window = 8;

[[nodiscard]] bool is_shared(const value& part) noexcept {
    const object* storage = part.target();
    return storage && storage->references > 1 && part.length() != 0;
}

} // namespace

void put_number(std::string& out, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
    out.push_back(static_cast<char>(number));
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, text.size());
    out.append(text);
}

void value_writer::put_mark(std::uint8_t mark, bool numbered) {
    out_.push_back(static_cast<char>(numbered ? mark | mark_numbered : mark));
}

void value_writer::note(const value& part) {
    const std::uint64_t number = next_number_++;
    numbers_.emplace(window_of(part), number);
    if (!part.is(kind::string) && !part.is(kind::list)) return;
    const known mine{number, part.offset(), part.length()};
    const auto [place, added] = longest_.try_emplace(part.target(), mine);
    if (!added && place->second.length < mine.length) place->second = mine;
}

bool value_writer::put_again(const value& part) {
    if (const std::uint64_t* number = numbers_.find(window_of(part))) {
        put_mark(mark_again, false);
        put_number(out_, *number);
        return true;
    }
    if (part.is(kind::string) ? part.length() < shortest_window : !part.is(kind::list))
        return false;
    const auto found = longest_.find(part.target());
    if (found == longest_.end()) return false;
    const known& whole = found->second;
    if (part.offset() < whole.offset ||
        part.offset() + std::uint64_t{part.length()} > whole.offset + std::uint64_t{whole.length})
        return false;
    put_mark(mark_window, false);
    put_number(out_, whole.number);
    put_number(out_, part.offset() - whole.offset);
    put_number(out_, part.length());
    return true;
}

void value_writer::put_string(const value& part) {
    const bool numbered = is_shared(part);
    if (numbered && put_again(part)) return;
    put_mark(mark_string, numbered);
    put_text(out_, string_bytes(part));
    if (numbered) note(part);
}

result<void> value_writer::put(const value& part) {
    switch (part.type()) {
    case kind::nil: put_mark(mark_nil, false); return {};
    case kind::boolean: put_mark(part.as_boolean() ? mark_true : mark_false, false); return {};
    case kind::integer: {
        const std::int64_t number = part.as_integer();
        if (number >= 0 && number < small_integers) {
            out_.push_back(static_cast<char>(first_small + number));
            return {};
        }
        put_mark(mark_integer, false);
        put_number(out_, folded(number));
        return {};
    }
    case kind::real: {
        put_mark(mark_real, false);
        const auto bits = std::bit_cast<std::uint64_t>(part.as_real());
        for (int shift = 0; shift < 64; shift += 8)
            out_.push_back(static_cast<char>(bits >> shift));
        return {};
    }
    case kind::string: put_string(part); return {};
    case kind::symbol:
        if (put_again(part)) return {};
        put_mark(mark_symbol, true);
        put_text(out_, symbol_name(part));
        note(part);
        return {};
    case kind::list:
    case kind::map:
        if (is_shared(part) && put_again(part)) return {};
        put_mark(part.is(kind::list) ? mark_list : mark_map, is_shared(part));
        put_number(out_, part.length());
        if (part.length() != 0) open_.push_back({&part, 0});
        return {};
    default: break;
    }
    if (policy_ == if_no_data::fail) return no_data(part);
    put_mark(mark_string, false);
    put_text(out_, print_value(part, {.max_bytes = 256}));
    return {};
}

result<void> value_writer::write(const value& data) {
    HEDDLE_CHECK(put(data));
    for (;;) {
        if (out_.size() > max_bytes_) {
            return error(errc::limit,
                         "the value needs more than " + std::to_string(max_bytes_) + " bytes");
        }
        if (open_.empty()) return {};
        frame& inner = open_.back();
        const value& whole = *inner.whole;
        if (inner.next == whole.length()) {
            open_.pop_back();
            if (is_shared(whole)) note(whole);
            continue;
        }
        const std::uint32_t at = inner.next++;
        if (whole.is(kind::list)) {
            HEDDLE_CHECK(put(list_items(whole)[at]));
            continue;
        }
        const map_entry& entry = map_entries(whole)[at];
        put_string(entry.key);
        HEDDLE_CHECK(put(entry.item));
    }
}

std::string value_writer::path() const {
    constexpr std::size_t shown = 8;
    std::string built;
    std::size_t at = 0;
    if (open_.size() > shown) {
        at = open_.size() - shown;
        built = "…";
    }
    for (; at < open_.size(); ++at) {
        const frame& each = open_[at];
        const std::uint32_t index = each.next - 1;
        const std::string step =
            each.whole->is(kind::list)
                ? std::to_string(index)
                : print_value(map_entries(*each.whole)[index].key, {.max_bytes = 64});
        built += "[" + step + "]";
    }
    return built;
}

error value_writer::no_data(const value& part) const {
    const std::string what = print_value(part, {.max_bytes = 128});
    const std::string where = path();
    return error(errc::type, what + (where.empty() ? "" : " at " + where) + " is not data")
        .with_hint("only nil, booleans, numbers, strings, symbols, lists and maps can be stored");
}

} // namespace heddle::lang::codec
