#include <heddle/providers/routing/prefix_hash.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace heddle::providers {

namespace {

std::uint64_t word_at(const char* from) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

std::uint64_t mix(std::uint64_t state, std::uint64_t word) noexcept {
    state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
    return state ^ (state >> 32); // what a product knows is in its upper half
}

/// Multiplies and folds, eight bytes at a time in four lanes, which do not wait for each other. Not
/// against an enemy: a collision costs a wait, nothing else.
class mixer {
public:
    void add(std::string_view text) noexcept {
        add(text.size());
        const char* at = text.data();
        std::size_t left = text.size();
        std::array<std::uint64_t, 4> lanes{state_, state_ + 1, state_ + 2, state_ + 3};
        for (; left >= 32; at += 32, left -= 32) {
            for (std::size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], word_at(at + 8 * i));
        }
        for (const std::uint64_t lane : lanes) add(lane);
        for (; left >= 8; at += 8, left -= 8) add(word_at(at));
        std::uint64_t rest = 0;
        if (left != 0) std::memcpy(&rest, at, left);
        add(rest);
    }
    void add(std::uint64_t word) noexcept { state_ = mix(state_, word); }
    [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

private:
    std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

} // namespace

std::optional<std::uint64_t> prefix_hash(const ports::chat_request& request,
                                         std::size_t bytes) noexcept {
    std::size_t marked = 0; // messages that count, if some are marked
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
        if (request.messages[i].cache_up_to_here) marked = i + 1;
    }
    const std::size_t count = marked != 0 ? marked : request.messages.size();
    const std::size_t most = marked != 0 ? std::numeric_limits<std::size_t>::max() : bytes;
    mixer hash;
    hash.add(request.model);
    std::size_t seen = 0;
    const auto take = [&](std::string_view text) {
        text = text.substr(0, most - seen);
        seen += text.size();
        hash.add(text);
    };
    for (const ports::tool_spec& tool : request.tools) { // services put them first
        take(tool.name);
        take(tool.description);
        take(tool.parameters_json);
    }
    for (std::size_t i = 0; i < count && seen < most; ++i) {
        const ports::chat_message& message = request.messages[i];
        hash.add(static_cast<std::uint64_t>(message.role));
        take(message.text);
        for (const auto& call : message.tool_calls) take(call.arguments_json);
    }
    if (seen < bytes) return std::nullopt;
    return hash.value();
}

} // namespace heddle::providers
