#include <heddle/base/keyed_hash.hpp>
#include <heddle/tasks/definition/request_parameters.hpp>

#include "tasks/output/finite_json.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_parser.hpp>

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace heddle::tasks {

namespace {

namespace json = boost::json;
using lang::request_setting_kind;

constexpr std::size_t max_depth = 64; // of what `fits` has let pass

/// Puts one value into its member, and back into JSON; the value is what the setting must be.
struct access {
    std::string_view name;
    void (*set)(request_parameters& into, const json::value& given);
    void (*show)(const request_parameters& from, json::object& into, std::string_view name);
    void (*fill)(request_parameters& stronger, const request_parameters& weaker);
};

std::string text_of(const json::value& given) {
    const json::string& text = given.get_string();
    return std::string(text.data(), text.size());
}

void read(double& into, const json::value& given) { into = given.to_number<double>(); }
void read(std::int64_t& into, const json::value& given) { into = given.get_int64(); }
void read(bool& into, const json::value& given) { into = given.get_bool(); }
void read(std::string& into, const json::value& given) { into = text_of(given); }
void read(std::vector<std::string>& into, const json::value& given) {
    if (given.is_string()) {
        into.push_back(text_of(given));
        return;
    }
    for (const json::value& each : given.get_array()) into.push_back(text_of(each));
}
void read(std::vector<ports::extra_parameter>& into, const json::value& given) {
    const auto add = [&](std::string name, const json::value& item) {
        const auto same = std::find_if(into.begin(), into.end(),
                                       [&](const auto& each) { return each.name == name; });
        if (same != into.end()) same->value_json = json::serialize(item);
        else into.push_back({std::move(name), json::serialize(item)});
    };
    if (const json::object* all = given.if_object()) { // which has each name once
        into.reserve(all->size());
        for (const auto& [name, item] : *all)
            into.push_back({std::string(name), json::serialize(item)});
        return;
    }
    for (const json::value& pair : given.get_array()) add(text_of(pair.at(0)), pair.at(1));
}

json::value shown(double given) { return given; }
json::value shown(std::int64_t given) { return given; }
json::value shown(bool given) { return given; }
json::value shown(const std::string& given) { return json::string(given); }
json::value shown(const std::vector<std::string>& given) {
    json::array list;
    for (const std::string& each : given) list.emplace_back(each);
    return list;
}
json::value shown(const std::vector<ports::extra_parameter>& given) {
    json::object members;
    boost::system::error_code wrong; // none: they were written here
    for (const ports::extra_parameter& each : given)
        members[each.name] = parse_json(each.value_json, wrong, max_depth);
    return members;
}

template <auto Member>
constexpr access row(std::string_view name) {
    return {name,
            [](request_parameters& into, const json::value& given) {
                read((into.*Member).emplace(), given);
            },
            [](const request_parameters& from, json::object& into, std::string_view as) {
                if (from.*Member) into[as] = shown(*(from.*Member));
            },
            [](request_parameters& stronger, const request_parameters& weaker) {
                if (!(stronger.*Member)) stronger.*Member = weaker.*Member;
            }};
}

constexpr access accesses[] = {
#define HEDDLE_REQUEST_SETTING(name, written, ...) row<&request_parameters::name>(written),
#include <heddle/lang/request_settings.def>
};

/// Takes what a request sets; an empty string or list counts as not set.
template <class T>
void take(std::optional<T>& into, std::optional<T>& from) {
    into = from;
}
template <class T>
void take(std::optional<T>& into, T& from) {
    if (!from.empty()) into = std::move(from);
}

error must_be(const lang::request_setting& setting) {
    return error(errc::invalid_argument, "must be " + std::string(setting.expected));
}

} // namespace

result<void> set_parameter(request_parameters& into, const lang::request_setting& setting,
                           std::string_view text) {
    const auto found = std::find_if(std::begin(accesses), std::end(accesses),
                                    [&](const access& each) { return each.name == setting.name; });
    if (found == std::end(accesses) || !lang::fits(setting, text)) return must_be(setting);
    const auto given = parse_finite_json(text, max_depth);
    if (!given) return must_be(setting);
    found->set(into, *given);
    return {};
}

result<void> set_parameter_from_text(request_parameters& into, const lang::request_setting& setting,
                                     std::string_view written) {
    const std::string_view text = ascii::trim(written);
    const bool is_list = text.starts_with('[');
    const bool is_text = setting.kind == request_setting_kind::word ||
                         (setting.kind == request_setting_kind::strings && !is_list);
    if (!is_text) return set_parameter(into, setting, text);
    return set_parameter(into, setting, json::serialize(json::value(json::string(text))));
}

std::string expected_in_text(const lang::request_setting& setting) {
    switch (setting.kind) {
    case request_setting_kind::strings: return "a non-empty string or a JSON list of them";
    case request_setting_kind::parameters: return "a JSON object";
    default: return std::string(setting.expected);
    }
}

void fill_absent(request_parameters& stronger, const request_parameters& weaker) {
    const auto own = stronger.extra_parameters;
    for (const access& each : accesses) each.fill(stronger, weaker);
    if (!own || !weaker.extra_parameters) return;
    std::unordered_set<std::string_view, name_hash> known;
    for (const ports::extra_parameter& each : *own) known.insert(each.name);
    for (const ports::extra_parameter& each : *weaker.extra_parameters) {
        if (!known.contains(each.name)) stronger.extra_parameters->push_back(each);
    }
}

void apply(const request_parameters& parameters, ports::chat_request& request) {
    const auto set = [](auto& into, const auto& said) {
        if (said) into = *said;
    };
#define HEDDLE_REQUEST_SETTING(name, written, kind, min, max, target, ...) \
    set(request.target, parameters.name);
#include <heddle/lang/request_settings.def>
}

void apply_absent(const request_parameters& parameters, ports::chat_request& request) {
    const bool reasons = !request.reasoning_effort.empty() || request.reasoning_tokens;
    request_parameters said;
#define HEDDLE_REQUEST_SETTING(name, written, kind, min, max, target, ...) \
    take(said.name, request.target);
#include <heddle/lang/request_settings.def>
    request_parameters weaker = parameters;
    if (reasons) {
        weaker.reasoning_effort.reset();
        weaker.reasoning_tokens.reset();
    }
    // Not for the later turns of a loop: a forced choice would never let it end.
    const bool goes_on = std::any_of(
        request.messages.begin(), request.messages.end(),
        [](const ports::chat_message& each) { return each.role == ports::chat_role::tool; });
    if (goes_on) weaker.tool_choice.reset();
    fill_absent(said, weaker);
    apply(said, request);
}

std::string parameters_json(const request_parameters& parameters) {
    json::object members;
    for (const access& each : accesses) {
        each.show(parameters, members, lang::snake_name(*lang::find_request_setting(each.name)));
    }
    return json::serialize(members);
}

} // namespace heddle::tasks
