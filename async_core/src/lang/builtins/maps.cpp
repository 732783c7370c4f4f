#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/results.hpp"
#include "lang/builtins/support.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] bool is_key(const value& v) noexcept {
    return v.is(kind::string) || v.is(kind::symbol);
}
[[nodiscard]] std::string_view key_name(const value& key) noexcept {
    return key.is(kind::string) ? string_bytes(key) : symbol_name(key);
}

/// The value of the first pair ((key value) …) with that key, or null.
/// Null also when the call has to stop.
[[nodiscard]] const value* find_pair(native_call& call, const value& list, std::string_view name) {
    for (const value& pair : list_items(list)) {
        if (!call.spend(1)) return nullptr;
        if (!pair.is(kind::list) || pair.length() != 2) continue;
        const auto parts = list_items(pair);
        if (!is_key(parts[0]) || key_name(parts[0]).size() != name.size()) continue;
        if (!call.spend_bytes(name.size())) return nullptr;
        if (key_name(parts[0]) == name) return &parts[1];
    }
    return nullptr;
}

/// What `key` leads to inside of `container`, or null: a field, the value of a pair, an element.
/// Null also when the call has to stop.
[[nodiscard]] const value* look_up(native_call& call, const value& container, const value& key) {
    if (container.is(kind::list) && key.is_integer()) {
        const auto index = static_cast<std::uint64_t>(key.as_integer());
        return index < container.length() ? &list_items(container)[index] : nullptr;
    }
    if (!is_key(key) || !call.spend_bytes(key_name(key).size())) return nullptr;
    if (container.is(kind::map)) return field_of(container, key_name(key));
    return container.is(kind::list) ? find_pair(call, container, key_name(key)) : nullptr;
}

[[nodiscard]] bool check_container(native_call& call, const value& given) {
    if (given.is(kind::map) || given.is(kind::list) || given.is_nil()) return true;
    static_cast<void>(call.fail_type(1, "a map or an association list", given));
    return false;
}

/// The value of a key that is not there: nil. A FAILED result raises its error in place of a part
/// of the response that it does not have.
[[nodiscard]] value missing_value(native_call& call, const value& container, const value& key) {
    if (is_key(key) && lacks_answer(container, key_name(key)))
        return fail_of_result(call, container);
    return {};
}

value get_field(native_call& call, arguments_span a) {
    if (!check_container(call, a[0]) || !key_argument(call, a, 1)) return {};
    const value* found = look_up(call, a[0], a[1]);
    return found ? *found : missing_value(call, a[0], a[1]);
}

/// The names of some keys, for a message.
[[nodiscard]] std::string some_keys(const value& container) {
    constexpr std::size_t most = 20;
    std::string all;
    std::size_t count = 0;
    if (!container.is(kind::map)) return all;
    for (const map_entry& entry : map_entries(container)) {
        if (++count > most) return all + ", …";
        all += (all.empty() ? "" : ", ") + std::string(utf8::prefix(string_bytes(entry.key), 40));
    }
    return all;
}

value require_field(native_call& call, arguments_span a) {
    if (!check_container(call, a[0]) || !key_argument(call, a, 1)) return {};
    if (const value* found = look_up(call, a[0], a[1])) return *found;
    if (call.work().stopped()) return {};
    if (value nothing = missing_value(call, a[0], a[1]); call.failure()) return nothing;
    const std::string keys = some_keys(a[0]);
    error missing(errc::evaluation, std::string(call.row().name) + ": there is no '" +
                                        utf8::shortened(key_name(a[1]), 200) + "'");
    missing = std::move(missing).with_origin(error_origin::script);
    const std::string hint = a[0].is_nil()  ? "it was asked of nil"
                             : keys.empty() ? "there are no keys"
                                            : "the keys are " + keys;
    return call.fail(std::move(missing).with_hint(hint));
}

value get(native_call& call, arguments_span a) {
    if (!check_container(call, a[0])) return {};
    if (!is_key(a[1]) && !a[1].is_integer()) {
        return call.fail_type(2, "a key (a string or symbol) or an index", a[1]);
    }
    if (const value* found = look_up(call, a[0], a[1])) return *found;
    return a.size() == 3 ? a[2] : missing_value(call, a[0], a[1]);
}

