// What the benches of codecs share.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace heddle::bench {

/// Nanoseconds of one `work`: the best of five runs of `rounds` each.
template <class Work>
[[nodiscard]] double best_nanoseconds(int rounds, Work work) {
    double best = 1e300;
    for (int run = 0; run < 5; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) work();
        const std::chrono::duration<double, std::nano> time =
            std::chrono::steady_clock::now() - begin;
        best = std::min(best, time.count() / rounds);
    }
    return best;
}

/// A system prompt and `bytes` bytes of a user.
[[nodiscard]] inline ports::chat_request request_of(std::size_t bytes, std::string model) {
    ports::chat_request request;
    request.model = std::move(model);
    std::string text;
    while (text.size() < bytes) text += "Summarise the row with the number 12 in one line.\n";
    text.resize(bytes);
    request.messages.push_back(
        {ports::chat_role::system, "You are a terse assistant.", {}, {}, {}});
    request.messages.push_back({ports::chat_role::user, std::move(text), {}, {}, {}});
    return request;
}

} // namespace heddle::bench
