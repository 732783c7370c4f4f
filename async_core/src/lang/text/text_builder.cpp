#include "text_builder.hpp"

#include "given_back.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

text_builder::~text_builder() { drop_pieces(); }

/// From the last to the first: the allocator returns to the system what is at its end, so what
/// goes in another order goes all at once when the last piece does. It may also wait until there is
/// much, so the pages of a long text go one piece at a time.
void text_builder::drop_pieces() noexcept {
    constexpr std::size_t many = 256;
    const bool is_long = pieces_.size() > many;
    while (!pieces_.empty()) {
        const std::size_t bytes = pieces_.back().size();
        if (is_long) discard_pages(pieces_.back().data(), pieces_.back().capacity());
        pieces_.pop_back();
        if (!work_.stopped()) (void)work_.spend_bytes(bytes);
    }
}

void text_builder::put_tail_away() {
    put_away_ += tail_.size();
    pieces_.push_back(std::exchange(tail_, {}));
    tail_.reserve(piece + piece / 8);
    paid_ = 0;
}

bool text_builder::append(std::string_view text) {
    while (!text.empty()) {
        // Between characters: each piece is a text by itself.
        const std::size_t room = piece - std::min(piece, tail_.size());
        const std::string_view taken = utf8::prefix(text, room);
        if (taken.empty()) put_tail_away();
        tail_.append(taken);
        text.remove_prefix(taken.size());
        if (!settle()) return false;
    }
    return true;
}

std::optional<std::string> text_builder::text() && {
    if (pieces_.empty()) return std::move(tail_);
    std::string whole;
    whole.reserve(size() + 1); // a line end may follow
    pieces_.push_back(std::move(tail_));
    for (const std::string& each : pieces_) {
        if (!work_.spend_bytes(each.size())) return std::nullopt;
        whole += each;
    }
    drop_pieces();
    return whole;
}

std::optional<value> text_builder::to_value(heap& memory) && {
    if (pieces_.empty()) return make_valid_string(memory, tail_);
    value whole = make_string_with_capacity(memory, size());
    pieces_.push_back(std::move(tail_));
    for (const std::string& each : pieces_) {
        if (!work_.spend_bytes(each.size())) return std::nullopt;
        whole = string_concat(memory, std::move(whole), each);
    }
    drop_pieces();
    return whole;
}

std::optional<value> make_long_string(heap& memory, std::string_view text, work_meter& work) {
    constexpr std::size_t piece = 64 * 1024;
    if (text.size() <= piece) return make_valid_string(memory, text);
    value whole = make_string_with_capacity(memory, text.size());
    while (!text.empty()) {
        const std::string_view now = utf8::prefix(text, piece);
        if (!work.spend_bytes(now.size())) return std::nullopt;
        whole = string_concat(memory, std::move(whole), now);
        text.remove_prefix(now.size());
    }
    return whole;
}

} // namespace heddle::lang
