#include <heddle/base/keyed_hash.hpp>

#include <random>

namespace heddle {

hash_key random_hash_key() {
    std::random_device source;
    const auto word = [&] { return std::uint64_t{source()} << 32 | source(); };
    const std::uint64_t first = word();
    return {first, word()};
}

const hash_key& hash_key_of_process() {
    static const hash_key key = random_hash_key();
    return key;
}

} // namespace heddle
