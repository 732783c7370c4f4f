// Plain data to values of the language, and back.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/json.hpp>
#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::embed {

/// Makes a value out of data of any size, a bounded part in each turn, and frees the data as it
/// goes. Threads: the heap's.
class value_conversion {
public:
    /// `memory` outlives it.
    value_conversion(lang::heap& memory, json data) : memory_(memory), root_(std::move(data)) {}

    /// Converts about `parts` more strings, numbers and containers. Result: whether all is
    /// converted. Errors: limit_exceeded for data that is nested too deeply, or has too long a
    /// string; errc::limit of the language when the heap is full.
    [[nodiscard]] result<bool> advance(std::size_t parts);
    /// Once, when all is converted.
    [[nodiscard]] lang::value take() noexcept { return std::move(built_); }

private:
    struct level {
        json data; ///< a container; what is converted of it is gone
        lang::value built;
        std::size_t next = 0;
    };
    [[nodiscard]] result<void> enter(json data);
    [[nodiscard]] result<lang::value> scalar(const json& data);
    void put(lang::value built);

    lang::heap& memory_;
    json root_;
    bool has_begun_ = false;
    std::vector<level> open_; ///< outermost first
    lang::value built_;
};

/// All of it at once. Errors: as value_conversion.
[[nodiscard]] result<lang::value> to_value(lang::heap& memory, json data);

/// Small values may hold one part at many places, and so be data without end.
inline constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;

/// What becomes of a value that JSON cannot represent, or that is nested too deeply.
enum class unlike_json : std::uint8_t {
    printed, ///< its printed form; a float stays
    refused  ///< an error
};

/// Makes data out of a value of any size, a bounded part in each turn. Threads: those of the value.
class data_conversion {
public:
    explicit data_conversion(lang::value given, std::size_t max_bytes = max_answer_bytes,
                             unlike_json others = unlike_json::printed)
        : given_(std::move(given)), max_bytes_(max_bytes), left_(max_bytes), others_(others) {}

    /// Converts about `parts` more. Result: whether all is converted. Errors: LimitError when it is
    /// more than about `max_bytes`; errc::evaluation with the path for what is refused.
    [[nodiscard]] result<bool> advance(std::size_t parts);
    /// Once, when all is converted.
    [[nodiscard]] json take() noexcept { return std::move(built_); }

private:
    struct level {
        lang::value given; ///< a list or a map
        json built;
        std::size_t next = 0;
    };
    void enter(const lang::value& given);
    [[nodiscard]] json scalar(const lang::value& given);
    [[nodiscard]] json printed(const lang::value& given);
    void refuse(const lang::value& given);
    [[nodiscard]] std::string path() const;
    [[nodiscard]] json text(std::string_view bytes);
    [[nodiscard]] bool take_room(std::size_t bytes) noexcept;
    void put(json built);

    lang::value given_;
    const std::size_t max_bytes_;
    std::size_t left_;
    const unlike_json others_;
    bool too_long_ = false;
    std::optional<error> refused_;
    bool has_begun_ = false;
    std::vector<level> open_; ///< outermost first
    json built_;
};

/// All of it at once. Errors: as data_conversion.
[[nodiscard]] result<json> from_value(const lang::value& given,
                                      std::size_t max_bytes = max_answer_bytes);

} // namespace heddle::embed
