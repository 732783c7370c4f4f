// What builtins do is counted, can be stopped, and grows as its input does.
#include "sized_values.hpp"
#include "watched_work.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/work.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

using arguments = std::vector<value>;
using maker = std::function<arguments(heap& memory, std::size_t n)>;

struct growing {
    std::string name;
    std::string what; ///< about the case
    maker make;
    std::size_t bytes_of_a_unit = 1; ///< of the size, at most
    bool is_timed = false;           ///< its work is the time that a thread takes
    bool raises = false;
};

/// Of a builtin that works on a list or a map of n, or on a text of n bytes.
std::vector<growing> growing_builtins() {
    const auto of = [](auto... makers) {
        return maker([=](heap& memory, std::size_t n) { return arguments{makers(memory, n)...}; });
    };
    const auto constant = [](value v) { return [v](heap&, std::size_t) { return v; }; };
    const auto words = [](heap& memory, std::size_t n) { return text(memory, "some words, ", n); };
    const auto not_ascii = [](heap& memory, std::size_t n) { return text(memory, "\u00e4b", n); };
    const auto spaces = [](heap& memory, std::size_t n) { return text(memory, " ", n); };
    const auto blank = [](heap& memory, std::size_t) { return string_of(memory, ", "); };
    const auto one = [](heap& memory, std::size_t) { return string_of(memory, "e"); };
    const auto count = [](heap&, std::size_t n) {
        return value::integer(static_cast<std::int64_t>(n));
    };
    const auto half = [](heap&, std::size_t n) {
        return value::integer(static_cast<std::int64_t>(n / 4));
    };
    // Nearly found everywhere.
    const auto as = [](heap& memory, std::size_t n) { return text(memory, "a", n); };
    const auto long_almost = [](heap& memory, std::size_t n) {
        return make_string(memory, std::string(n / 16, 'a') + "b" + std::string(n / 16, 'a'));
    };
    const auto short_almost = [](heap& memory, std::size_t) {
        return make_string(memory, std::string(100, 'a') + "b");
    };
    const auto json_numbers = [](heap& memory, std::size_t n) {
        std::string whole = "[1";
        while (whole.size() < n) whole += ", 22";
        return make_string(memory, whole + "]");
    };
    const auto json_table = [](heap& memory, std::size_t n) {
        std::string whole = "{\"a\": 1";
        while (whole.size() < n) whole += ", \"k" + std::to_string(whole.size()) + "\": {}";
        return make_string(memory, whole + "}");
    };
    const auto json_text = [](heap& memory, std::size_t n) {
        return make_string(memory, "\"" + std::string(n, 'x') + "\"");
    };
    const auto spread = [](const auto& make) {
        return maker([make](heap& memory, std::size_t n) {
            const value list = make(memory, n);
            const auto items = list_items(list);
            return arguments(items.begin(), items.end());
        });
    };
    const maker ascending = [](heap&, std::size_t n) {
        arguments result;
        for (std::size_t i = 0; i < n; ++i)
            result.push_back(value::integer(static_cast<std::int64_t>(i)));
        return result;
    };
    const maker equal_texts = [](heap& memory, std::size_t n) {
        return arguments{text(memory, "same", n), text(memory, "same", n)};
    };
    const maker equal_lists = [](heap& memory, std::size_t n) {
        return arguments{nested(memory, n), nested(memory, n)};
    };
    const auto pairs_and_one = [one](heap& memory, std::size_t n) {
        const value before = pairs(memory, n);
        const auto items = list_items(before);
        std::vector<value> all(items.begin(), items.end());
        const value found[] = {one(memory, n), value::integer(1)};
        all.push_back(make_list(memory, found));
        return make_list(memory, all);
    };
    const auto shared_pairs = [](heap& memory, std::size_t n) { // 2^n leaves, and none
        const value empty_inside[] = {value::empty_list()};
        value list = make_list(memory, empty_inside);
        for (std::size_t i = 0; i < n; ++i) {
            const value both[] = {list, list};
            list = make_list(memory, both);
        }
        return list;
    };
    const maker keys_and_values = [](heap& memory, std::size_t n) {
        arguments result;
        for (std::size_t i = 0; i < n / 2; ++i) {
            result.push_back(make_string(memory, std::to_string(i)));
            result.push_back(value::integer(1));
        }
        return result;
    };
    const auto name = [](heap& memory, std::size_t n) { return text(memory, "name", n); };
    const auto keyed = [](heap& memory, std::size_t n) {
        return map_put(memory, value::empty_map(), text(memory, "name", n), value::integer(1));
    };
    const auto pair = [](heap& memory, std::size_t n) {
        const value both[] = {text(memory, "name", n), value::integer(1)};
        const value inside[] = {make_list(memory, both)};
        return make_list(memory, inside);
    };
    const auto listed = [](const auto& make) {
        return [make](heap& memory, std::size_t n) {
            const value items[] = {make(memory, n), make(memory, n)};
            return make_list(memory, items);
        };
    };
    const auto failed = [](heap& memory, std::size_t n) {
        const value message = text(memory, "why", n);
        const value described = map_put(memory, value::empty_map(), "message", message);
        const value notes = map_put(memory, value::empty_map(), "error", described);
        value result = map_put(memory, value::empty_map(), "status", string_of(memory, "FAILED"));
        result = map_put(memory, std::move(result), "content", value::empty_string());
        return map_put(memory, std::move(result), "notes", notes);
    };
    const auto replacement = [](heap& memory, std::size_t n) { return text(memory, "\\1", n); };
    return {
        {"+", "", ascending, 2},
        {"-", "", ascending, 2},
        {"*", "", maker([](heap&, std::size_t n) { return arguments(n, value::real(1.0)); }), 2},
        {"/", "", maker([](heap&, std::size_t n) { return arguments(n, value::real(1.0)); }), 2},
        {"<", "", ascending, 2},
        {"<=", "", ascending, 2},
        {"=", "", maker([](heap&, std::size_t n) { return arguments(n, value::integer(1)); }), 2},
        {">", "", ascending, 2},
        {">=", "", ascending, 2},
        {"max", "", ascending, 2},
        {"min", "", ascending, 2},
        {"string=?", "", equal_texts, 32},
        {"string<?", "", equal_texts, 32},
        {"string-append", "a long second part", equal_texts, 32},
        {"string-append", "many parts", spread(integers), 8},
        {"string=?", "that begin alike", maker([](heap& memory, std::size_t n) {
             return arguments{text(memory, "same", n), text(memory, "same", n + 8)};
         }),
         32},
        {"string-length", "", of(not_ascii), 32},
        {"substring", "", of(not_ascii, half), 128},
        {"string-upcase", "", of(words), 16},
        {"string-downcase", "", of(not_ascii), 16},
        {"string-trim", "", of(spaces), 2},
        {"string-split", "at commas", of(words, blank), 32},
        {"string-split", "at white space", of(words), 2},
        {"string-split", "nowhere, nearly everywhere", of(as, long_almost), 32},
        {"string-join", "", of(integers), 1},
        {"string-replace", "", of(words, one, blank), 32},
        {"string-replace", "nowhere, nearly everywhere", of(as, long_almost, one), 32},
        {"string-contains?", "nowhere, nearly everywhere", of(as, long_almost), 32},
        {"string-contains?", "a short one", of(as, short_almost), 32},
        {"string-starts-with?", "", equal_texts, 32},
        {"string-ends-with?", "", equal_texts, 32},
        {"string->number", "", of(spaces), 2},
        {"string->symbol", "", of(words), 32},
        {"format", "",
         of([](heap& memory, std::size_t) { return string_of(memory, "{}"); }, nested), 1},
        {"format", "a text without places", of(words), 8},
        {"format", "a long name", maker([keyed](heap& memory, std::size_t n) {
             return arguments{
                 make_string(memory,
                             "{" + std::string(string_bytes(text(memory, "name", n))) + "}"),
                 keyed(memory, n)};
         }),
         8},
        {"regex-match-all", "",
         of([](heap& memory, std::size_t) { return string_of(memory, "[a-z]+"); }, words), 32,
         true},
        {"regex-replace", "",
         of([](heap& memory, std::size_t) { return string_of(memory, "[a-z]+"); }, words, one), 32,
         true},
        {"regex-match", "",
         of([](heap& memory, std::size_t) { return string_of(memory, "x$"); }, words), 32, true},
        {"regex-replace", "a long replacement",
         of([](heap& memory, std::size_t) { return string_of(memory, "(x*)y"); },
            [](heap& memory, std::size_t) { return string_of(memory, "y"); }, replacement),
         8, true},
        {"list", "", ascending, 2},
        {"cons", "where a list has no room", maker([](heap& memory, std::size_t n) {
             return arguments{value::integer(0), integers(memory, n)};
         }),
         1},
        {"append", "", maker([](heap& memory, std::size_t n) {
             return arguments{integers(memory, n), integers(memory, n)};
         }),
         1},
        {"length", "", of(not_ascii), 32},
        {"reverse", "", of(integers), 1},
        {"range", "", of(count), 2},
        {"range", "of floats",
         maker([](heap&, std::size_t n) { return arguments{value::real(static_cast<double>(n))}; }),
         1},
        {"sort", "numbers", of(integers), 1},
        {"sort", "strings", of([](heap& memory, std::size_t n) {
             value list = value::empty_list();
             for (std::size_t i = 0; i < n; ++i)
                 list = list_push_back(memory, std::move(list),
                                       make_string(memory, std::to_string(i * 7919 % 1000003)));
             return list;
         }),
         1},
        {"sort", "long strings that begin alike", of([](heap& memory, std::size_t n) {
             value list = value::empty_list();
             const value all = text(memory, "same", n);
             for (std::size_t i = 0; i < 8; ++i)
                 list = list_push_back(memory, std::move(list),
                                       string_window(all, 4 * i, all.length()));
             return list;
         }),
         4},
        {"unique", "numbers", of(integers), 1},
        {"unique", "maps with long keys", of(listed(keyed)), 32},
        {"unique", "maps with the same keys", of(rows), 1},
        {"unique", "lists that begin alike", of([](heap& memory, std::size_t n) {
             value list = value::empty_list();
             for (std::size_t i = 0; i < n / 100; ++i) {
                 value item = integers(memory, 99);
                 item = list_push_back(memory, std::move(item),
                                       value::integer(static_cast<std::int64_t>(i)));
                 list = list_push_back(memory, std::move(list), std::move(item));
             }
             return list;
         }),
         1},
        {"flatten", "", of(nested), 1},
        {"flatten", "shared parts without elements",
         of([=](heap& memory, std::size_t n) { return shared_pairs(memory, n); }), 1},
        {"zip", "", of(integers, integers), 1},
        {"chunk", "", of(integers, constant(value::integer(2))), 1},
        {"index-of", "", of(integers, constant(value::integer(-1))), 1},
        {"contains?", "", of(integers, constant(value::integer(-1))), 1},
        {"dict", "", keys_and_values, 1},
        {"get-field", "of an association list", of(pairs, one), 1},
        {"require-field", "of an association list", of(pairs_and_one, one), 1},
        {"get", "of an association list", of(pairs, one), 1},
        {"get-in", "",
         of(pairs,
            [](heap& memory, std::size_t) {
                const value path[] = {string_of(memory, "e")};
                return make_list(memory, path);
            }),
         1},
        {"put", "a shared map", maker([](heap& memory, std::size_t n) {
             const value map = table(memory, n);
             return arguments{map, string_of(memory, "key 1"), value::integer(5), map};
         }),
         1},
        {"merge", "", of(table, table), 1},
        {"remove-key", "",
         of(table, [](heap& memory, std::size_t) { return string_of(memory, "key 1"); }), 1},
        {"get", "a long key", of(keyed, name), 32},
        {"get-field", "a long key", of(keyed, name), 32},
        {"get-field", "a long key of an association list", of(pair, name), 32},
        {"require-field", "a long key", of(keyed, name), 32},
        {"get-in", "a long key",
         of(keyed,
            [name](heap& memory, std::size_t n) {
                const value path[] = {name(memory, n)};
                return make_list(memory, path);
            }),
         32},
        {"has-key?", "", of(keyed, name), 32},
        {"contains?", "a long key", of(keyed, name), 32},
        {"put", "a long key", of(keyed, name, constant(value::integer(2))), 32},
        {"remove-key", "a long key", of(keyed, name), 32},
        {"merge", "long keys", of(keyed, keyed), 32},
        {"dict", "a long key", of(name, constant(value::integer(2))), 32},
        {"keys", "", of(table), 1},
        {"values", "", of(table), 1},
        {"entries", "", of(table), 1},
        {"json-parse", "numbers", of(json_numbers), 8},
        {"json-parse", "maps", of(json_table), 16},
        {"json-parse", "a long string", of(json_text), 32},
        {"json-string", "", of(nested), 1},
        {"json-string", "a long string", of(words), 32},
        {"eq?", "", equal_lists, 1},
        {"equal?", "", equal_lists, 1},
        {"equal?", "long strings", equal_texts, 32},
        {"equal?", "maps with long keys", of(keyed, keyed), 32},
        {"gensym", "", of(name), 32},
        {"error", "with many data", maker([](heap& memory, std::size_t n) {
             arguments result(n, value::integer(1));
             result[0] = string_of(memory, "why");
             return result;
         }),
         2, false, true},
        {"content", "of a FAILED result", of(failed), 32, false, true},
        {"parsed", "of a FAILED result", of(failed), 32, false, true},
        {"%sandbox-value", "", of(nested), 8},
    };
}

