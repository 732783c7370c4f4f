#include "json_values.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <heddle/base/utf8.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

using lang::value;

constexpr unsigned max_depth = 512;
constexpr std::size_t max_printed = 64 * 1024;

bool is_container(const json& data) noexcept { return data.is_array() || data.is_object(); }

bool is_container(const value& given) noexcept {
    return given.is(lang::kind::list) || given.is(lang::kind::map);
}

std::size_t size_of(const json& container) {
    const auto* items = container.get_if<json::array>();
    return items ? items->size() : container.as_object().size();
}

std::size_t size_of(const value& container) {
    return container.is(lang::kind::list) ? lang::list_items(container).size()
                                          : lang::map_entries(container).size();
}

json moved_item(json& container, std::size_t index) {
    if (auto* items = container.get_if<json::array>()) return std::move((*items)[index]);
    json::object& members = container.as_object();
    return std::move(*members.find((members.begin() + index)->name));
}

constexpr std::size_t all_parts = static_cast<std::size_t>(-1);

} // namespace

result<bool> value_conversion::advance(std::size_t parts) {
    if (!std::exchange(has_begun_, true)) {
        HEDDLE_CHECK(enter(std::move(root_)));
    }
    for (; !open_.empty(); --parts) {
        if (parts == 0) return false;
        level& top = open_.back();
        if (top.next < size_of(top.data)) {
            HEDDLE_CHECK(enter(moved_item(top.data, top.next++)));
            continue;
        }
        value whole = std::move(top.built);
        open_.pop_back();
        put(std::move(whole));
    }
    return true;
}

result<void> value_conversion::enter(json data) {
    if (open_.size() > max_depth) {
        return error(heddle::errc::limit_exceeded,
                     "data is nested more than " + std::to_string(max_depth) + " levels deep");
    }
    if (is_container(data)) {
        const std::size_t size = size_of(data);
        value built = data.is_array() ? lang::make_list_with_capacity(memory_, size)
                                      : lang::make_map_with_capacity(memory_, size);
        open_.push_back({std::move(data), std::move(built)});
        return {};
    }
    HEDDLE_TRY(value built, scalar(data));
    put(std::move(built));
    return {};
}

result<value> value_conversion::scalar(const json& data) {
    switch (data.kind()) {
    case json_kind::boolean: return value::boolean(*data.get_if<bool>());
    case json_kind::integer: return value::integer(*data.get_if<std::int64_t>());
    case json_kind::number: return value::real(*data.get_if<double>());
    case json_kind::string: break;
    default: return value();
    }
    const auto& text = *data.get_if<std::string>();
    // Each invalid byte may become three.
    if (text.size() >= value::max_length / 3)
        return error(heddle::errc::limit_exceeded, "a string is longer than 85 MB");
    return lang::make_string(memory_, text);
}

void value_conversion::put(value built) {
    if (open_.empty()) {
        built_ = std::move(built);
        return;
    }
    level& into = open_.back();
    if (into.data.is_array()) {
        into.built = lang::list_push_back(memory_, std::move(into.built), std::move(built));
    } else {
        const std::string& name = (into.data.as_object().begin() + (into.next - 1))->name;
        into.built = lang::map_put(memory_, std::move(into.built), name, std::move(built));
    }
}

result<bool> data_conversion::advance(std::size_t parts) {
    if (!std::exchange(has_begun_, true)) enter(given_);
    for (; !open_.empty() && !too_long_ && !refused_; --parts) {
        if (parts == 0) return false;
        level& top = open_.back();
        if (top.next == size_of(top.given)) {
            json whole = std::move(top.built);
            open_.pop_back();
            put(std::move(whole));
        } else if (top.given.is(lang::kind::list)) {
            // A copy: what is below may move the levels.
            enter(value(lang::list_items(top.given)[top.next++]));
        } else {
            const lang::map_entry& each = lang::map_entries(top.given)[top.next++];
            if (take_room(lang::string_bytes(each.key).size() + sizeof(std::string)))
                enter(value(each.item));
        }
    }
    if (refused_) return *std::move(refused_);
    if (!too_long_) return true;
    return error(lang::errc::limit,
                 "the result is longer than " + std::to_string(max_bytes_ >> 20) + " MiB as data")
        .with_hint("return a part of it");
}

