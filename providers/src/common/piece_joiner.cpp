#include "common/piece_joiner.hpp"

#include <heddle/base/utf8.hpp>

namespace heddle::providers {

namespace {

std::string& string_of(ports::chat_response& response, grown_string which, std::size_t index) {
    switch (which) {
    case grown_string::text: break;
    case grown_string::refusal: return response.refusal;
    case grown_string::reasoning: return response.reasoning[index].text;
    case grown_string::arguments: return response.tool_calls[index].arguments_json;
    }
    return response.text;
}

} // namespace

char32_t piece_joiner::take_half(grown_string which, std::size_t index) {
    const auto found = waiting_.find({which, index});
    if (found == waiting_.end()) return 0;
    const char32_t half = found->second;
    waiting_.erase(found);
    return half;
}

std::string_view piece_joiner::append(ports::chat_response& response, grown_string which,
                                      std::size_t index, std::string_view piece) {
    if (piece.empty()) return {};
    std::string& out = string_of(response, which, index);
    const std::size_t before = out.size();
    const split_string* split = reader_.find_split(piece);
    if (const char32_t high = waiting_.empty() ? 0 : take_half(which, index); high != 0) {
        if (split && split->low != 0) {
            utf8::append(out, utf8::join_surrogates(high, split->low));
            piece.remove_prefix(utf8::replacement.size());
        } else {
            out += utf8::replacement;
        }
    }
    if (split && split->high != 0) {
        piece.remove_suffix(utf8::replacement.size());
        waiting_.emplace(std::pair(which, index), split->high);
    }
    out += piece;
    return std::string_view(out).substr(before);
}

std::string_view piece_joiner::end_text(ports::chat_response& response) {
    if (waiting_.empty() || take_half(grown_string::text, 0) == 0) return {};
    response.text += utf8::replacement;
    return std::string_view(response.text).substr(response.text.size() - utf8::replacement.size());
}

void piece_joiner::end(ports::chat_response& response) {
    for (const auto& [place, half] : waiting_) {
        string_of(response, place.first, place.second) += utf8::replacement;
    }
    waiting_.clear();
}

} // namespace heddle::providers
