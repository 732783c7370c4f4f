#include "text_search.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::lang {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::size_t max_short_length =
    256; ///< memmem looks for these; tables of longer ones are ours
constexpr std::size_t piece = 256 * 1024; ///< of the text, between two looks at the time

} // namespace

std::optional<std::size_t> text_search::find(std::string_view text, std::size_t from) {
    if (from > text.size() || wanted_.size() > text.size() - from) return npos;
    if (wanted_.empty()) return from;
    return wanted_.size() <= max_short_length ? find_short(text, from) : find_long(text, from);
}

std::optional<std::size_t> text_search::find_short(std::string_view text, std::size_t from) {
    while (text.size() - from >= wanted_.size()) {
        const std::size_t length = std::min(piece + wanted_.size() - 1, text.size() - from);
        const char* begin = text.data() + from;
        const void* found = wanted_.size() == 1
                                ? std::memchr(begin, wanted_[0], length)
                                : memmem(begin, length, wanted_.data(), wanted_.size());
        const std::size_t seen =
            found ? static_cast<std::size_t>(static_cast<const char*>(found) - begin) : length;
        if (!work_.spend_bytes(seen)) return std::nullopt;
        if (found) return from + seen;
        from += length - wanted_.size() + 1;
    }
    return npos;
}

/// The greatest suffix of the text in the order of bytes, or in the opposite one, and its period.
std::optional<text_search::suffix> text_search::max_suffix(bool reversed) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(wanted_[at]); };
    std::size_t begin = 0;   // of the greatest so far
    std::size_t other = 1;   // of the one that it is compared with
    std::size_t matched = 0; // bytes in which both agree
    std::size_t period = 1;
    while (other + matched < wanted_.size()) {
        if (!step()) return std::nullopt;
        const unsigned char a = byte(other + matched);
        const unsigned char b = byte(begin + matched);
        if (a == b) {
            if (++matched == period) {
                other += period;
                matched = 0;
            }
        } else if (reversed ? a > b : a < b) {
            other += matched + 1;
            matched = 0;
            period = other - begin;
        } else {
            begin = other++;
            matched = 0;
            period = 1;
        }
    }
    return suffix{begin, period};
}

/// Cuts the text in two where every local repetition is at least as long as its period.
bool text_search::split() {
    if (cut_) return true;
    const auto one = max_suffix(false);
    if (!one) return false;
    const auto two = max_suffix(true);
    if (!two) return false;
    const suffix& later = one->begin >= two->begin ? *one : *two;
    cut_ = later.begin;
    period_ = later.period;
    repeats_ = period_ + *cut_ <= wanted_.size() &&
               std::memcmp(wanted_.data(), wanted_.data() + period_, *cut_) == 0;
    if (!repeats_) period_ = std::max(*cut_, wanted_.size() - *cut_) + 1;
    return true;
}

std::optional<std::size_t> text_search::find_long(std::string_view text, std::size_t from) {
    if (!split()) return std::nullopt;
    const std::size_t size = wanted_.size();
    std::size_t known = 0; // bytes at the beginning that match already
    while (text.size() - from >= size) {
        std::size_t at = std::max(*cut_, known);
        for (; at < size && wanted_[at] == text[from + at]; ++at) {
            if (!step()) return std::nullopt;
        }
        if (!step()) return std::nullopt;
        if (at < size) {
            from += at - *cut_ + 1;
            known = 0;
            continue;
        }
        at = *cut_;
        while (at > known && wanted_[at - 1] == text[from + at - 1]) {
            if (!step()) return std::nullopt;
            --at;
        }
        if (at <= known) return from;
        from += period_;
        known = repeats_ ? size - period_ : 0;
    }
    return npos;
}

} // namespace heddle::lang