void data_conversion::enter(const value& given) {
    if (!take_room(sizeof(json))) return;
    if (!is_container(given) || open_.size() >= max_depth) return put(scalar(given));
    const std::size_t size = size_of(given);
    if (size > left_ / sizeof(json)) {
        too_long_ = true;
        return;
    }
    if (given.is(lang::kind::map)) {
        open_.push_back({given, json::object()});
        return;
    }
    json::array items;
    items.reserve(size);
    open_.push_back({given, std::move(items)});
}

json data_conversion::scalar(const value& given) {
    switch (given.type()) {
    case lang::kind::nil: return {};
    case lang::kind::boolean: return given.as_boolean();
    case lang::kind::integer: return given.as_integer();
    case lang::kind::real:
        if (others_ == unlike_json::refused && !std::isfinite(given.as_real())) refuse(given);
        return given.as_real();
    case lang::kind::string: return text(lang::string_bytes(given));
    case lang::kind::symbol: return text(lang::symbol_name(given));
    default: break;
    }
    if (others_ == unlike_json::printed) return printed(given);
    refuse(given);
    return {};
}

json data_conversion::printed(const value& given) {
    lang::print_options options;
    options.max_bytes = std::min(left_ + 1, max_printed);
    return text(utf8::replace_invalid(lang::print_value(given, options)));
}

/// With the words of lang::value_to_json.
void data_conversion::refuse(const value& given) {
    std::string message;
    if (is_container(given)) {
        message = "the value is nested deeper than " + std::to_string(max_depth) + " levels";
    } else if (given.is(lang::kind::real)) {
        message = "JSON cannot write the float " + lang::print_value(given) + path();
    } else {
        const std::string_view what = given.is(lang::kind::host) ? lang::host_of(given)->type_name()
                                                                 : lang::kind_name(given.type());
        message = "JSON cannot write a " + std::string(what) + path();
    }
    refused_ = error(lang::errc::evaluation, "the result of the call: " + message)
                   .with_hint("return data: strings, numbers, lists and maps");
}

/// Where in the value it is: `["rows"][3]`, shortened in the middle.
std::string data_conversion::path() const {
    constexpr std::size_t shown = 8;
    constexpr std::size_t max_key = 40;
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
        if (open_.size() > shown && i == shown / 2) {
            text += "…";
            i = open_.size() - shown / 2;
        }
        const level& each = open_[i];
        if (each.given.is(lang::kind::list)) {
            text += "[" + std::to_string(each.next - 1) + "]";
            continue;
        }
        const auto key = lang::string_bytes(lang::map_entries(each.given)[each.next - 1].key);
        text += "[\"" + std::string(key.size() > max_key ? "…" : key) + "\"]";
    }
    return text.empty() ? text : " at " + text;
}

json data_conversion::text(std::string_view bytes) {
    return take_room(bytes.size()) ? json(bytes) : json();
}

bool data_conversion::take_room(std::size_t bytes) noexcept {
    too_long_ = too_long_ || bytes > left_;
    if (!too_long_) left_ -= bytes;
    return !too_long_;
}

void data_conversion::put(json built) {
    if (open_.empty()) {
        built_ = std::move(built);
        return;
    }
    level& into = open_.back();
    if (auto* items = into.built.get_if<json::array>()) {
        items->push_back(std::move(built));
    } else {
        const value& key = lang::map_entries(into.given)[into.next - 1].key;
        into.built.as_object().set(std::string(lang::string_bytes(key)), std::move(built));
    }
}

result<value> to_value(lang::heap& memory, json data) {
    value_conversion conversion(memory, std::move(data));
    HEDDLE_CHECK(conversion.advance(all_parts));
    return conversion.take();
}

result<json> from_value(const value& given, std::size_t max_bytes) {
    data_conversion conversion(given, max_bytes);
    HEDDLE_CHECK(conversion.advance(all_parts));
    return conversion.take();
}

} // namespace heddle::embed
