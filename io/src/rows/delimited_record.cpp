#include "rows/delimited_record.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::rows {

void delimited_record::begin() {
    state_ = state::start;
    broken_ = false;
    quoted_field_ = false;
    broken_field_ = 0;
    text_.clear();
    ends_.clear();
}

std::string_view delimited_record::field(std::size_t number) const noexcept {
    const std::size_t from = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(text_).substr(from, ends_[number] - from);
}

void delimited_record::append(std::string_view bytes) {
    text_.append(bytes, 0, max_bytes_ - std::min(max_bytes_, text_.size()));
}

void delimited_record::end_field() {
    // An entry takes eight bytes: no more of them than there may be text.
    if (ends_.size() < max_bytes_ / 2 + 2) ends_.push_back(text_.size());
    state_ = state::start;
    quoted_field_ = false;
}

void delimited_record::end_line() {
    const std::size_t from = ends_.empty() ? 0 : ends_.back();
    if (!quoted_field_ && text_.size() > from && text_.back() == '\r') text_.pop_back();
    end_field();
}

bool delimited_record::take(std::string_view piece) {
    std::size_t at = 0;
    while (at < piece.size()) {
        const char c = piece[at];
        switch (state_) {
        case state::start:
            if (c == '"') {
                state_ = state::quoted;
                quoted_field_ = true;
                broken_field_ = broken_ ? broken_field_ : ends_.size() + 1;
                ++at;
                break;
            }
            state_ = state::plain;
            [[fallthrough]];
        case state::plain: {
            std::size_t end = at;
            while (end < piece.size() && piece[end] != separator_ && piece[end] != '\n') ++end;
            append(piece.substr(at, end - at));
            at = end;
            if (at == piece.size()) return false;
            if (piece[at] == '\n') {
                end_line();
                return true;
            }
            end_field();
            ++at;
            break;
        }
        case state::quoted: {
            const void* const found = std::memchr(piece.data() + at, '"', piece.size() - at);
            const std::size_t end =
                found ? static_cast<std::size_t>(static_cast<const char*>(found) - piece.data())
                      : piece.size();
            append(piece.substr(at, end - at));
            at = end;
            if (!found) return false;
            state_ = state::quote;
            ++at;
            break;
        }
        case state::quote:
        case state::quote_return:
            ++at;
            if (c == '\n') {
                end_field();
                return true;
            }
            if (state_ == state::quote && c == '"') {
                append("\"");
                state_ = state::quoted;
            } else if (state_ == state::quote && c == separator_) {
                end_field();
            } else if (state_ == state::quote && c == '\r') {
                state_ = state::quote_return;
            } else {
                broken_ = true;
                state_ = state::plain;
            }
            break;
        }
    }
    return false;
}

void delimited_record::finish() {
    if (state_ == state::quoted) return;
    if (state_ == state::quote_return) state_ = state::quote;
    end_line();
}

} // namespace heddle::rows
