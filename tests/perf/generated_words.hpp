// Text for benchmarks of the index.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle {

/// Words whose frequency falls with their rank, as in texts and programs: a few are everywhere,
/// most are rare. Word n is an identifier of two or three parts.
class vocabulary {
public:
    std::string next() {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        const double even = static_cast<double>(state_ >> 11) / 9007199254740992.0;
        const auto rank = static_cast<unsigned>(std::pow(2.0, even * 19)) - 1; // up to 524,287
        return word(rank);
    }
    static std::string word(unsigned rank) {
        std::string text = syllables(rank % 1000);
        if (rank >= 1000) text += "_" + syllables(rank / 1000 % 1000);
        return text;
    }

private:
    static std::string syllables(unsigned number) {
        static constexpr std::string_view heads = "bdfghklmnprstvwz";
        static constexpr std::string_view vowels = "aeiou";
        std::string text;
        for (number += 80; number > 0; number /= 80) {
            text += heads[number % 80 / 5];
            text += vowels[number % 5];
        }
        return text;
    }
    std::uint64_t state_ = 42;
};

} // namespace heddle
