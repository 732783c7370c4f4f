// The settings of a request to a model: the one list that `with`, definitions of tasks, templates,
// heddle.toml and the documentation share, made from request_settings.def. The task system defines
// what they do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle::lang {

enum class request_setting_kind : std::uint8_t {
    number,
    whole,     ///< an integer
    flag,      ///< true or false
    word,      ///< a short string
    strings,   ///< a string or a list of strings
    parameters ///< a map of names to any values, or a list of (name value)
};

struct request_setting {
    std::string_view name; ///< with hyphens; an underscore is the same
    std::string_view documentation;
    request_setting_kind kind;
    double min;                ///< of numbers
    double max;                ///< of numbers
    std::string_view expected; ///< "a number from 0 to 1"
};

/// In the order of the documentation.
[[nodiscard]] std::span<const request_setting> request_settings() noexcept;
/// Null if there is none of that name.
[[nodiscard]] const request_setting* find_request_setting(std::string_view name) noexcept;
/// Whether a value, as JSON text, is valid for the setting.
[[nodiscard]] bool fits(const request_setting& setting, std::string_view json);
/// The name with underscores, as JSON, XML and TOML write it.
[[nodiscard]] std::string snake_name(const request_setting& setting);

} // namespace heddle::lang
