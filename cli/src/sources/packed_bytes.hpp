// Numbers and strings, encoded as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::cli {

/// Appends to a string; unpacked_bytes reads it in the same order.
class packed_bytes {
public:
    void add(std::uint64_t number) {
        for (unsigned shift = 0; shift < 64; shift += 8)
            all_ += static_cast<char>(number >> shift & 0xFFU);
    }
    void add(std::string_view text) {
        add(std::uint64_t{text.size()});
        all_ += text;
    }
    [[nodiscard]] std::string take() { return std::move(all_); }

private:
    std::string all_;
};

/// Reads what packed_bytes has made; what is not there is zero or empty, and is_whole() false.
class unpacked_bytes {
public:
    /// `all` outlives it.
    explicit unpacked_bytes(std::string_view all) : left_(all) {}

    [[nodiscard]] std::uint64_t number() noexcept {
        std::uint64_t number = 0;
        const std::string_view bytes = cut(8);
        for (std::size_t i = bytes.size(); i-- > 0;)
            number = number << 8U | static_cast<unsigned char>(bytes[i]);
        return number;
    }
    [[nodiscard]] std::string text() {
        const std::uint64_t size = number();
        return std::string(cut(size));
    }
    /// How many things follow, each of which takes eight bytes or more.
    [[nodiscard]] std::size_t count() noexcept {
        const std::uint64_t count = number();
        if (count <= left_.size() / 8) return static_cast<std::size_t>(count);
        is_whole_ = false;
        return 0;
    }
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

private:
    [[nodiscard]] std::string_view cut(std::uint64_t size) noexcept {
        if (size > left_.size()) {
            is_whole_ = false;
            left_ = {};
            return {};
        }
        const std::string_view front = left_.substr(0, static_cast<std::size_t>(size));
        left_.remove_prefix(front.size());
        return front;
    }

    std::string_view left_;
    bool is_whole_ = true;
};

} // namespace heddle::cli