struct measured {
    std::uint64_t units = 0;
    std::uint64_t longest = 0;
    double seconds = 0;
    bool failed = false;
};

measured measure(const growing& one, std::size_t n, bool refuses = false) {
    const heap_owner memory(heap::create());
    arguments given = one.make(*memory, n);
    const builtin* row = find_builtin(one.name);
    EXPECT_NE(row, nullptr) << one.name;
    if (!row) return {};
    watched_work work(refuses);
    native_call call(*memory, *row, work);
    const double began = seconds_of_processor();
    std::span<value> all = given;
    if (row->max_arguments != builtin::any_number)
        all = all.first(std::min<std::size_t>(all.size(), row->max_arguments));
    const value result = row->run(call, all);
    measured seen;
    seen.seconds = seconds_of_processor() - began;
    seen.units = work.done();
    seen.longest = work.longest;
    seen.failed = call.failure().has_value() && !work.stopped();
    EXPECT_EQ(seen.failed, one.raises && !work.stopped()) << one.name << ": " << one.what;
    return seen;
}

constexpr std::size_t size = 80'000;

TEST(work, of_every_builtin_is_constant_or_measured_here) {
    std::set<std::string> counted;
    for (const growing& one : growing_builtins()) counted.insert(one.name);
    for (const auto family : builtin_families()) {
        for (const builtin& row : family) {
            if (row.how != builtin_kind::pure || row.name.starts_with('%')) continue;
            EXPECT_NE(row.constant_time, counted.contains(std::string(row.name)))
                << row.name << ": add a case to growing_builtins(), or constant_time to its row";
        }
    }
}

