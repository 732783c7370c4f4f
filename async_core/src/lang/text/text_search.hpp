// Finds a string in another one.
#pragma once

#include <heddle/lang/work.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace heddle::lang {

/// Looks for one text in others, in linear time whatever the two are (two-way: Crochemore and
/// Perrin 1991), in portions of work.
class text_search {
public:
    /// Both outlive the search.
    text_search(std::string_view wanted, work_meter& work) : wanted_(wanted), work_(work) {}

    /// The first place from `from` on, or npos. Nothing: stop.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view text, std::size_t from);

private:
    [[nodiscard]] std::optional<std::size_t> find_short(std::string_view text, std::size_t from);
    [[nodiscard]] std::optional<std::size_t> find_long(std::string_view text, std::size_t from);
    [[nodiscard]] bool split();
    struct suffix {
        std::size_t begin;
        std::size_t period;
    };
    [[nodiscard]] std::optional<suffix> max_suffix(bool reversed);
    /// Spends for steps of a few bytes each.
    [[nodiscard]] bool step() { return ++steps_ % 1024 != 0 || work_.spend(256); }

    std::string_view wanted_;
    work_meter& work_;
    std::size_t steps_ = 0;
    // Of a long text: where it is cut in two, and its period, if it repeats itself.
    std::optional<std::size_t> cut_;
    std::size_t period_ = 0;
    bool repeats_ = false;
};

} // namespace heddle::lang
