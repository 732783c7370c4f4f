#include <heddle/lang/request_settings.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::lang {

namespace {

namespace json = boost::json;
using kind = request_setting_kind;

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_word = 200; ///< bytes
constexpr std::size_t max_strings = 64;
constexpr double max_tokens = 1e9;
constexpr double max_seed = 9007199254740991; ///< beyond it JSON is read differently by services

constexpr std::array<request_setting, 11> rows{{
    {"temperature", "from 0 to 10", kind::number, 0, 10, "a number from 0 to 10"},
    {"max-tokens", "how many tokens a response may have", kind::whole, 1, max_tokens,
     "a whole number from 1 to 1000000000"},
    {"top-p", "from 0 to 1: which part of the likely tokens is sampled from", kind::number, 0, 1,
     "a number from 0 to 1"},
    {"seed", "for services that sample alike for equal seeds", kind::whole, -max_seed, max_seed,
     "a whole number"},
    {"stop", "a string or a list of strings: the response ends before them", kind::strings, 0, 0,
     "a non-empty string or a list of them"},
    {"tool-choice", "\"auto\", \"none\", \"required\" or a tool that the first turn must call",
     kind::word, 0, 0, "\"auto\", \"none\", \"required\" or the name of a tool"},
    {"parallel-tool-calls", "false: a turn calls one tool at most", kind::flag, 0, 0,
     "true or false"},
    {"reasoning-effort", "how much a reasoning model thinks, in the service's words: \"low\", …",
     kind::word, 0, 0, "a string such as \"none\", \"low\", \"medium\" or \"high\""},
    {"reasoning-tokens", "a budget for thinking; 0: none at all", kind::whole, 0, max_tokens,
     "a whole number from 0 to 1000000000"},
    {"prompt-cache", "false: the service is not asked to keep long beginnings of prompts",
     kind::flag, 0, 0, "true or false"},
    {"extra-parameters", "what only some services know, sent as it is: (dict \"top_k\" 40)",
     kind::parameters, 0, 0, "a map, or a list of (name value)"},
}};

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
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const request_setting& row) {
        return std::equal(row.name.begin(), row.name.end(), name.begin(), name.end(), same);
    });
    return at == rows.end() ? nullptr : &*at;
}

bool fits(const request_setting& setting, std::string_view text) {
    boost::system::error_code failed;
    json::parse_options limits;
    limits.max_depth = max_depth;
    const json::value given = json::parse(text, failed, {}, limits);
    return !failed && fits(setting, given);
}

std::string snake_name(const request_setting& setting) {
    std::string name(setting.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

} // namespace heddle::lang