value get_in(native_call& call, arguments_span a) {
    if (!check_container(call, a[0])) return {};
    const auto path = list_argument(call, a, 1);
    if (!path) return {};
    const value* at = &a[0];
    for (std::size_t i = 0; i < path->size(); ++i) {
        const value& key = (*path)[i];
        if (!is_key(key) && !key.is_integer()) {
            return fail_element(call, i, "a key (a string or symbol) or an index", key);
        }
        if (!call.spend(1)) return {};
        const value& inside = *at;
        at = look_up(call, inside, key);
        if (!at) return a.size() == 3 ? a[2] : missing_value(call, inside, key);
    }
    return *at;
}

/// A map given as argument 1; nil counts as the empty one.
[[nodiscard]] bool map_or_nil(native_call& call, value& given) {
    if (given.is_nil()) given = value::empty_map();
    if (given.is(kind::map)) return true;
    static_cast<void>(call.fail_type(1, "a map", given));
    return false;
}

constexpr std::uint64_t work_of_an_entry = 4;

/// What it takes to put an entry into another map, where its key is hashed.
[[nodiscard]] std::uint64_t work_of(const map_entry& entry) noexcept {
    return work_of_an_entry + entry.key.length() / work_meter::bytes_of_a_unit;
}

/// The key as a string value.
[[nodiscard]] value key_string(native_call& call, const value& key) {
    return key.is(kind::string) ? key : make_string(call.memory(), symbol_name(key));
}

[[nodiscard]] value put_element(native_call& call, arguments_span a) {
    const auto index = integer_argument(call, a, 1);
    if (!index) return {};
    const auto items = list_items(a[0]);
    if (*index < 0 || static_cast<std::size_t>(*index) >= items.size()) {
        return call.fail_evaluation("index " + std::to_string(*index) + " is outside a list of " +
                                    std::to_string(items.size()));
    }
    const auto at = static_cast<std::size_t>(*index);
    auto* storage = static_cast<list_object*>(a[0].target());
    if (storage->references == 1 && !storage->places) { // nobody else sees it
        storage->items()[a[0].offset() + at] = std::move(a[2]);
        return std::move(a[0]);
    }
    if (!reserve_elements(call, items.size())) return {};
    auto copy = copy_of_list(call, items, {items.size()});
    if (!copy) return {};
    static_cast<list_object*>(copy->target())->items()[at] = a[2];
    return *std::move(copy);
}

/// A copy of a map. Nothing: stop.
[[nodiscard]] std::optional<value> copy_of_map(native_call& call, const value& map,
                                               std::size_t capacity) {
    if (!call.expect(map.length() * work_of_an_entry)) return std::nullopt;
    value copy = make_map_with_capacity(call.memory(), capacity);
    for (const map_entry& entry : map_entries(map)) {
        if (!call.spend(work_of(entry))) return std::nullopt;
        copy = map_put(call.memory(), std::move(copy), entry.key, entry.item);
    }
    return copy;
}

/// Makes a map one that takes the key in place, if need be a copy. False: stop.
[[nodiscard]] bool own_map(native_call& call, value& map, std::string_view key) {
    constexpr std::uint32_t large = 256;
    if (map_takes_in_place(map, key)) return true;
    const std::size_t room = map_find(map, key) ? map.length() : map.length() * std::size_t{2};
    if (map.length() <= large) {
        if (!call.spend(map.length())) return false;
        map = copy_map(call.memory(), map, std::max<std::size_t>(room, 1));
        return true;
    }
    if (!call.reserve((map.length() + 1) * 2 * sizeof(map_entry))) return false;
    auto copy = copy_of_map(call, map, room);
    if (!copy) return false;
    map = *std::move(copy);
    return true;
}

value put(native_call& call, arguments_span a) {
    if (a[0].is(kind::list)) return put_element(call, a);
    if (!map_or_nil(call, a[0])) return {};
    const auto key = key_argument(call, a, 1);
    if (!key || !call.spend_bytes(key->size())) return {};
    if (map_takes_in_place(a[0], *key) && a[0].target()->owner == &call.memory()) {
        if (const value* known = map_find(a[0], *key)) { // no memory is needed
            *const_cast<value*>(known) = std::move(a[2]);
            return std::move(a[0]);
        }
    }
    value name = key_string(call, a[1]);
    if (!own_map(call, a[0], *key)) return {};
    // Nothing fails any more: what is changed is not lost.
    return map_put(call.memory(), std::move(a[0]), std::move(name), std::move(a[2]));
}

