// Numbers as a JSON Schema compares them: by their value, however they are written.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace valijson::adapters {
class Adapter;
}

namespace heddle::tasks {

/// A number of a document. Whole numbers of up to 64 bits are exact; all others are as the reader
/// of JSON keeps them, which is a double, and mean the shortest decimal number that it represents.
class schema_number {
public:
    explicit schema_number(std::int64_t whole) noexcept;
    explicit schema_number(std::uint64_t whole) noexcept : magnitude_(whole) {}
    explicit schema_number(double number) noexcept;
    /// `target`: a number, of a document for which wide_numbers live.
    [[nodiscard]] static schema_number of(const valijson::adapters::Adapter& target);

    [[nodiscard]] bool is_whole() const noexcept;
    /// `divisor`: above zero.
    [[nodiscard]] bool is_multiple_of(const schema_number& divisor) const noexcept;
    /// The same for equal numbers, and for no others.
    [[nodiscard]] std::string text() const;

    friend std::weak_ordering operator<=>(const schema_number& one,
                                          const schema_number& other) noexcept;

private:
    /// digits * 10^exponent.
    struct decimal {
        std::uint64_t digits = 0;
        int exponent = 0;
    };
    [[nodiscard]] decimal digits() const noexcept;

    bool in_bits_ = true; ///< the number is `magnitude_`, with a sign
    bool negative_ = false;
    std::uint64_t magnitude_ = 0;
    double number_ = 0; ///< when not in bits: no whole number, or one of more than 64 bits
};

/// The adapter of the library hands out no whole number above the greatest std::int64_t. In a
/// document these are replaced by a NaN, which no JSON holds, that leads to the number kept here.
/// Lives while the document is looked at, on one thread; those that are made later stand before it.
class wide_numbers {
public:
    wide_numbers() noexcept;
    ~wide_numbers();
    wide_numbers(const wide_numbers&) = delete;
    wide_numbers& operator=(const wide_numbers&) = delete;

    /// What represents `number` in a document.
    [[nodiscard]] static double keep(std::uint64_t number);
    /// The number that `in_document` represents, if it does.
    [[nodiscard]] static std::optional<std::uint64_t> find(double in_document) noexcept;

private:
    std::vector<std::uint64_t> kept_;
    wide_numbers* outer_;
};

} // namespace heddle::tasks
