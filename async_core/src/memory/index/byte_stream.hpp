// Numbers and texts in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::memory {

/// Appends to a string.
class byte_writer {
public:
    explicit byte_writer(std::string& out) : out_(out) {}

    void varint(std::uint64_t number) {
        while (number >= 0x80) {
            out_ += static_cast<char>(number | 0x80);
            number >>= 7;
        }
        out_ += static_cast<char>(number);
    }
    void fixed64(std::uint64_t number) {
        for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(number >> shift);
    }
    void text(std::string_view bytes) {
        varint(bytes.size());
        out_ += bytes;
    }

private:
    std::string& out_;
};

/// Reads what may be damaged: never past the end. Nothing once something did not fit.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
    [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

    /// Numbers of 32 bits with up to 5 bytes.
    [[nodiscard]] std::optional<std::uint32_t> varint() noexcept {
        const auto wide = varint64();
        if (!wide || *wide > UINT32_MAX) return std::nullopt;
        return static_cast<std::uint32_t>(*wide);
    }
    [[nodiscard]] std::optional<std::uint64_t> varint64() noexcept {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
            const auto byte = static_cast<unsigned char>(rest_[i]);
            const std::uint64_t bits = byte & 0x7FU;
            if (i == 9 && bits > 1) return std::nullopt;
            number |= bits << (7 * i);
            if ((byte & 0x80U) != 0) continue;
            if (i > 0 && byte == 0) return std::nullopt; // one spelling for one number
            rest_.remove_prefix(i + 1);
            return number;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::uint64_t> fixed64() noexcept {
        if (rest_.size() < 8) return std::nullopt;
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            number |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
        }
        rest_.remove_prefix(8);
        return number;
    }
    [[nodiscard]] std::optional<std::string_view> text() noexcept {
        const auto size = varint64();
        if (!size || *size > rest_.size()) return std::nullopt;
        const std::string_view found = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return found;
    }

private:
    std::string_view rest_;
};

} // namespace heddle::memory