value merge(native_call& call, arguments_span a) {
    std::size_t entries = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].is(kind::map) && !a[i].is_nil()) return call.fail_type(i + 1, "a map", a[i]);
        if (a[i].is(kind::map)) entries += a[i].length();
    }
    if (!call.reserve(entries * sizeof(map_entry))) return {};
    const auto first =
        std::find_if(a.begin(), a.end(), [](const value& map) { return map.length() != 0; });
    if (first == a.end()) return value::empty_map();
    // Nothing is changed before it is certain that the work may be done, and needs no memory.
    const std::size_t added = entries - first->length();
    if (added == 0) return *first;
    const bool owned = first->target()->references == 1 && map_free_places(*first) >= added;
    std::uint64_t expected = owned ? 0 : first->length() * work_of_an_entry;
    for (auto map = first + 1; map != a.end(); ++map) {
        for (const map_entry& entry : map_entries(*map)) expected += work_of(entry);
    }
    if (!call.expect(expected)) return {};
    value merged;
    if (owned) {
        merged = std::move(*first);
    } else {
        auto copy = copy_of_map(call, *first, entries);
        if (!copy) return {};
        merged = *std::move(copy);
    }
    for (auto map = first + 1; map != a.end(); ++map) {
        for (const map_entry& entry : map_entries(*map)) {
            if (!call.spend(work_of(entry))) return {};
            merged = map_put(call.memory(), std::move(merged), entry.key, entry.item);
        }
    }
    return merged;
}

value remove_key(native_call& call, arguments_span a) {
    if (!map_or_nil(call, a[0])) return {};
    const auto key = key_argument(call, a, 1);
    if (!key || !call.reserve(a[0].length() * sizeof(map_entry))) return {};
    if (!map_find(a[0], *key)) return a[0];
    const std::size_t left = a[0].length() - 1;
    if (!call.expect(left * work_of_an_entry)) return {};
    value rest = make_map_with_capacity(call.memory(), left);
    for (const map_entry& entry : map_entries(a[0])) {
        if (!call.spend(work_of(entry))) return {};
        if (string_bytes(entry.key) == *key) continue;
        rest = map_put(call.memory(), std::move(rest), entry.key, entry.item);
    }
    return rest;
}

/// A list with one element made from each entry.
template <class Make>
[[nodiscard]] value list_of_entries(native_call& call, arguments_span a, Make make) {
    if (!a[0].is(kind::map)) return call.fail_type(1, "a map", a[0]);
    const auto entries = map_entries(a[0]);
    if (!reserve_elements(call, entries.size()) || !call.expect(entries.size() * 2)) return {};
    value list = make_list_with_capacity(call.memory(), entries.size());
    for (const map_entry& entry : entries) {
        if (!call.spend(2)) return {};
        list = list_push_back(call.memory(), std::move(list), make(entry));
    }
    return list;
}

value keys(native_call& call, arguments_span a) {
    return list_of_entries(call, a, [](const map_entry& entry) { return entry.key; });
}
value values(native_call& call, arguments_span a) {
    return list_of_entries(call, a, [](const map_entry& entry) { return entry.item; });
}
value entries(native_call& call, arguments_span a) {
    return list_of_entries(call, a, [&](const map_entry& entry) {
        const value pair[] = {entry.key, entry.item};
        return make_list(call.memory(), pair);
    });
}

value has_key(native_call& call, arguments_span a) {
    if (!a[0].is(kind::map)) return call.fail_type(1, "a map", a[0]);
    const auto key = key_argument(call, a, 1);
    if (!key) return {};
    return value::boolean(map_find(a[0], *key) != nullptr);
}

value is_map(native_call&, arguments_span a) { return value::boolean(a[0].is(kind::map)); }

value dict(native_call& call, arguments_span a) {
    if (a.size() % 2 != 0) {
        return call.fail_evaluation(
            "keys and values must come in pairs, but " + std::to_string(a.size()) +
            (a.size() == 1 ? " argument is given" : " arguments are given"));
    }
    if (!call.expect(a.size() * work_of_an_entry)) return {};
    value result = make_map_with_capacity(call.memory(), a.size() / 2);
    for (std::size_t i = 0; i < a.size(); i += 2) {
        if (!key_argument(call, a, i) || !call.spend(work_of_an_entry)) return {};
        result = map_put(call.memory(), std::move(result), key_string(call, a[i]), a[i + 1]);
    }
    return result;
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "maps");
}
constexpr builtin result_row(std::string_view name, native_function run, std::string_view summary,
                             std::string_view example) {
    return pure_row(name, "result", 1, 1, run, summary, example, "results");
}

