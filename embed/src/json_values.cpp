#include "json_values.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <heddle/base/utf8.hpp>

#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

using lang::value;

constexpr unsigned max_depth = 512;
constexpr std::size_t max_printed = 64 * 1024;

class value_maker {
public:
    explicit value_maker(lang::heap& memory) : memory_(memory) {}

    result<value> make(const json& data, unsigned depth) {
        if (depth > max_depth) {
            return error(heddle::errc::limit_exceeded,
                         "data is nested more than " + std::to_string(max_depth) + " levels deep");
        }
        switch (data.kind()) {
        case json_kind::null: return value();
        case json_kind::boolean: return value::boolean(*data.get_if<bool>());
        case json_kind::integer: return value::integer(*data.get_if<std::int64_t>());
        case json_kind::number: return value::real(*data.get_if<double>());
        case json_kind::string: return make_text(*data.get_if<std::string>());
        case json_kind::array: return make_list(*data.get_if<json::array>(), depth);
        case json_kind::object: return make_map(*data.get_if<json::object>(), depth);
        }
        return value();
    }

private:
    result<value> make_text(const std::string& text) {
        // Each invalid byte may become three.
        if (text.size() >= value::max_length / 3)
            return error(heddle::errc::limit_exceeded, "a string is longer than 85 MB");
        return lang::make_string(memory_, text);
    }
    result<value> make_list(const json::array& items, unsigned depth) {
        std::vector<value> created;
        created.reserve(items.size());
        for (const json& each : items) {
            HEDDLE_TRY(value item, make(each, depth + 1));
            created.push_back(std::move(item));
        }
        return lang::make_list(memory_, created);
    }
    result<value> make_map(const json::object& members, unsigned depth) {
        value created = lang::make_map_with_capacity(memory_, members.size());
        for (const json_member& each : members) {
            HEDDLE_TRY(value item, make(each.value, depth + 1));
            created = lang::map_put(memory_, std::move(created), each.name, std::move(item));
        }
        return created;
    }

    lang::heap& memory_;
};

class json_maker {
public:
    explicit json_maker(std::size_t max_bytes) : left_(max_bytes) {}

    json make(const value& given, unsigned depth) {
        if (!take(sizeof(json))) return {};
        switch (given.type()) {
        case lang::kind::nil: return {};
        case lang::kind::boolean: return given.as_boolean();
        case lang::kind::integer: return given.as_integer();
        case lang::kind::real: return given.as_real();
        case lang::kind::string: return text(lang::string_bytes(given));
        case lang::kind::symbol: return text(lang::symbol_name(given));
        case lang::kind::list:
            if (depth < max_depth) return make_array(given, depth);
            break;
        case lang::kind::map:
            if (depth < max_depth) return make_object(given, depth);
            break;
        default: break;
        }
        lang::print_options options;
        options.max_bytes = std::min(left_ + 1, max_printed);
        return text(utf8::replace_invalid(lang::print_value(given, options)));
    }
    [[nodiscard]] bool too_long() const noexcept { return too_long_; }

private:
    bool take(std::size_t bytes) {
        too_long_ = too_long_ || bytes > left_;
        if (!too_long_) left_ -= bytes;
        return !too_long_;
    }
    json text(std::string_view bytes) { return take(bytes.size()) ? json(bytes) : json(); }
    json make_array(const value& given, unsigned depth) {
        json::array items;
        const auto all = lang::list_items(given);
        if (all.size() > left_ / sizeof(json)) too_long_ = true;
        if (too_long_) return {};
        items.reserve(all.size());
        for (const value& each : all) {
            items.push_back(make(each, depth + 1));
            if (too_long_) return {};
        }
        return items;
    }
    json make_object(const value& given, unsigned depth) {
        json::object members;
        for (const lang::map_entry& each : lang::map_entries(given)) {
            const std::string_view name = lang::string_bytes(each.key);
            if (!take(name.size() + sizeof(std::string))) return {};
            members.set(std::string(name), make(each.item, depth + 1));
            if (too_long_) return {};
        }
        return members;
    }

    std::size_t left_;
    bool too_long_ = false;
};

} // namespace

result<value> to_value(lang::heap& memory, const json& data) {
    return value_maker(memory).make(data, 0);
}

result<json> from_value(const value& given, std::size_t max_bytes) {
    json_maker maker(max_bytes);
    json created = maker.make(given, 0);
    if (!maker.too_long()) return created;
    return error(lang::errc::limit,
                 "the result is longer than " + std::to_string(max_bytes >> 20) + " MiB as data")
        .with_hint("return a part of it");
}

} // namespace heddle::embed