TEST(work, is_spent_often_and_in_proportion_to_the_input) {
    // A generous bound: what it is for is work that is not counted.
    constexpr double max_seconds_per_unit = 3e-6;
    for (const growing& one : growing_builtins()) {
        const measured small = measure(one, size);
        const measured large = measure(one, 4 * size);
        const std::string what = one.name + " " + one.what;
        const auto expected = static_cast<double>(small.units);
        const auto units = static_cast<double>(large.units);
        EXPECT_GE(large.units, size / one.bytes_of_a_unit) << what;
        if (!one.is_timed) {
            EXPECT_LE(units, 5.2 * expected + 2000) << what;
            EXPECT_GE(units, 2.5 * expected) << what;
        }
        EXPECT_LE(large.seconds, 0.005 + max_seconds_per_unit * units) << what;
        EXPECT_LE(large.longest, work_meter::units_of_a_turn) << what;
    }
}

TEST(work, stops_at_the_first_look) {
    for (const growing& one : growing_builtins()) {
        const measured whole = measure(one, size);
        if (whole.units < 20'000) continue;
        const measured stopped = measure(one, size, true);
        EXPECT_LE(stopped.units, 12'000U + whole.units / 4) << one.name << " " << one.what;
    }
}

} // namespace
} // namespace heddle::lang::testing
