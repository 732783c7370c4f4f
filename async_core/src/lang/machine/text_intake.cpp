#include <heddle/lang/text_intake.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

text_intake::text_intake(heap& memory, std::string text)
    : memory_(memory), text_(std::move(text)) {}

/// Of what is left: it does not end inside a character.
std::string_view text_intake::next_piece() noexcept {
    constexpr std::size_t piece = 128 * 1024;
    std::string_view now = std::string_view(text_).substr(at_, piece);
    if (at_ + now.size() != text_.size()) now.remove_suffix(utf8::incomplete_end(now));
    at_ += now.size();
    return now;
}

bool text_intake::go_on() {
    const std::string_view now = next_piece();
    const bool valid = utf8::is_valid(now);
    std::string replaced;
    if (!valid) utf8::append_valid(replaced, now);
    std::string_view text = valid ? now : std::string_view(replaced);
    if (!checked_) {
        bytes_ += text.size();
        if (at_ != text_.size()) return false;
        checked_ = true;
        if (bytes_ == 0) {
            whole_ = value::empty_string();
            return true;
        }
        if (now.size() != text_.size()) { // of several pieces: copied in the next turns
            at_ = 0;
            return false;
        }
    }
    constexpr std::size_t most = value::max_length - 1;
    if (whole_.is_nil()) whole_ = make_string_with_capacity(memory_, std::min(bytes_, most));
    text = utf8::prefix(text, most - whole_.length());
    whole_ = string_concat(memory_, std::move(whole_), text);
    return at_ == text_.size();
}

} // namespace heddle::lang