constexpr std::uint16_t any = builtin::any_number;

constexpr builtin rows[] = {
    row("dict", "key value …", 0, any, dict,
        "A map of the keys (strings or symbols) and values, in this order. A repeated key takes "
        "its last value.",
        "(get-field (dict \"a\" 1 'b 2) 'b) => 2\n(dict) => (json-parse \"{}\")"),
    row("get-field", "m key", 2, 2, get_field,
        "The value of a key of a map or of an association list ((key value) …); nil when it is "
        "missing, and of nil. The key may be a string or a symbol. If a task result lacks the "
        "field, its parsed content is searched; a FAILED one raises its TaskError.",
        "(get-field (dict \"a\" 1) 'a) => 1\n(get-field '((a 1) (b 2)) \"b\") => 2\n"
        "(get-field (dict) 'x) => nil"),
    row("require-field", "m key", 2, 2, require_field,
        "Like get-field, but a missing key is an error that names the existing keys.",
        "(require-field (dict \"a\" 1) 'a) => 1\n"
        "(try (require-field (dict \"a\" 1) 'b) (catch (e) 'missing)) => 'missing"),
    row("get", "m key [default]", 2, 3, get,
        "Like get-field, with a value for a missing key. The key may also be an index of a list.",
        "(get (dict \"a\" 1) 'b 0) => 0\n(get '(x y) 1) => 'y"),
    row("get-in", "m path [default]", 2, 3, get_in,
        "The value at a path of keys and indexes; nil, or the default, if the path ends early.",
        "(get-in (dict \"a\" (list 1 (dict \"b\" 2))) '(a 1 b)) => 2\n"
        "(get-in (dict) '(a b) 0) => 0"),
    row("put", "m key value", 3, 3, put,
        "The map with the key set; an existing key keeps its position. For a list, the element "
        "at the index is replaced. nil counts as the empty map.",
        "(put (dict \"a\" 1) 'a 2) => (dict \"a\" 2)\n(put '(1 2 3) 1 'x) => '(1 x 3)"),
    row("merge", "maps…", 0, any, merge,
        "All maps in one; if several have a key, the last value is used.",
        "(merge (dict \"a\" 1 \"b\" 1) (dict \"b\" 2)) => (dict \"a\" 1 \"b\" 2)"),
    row("remove-key", "m key", 2, 2, remove_key, "The map without the key.",
        "(remove-key (dict \"a\" 1 \"b\" 2) 'a) => (dict \"b\" 2)"),
    row("keys", "m", 1, 1, keys, "The keys of a map, strings, in their order.",
        "(keys (dict \"a\" 1 \"b\" 2)) => '(\"a\" \"b\")"),
    row("values", "m", 1, 1, values, "The values of a map in the order of its keys.",
        "(values (dict \"a\" 1 \"b\" 2)) => '(1 2)"),
    row("entries", "m", 1, 1, entries, "A list (key value) for each key of a map.",
        "(entries (dict \"a\" 1)) => '((\"a\" 1))"),
    row("has-key?", "m key", 2, 2, has_key,
        "True when the map has the key, even with the value nil.",
        "(has-key? (dict \"a\" nil) 'a) => true"),
    constant_time(row("map?", "x", 1, 1, is_map, "True for maps.",
                      "(map? (dict)) => true\n(map? '()) => false")),
    result_row("content", result_content,
               "The content of a task result; raises the TaskError of a FAILED one.",
               "(content (dict \"status\" \"COMPLETE\" \"content\" \"hi\")) => \"hi\""),
    result_row("parsed", result_parsed,
               "The parsed content of a task result, nil when it has none; raises the TaskError of "
               "a FAILED one.",
               "(parsed (dict \"status\" \"COMPLETE\" \"content\" \"[1]\" \"parsedContent\" "
               "'(1))) => '(1)"),
    constant_time(result_row(
        "notes", result_notes, "The notes of a task result, FAILED or not.",
        "(notes (dict \"status\" \"COMPLETE\" \"content\" \"\" \"notes\" (dict \"a\" 1))) => "
        "(dict \"a\" 1)")),
    constant_time(result_row("ok?", result_is_ok, "True unless the task result is FAILED.",
                             "(ok? (dict \"status\" \"FAILED\" \"content\" \"\")) => false")),
};

} // namespace

std::span<const builtin> map_builtins() noexcept { return rows; }

} // namespace heddle::lang
