#include <heddle/base/json_parser.hpp>
#include <heddle/lang/request_settings.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace heddle::lang {

namespace {

namespace json = boost::json;
using kind = request_setting_kind;

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_word = 200; ///< bytes
constexpr std::size_t max_strings = 64;

constexpr request_setting rows[] = {
#define HEDDLE_REQUEST_SETTING(name, written, type, min, max, target, expected, documentation) \
    {written, documentation, kind::type, min, max, expected},
#include <heddle/lang/request_settings.def>
};

bool is_in_range(const request_setting& setting, double given) {
    return given >= setting.min && given <= setting.max;
}

bool is_filled_string(const json::value& given) {
    const json::string* text = given.if_string();
    return text && !text->empty();
}

bool is_parameter(const json::value& given) {
    const json::array* pair = given.if_array();
    return pair && pair->size() == 2 && is_filled_string((*pair)[0]);
}

bool fits(const request_setting& setting, const json::value& given) {
    switch (setting.kind) {
    case kind::number: {
        boost::system::error_code failed;
        const double number = given.to_number<double>(failed);
        return !failed && std::isfinite(number) && is_in_range(setting, number);
    }
    case kind::whole:
        return given.is_int64() && is_in_range(setting, static_cast<double>(given.get_int64()));
    case kind::flag: return given.is_bool();
    case kind::word: return is_filled_string(given) && given.get_string().size() <= max_word;
    case kind::strings: {
        const json::array* all = given.if_array();
        if (!all) return is_filled_string(given);
        return !all->empty() && all->size() <= max_strings &&
               std::all_of(all->begin(), all->end(), is_filled_string);
    }
    case kind::parameters: {
        if (given.is_object()) return true;
        const json::array* all = given.if_array();
        return all && std::all_of(all->begin(), all->end(), is_parameter);
    }
    }
    return false;
}

} // namespace

std::span<const request_setting> request_settings() noexcept { return rows; }

const request_setting* find_request_setting(std::string_view name) noexcept {
    const auto same = [](char one, char other) {
        return one == other || (one == '-' && other == '_');
    };
    const auto at = std::find_if(std::begin(rows), std::end(rows), [&](const request_setting& row) {
        return std::equal(row.name.begin(), row.name.end(), name.begin(), name.end(), same);
    });
    return at == std::end(rows) ? nullptr : at;
}

bool fits(const request_setting& setting, std::string_view text) {
    boost::system::error_code failed;
    const json::value given = parse_json(text, failed, max_depth);
    return !failed && fits(setting, given);
}

std::string snake_name(const request_setting& setting) {
    std::string name(setting.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

} // namespace heddle::lang
