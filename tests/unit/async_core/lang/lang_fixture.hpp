// What the tests of the language share.
#pragma once

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// A heap, and values out of their written form.
class lang_fixture : public ::testing::Test {
protected:
    /// The expression, read as data.
    [[nodiscard]] value read(std::string_view text) {
        auto read = read_one(*memory_, text);
        if (!read) {
            ADD_FAILURE() << read.error().message() << " in " << text;
            return {};
        }
        return std::move(read->content);
    }

    /// As read, with every list (dict "k" v …) made the map it denotes.
    [[nodiscard]] value data(std::string_view text) { return with_maps(read(text)); }

    /// "SexpSyntaxError: …" for what cannot be read, else the written form.
    [[nodiscard]] std::string read_back(std::string_view text, const read_options& options = {}) {
        auto read = read_one(*memory_, text, 0, options);
        if (!read) return described(read.error());
        return print_value(read->content);
    }

    /// The builtin applied to arguments that are written as data: the written form of its value,
    /// or "TypeError: …".
    [[nodiscard]] std::string call(std::string_view name, std::string_view arguments) {
        std::vector<value> given;
        const auto read = read_all(*memory_, arguments);
        if (!read) return "unreadable: " + read.error().message();
        for (const datum& each : *read) given.push_back(with_maps(each.content));
        return call_with(name, std::move(given));
    }

    [[nodiscard]] std::string call_with(std::string_view name, std::vector<value> given) {
        const builtin* row = find_builtin(name);
        if (!row) return "no such builtin";
        if (given.size() < row->min_arguments ||
            (row->max_arguments != builtin::any_number && given.size() > row->max_arguments)) {
            return "ArityError";
        }
        free_work work;
        native_call call(*memory_, *row, work);
        const value result = row->run(call, given);
        if (call.failure()) return described(*call.failure());
        return print_value(result);
    }

    [[nodiscard]] static std::string described(const error& failure) {
        return std::string(error_kind_name(failure)) + ": " + failure.message();
    }

    [[nodiscard]] heap& memory() { return *memory_; }

private:
    [[nodiscard]] value with_maps(const value& v) {
        if (!v.is(kind::list) || v.length() == 0) return v;
        const auto items = list_items(v);
        if (items[0].is(kind::symbol) && symbol_name(items[0]) == "dict") {
            value map = value::empty_map();
            for (std::size_t i = 1; i + 1 < items.size(); i += 2) {
                map = map_put(*memory_, map, items[i], with_maps(items[i + 1]));
            }
            return map;
        }
        std::vector<value> values;
        for (const value& item : items) values.push_back(with_maps(item));
        return make_list(*memory_, values);
    }

    heap_owner memory_{heap::create()};
};

} // namespace heddle::lang
