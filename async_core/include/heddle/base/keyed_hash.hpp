// Hashes that hostile input cannot predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heddle {

/// The key of a table's hashes. A random key keeps crafted strings from colliding in every table.
struct hash_key {
    std::uint64_t first;
    std::uint64_t second;
};

/// A new key, from the system's source of random numbers.
[[nodiscard]] hash_key random_hash_key();

/// The two halves of the 128-bit product, combined with XOR.
[[nodiscard]] inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Keyed multiplication of 16 bytes at a time (the way of wyhash).
[[nodiscard]] inline std::uint64_t hash_text(const hash_key& key, std::string_view text) noexcept {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t hash = key.first ^ text.size() * 0x9E3779B97F4A7C15ULL;
    const auto word = [](const char* from, std::size_t bytes) {
        std::uint64_t loaded = 0;
        std::memcpy(&loaded, from, bytes);
        return loaded;
    };
    for (; left > 16; left -= 16, at += 16)
        hash = folded_product(hash ^ word(at, 8), key.second ^ word(at + 8, 8));
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (left >= 8) { // the two words overlap
        a = word(at, 8);
        b = word(at + left - 8, 8);
    } else if (left >= 4) {
        a = word(at, 4);
        b = word(at + left - 4, 4);
    } else if (left != 0) {
        a = static_cast<unsigned char>(at[0]) |
            std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
            std::uint64_t{static_cast<unsigned char>(at[left - 1])} << 16;
    }
    hash = folded_product(hash ^ a, key.second ^ b);
    return folded_product(hash ^ key.second, key.first ^ 0xBF58476D1CE4E5B9ULL);
}

/// A key that every process chooses for itself when it is asked for first. Threads: any.
[[nodiscard]] const hash_key& hash_key_of_process();

/// Of the names of a program, which may be hostile, for tables that hold no key of their own.
struct name_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view name) const noexcept {
        return hash_text(hash_key_of_process(), name);
    }
};

/// For tables of the standard library.
struct keyed_hash {
    hash_key key;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return hash_text(key, text);
    }
};

} // namespace heddle
