#include "with_settings.hpp"

#include "extents.hpp"
#include "join.hpp"

#include "lang/json/json_writing.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/conversation_extent.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace heddle::lang {

namespace {

constexpr double max_timeout = 1e9; ///< seconds, some thirty years
constexpr std::int64_t max_retries = 100;
constexpr std::size_t max_request_json = std::size_t{64} * 1024; ///< bytes
constexpr std::size_t max_request_depth = 32;
constexpr std::size_t max_strings = 64;
constexpr std::string_view too_large = "at most 64 KiB as JSON, and at most 32 levels deep";

[[nodiscard]] bool is_number(const value& v) noexcept { return v.is_integer() || v.is_real(); }

[[nodiscard]] double number(const value& v) noexcept {
    return v.is_integer() ? static_cast<double>(v.as_integer()) : v.as_real();
}

[[nodiscard]] std::string_view word(const value& v) noexcept {
    if (v.is(kind::symbol)) return symbol_name(v);
    return v.is(kind::string) ? string_bytes(v) : std::string_view();
}

// ---------------------------------------------------------------- checks

const char* positive_count(const value& v) {
    return v.is_integer() && v.as_integer() >= 1 ? nullptr : "a positive integer";
}

const char* count(const value& v) {
    return v.is_integer() && v.as_integer() >= 0 ? nullptr : "a non-negative integer";
}

const char* seconds(const value& v) {
    if (!is_number(v)) return "a number of seconds";
    return number(v) >= 0 ? nullptr : "a non-negative number of seconds";
}

const char* dollars(const value& v) {
    if (!is_number(v)) return "a number";
    return number(v) >= 0 ? nullptr : "a non-negative number";
}

const char* text(const value& v) { return v.is(kind::string) ? nullptr : "a string"; }

const char* retries(const value& v) {
    return !count(v) && v.as_integer() <= max_retries ? nullptr : "a whole number from 0 to 100";
}

const char* failure_choice(const value& v) {
    return word(v) == "raise" || word(v) == "return" ? nullptr : "'raise or 'return";
}

const char* strings(const value& v) {
    constexpr const char* expected = "a list of strings";
    if (!v.is(kind::list)) return expected;
    const auto items = list_items(v);
    const bool good = std::all_of(items.begin(), items.end(),
                                  [](const value& item) { return item.is(kind::string); });
    return good ? nullptr : expected;
}

const char* flag(const value& v) { return v.is_boolean() ? nullptr : "true or false"; }

const char* anything(const value&) { return nullptr; }

// ---------------------------------------------------------------- what they do

void bound_branches(scope_change& change, const value&, const value& given) {
    auto branches = static_cast<std::size_t>(given.as_integer());
    dynamic_scope& scope = change.scope;
    // Code in a sandbox does not loosen the bound that it was given.
    if (scope.sandbox && scope.concurrency)
        branches = std::min(branches, scope.concurrency->limit());
    scope.concurrency = host_ref<concurrency_scope>::make(
        change.memory, std::make_unique<concurrency_scope>(branches));
}

void bound_time(scope_change& change, const value&, const value& given) {
    set_deadline(change.memory, change.scope, change.realm.host().begin_time(),
                 std::min(number(given), max_timeout));
}

void bound_dollars(scope_change& change, const value&, const value& given) {
    change.usd = number(given);
}

void bound_calls(scope_change& change, const value&, const value& given) {
    change.calls = static_cast<std::uint64_t>(given.as_integer());
}

/// What the host reads when it answers a request.
void keep(scope_change& change, const value& name, const value& given) {
    change.scope.settings = map_put(change.memory, std::move(change.scope.settings), name, given);
}

void open_conversation(scope_change& change, const value& name, const value& given) {
    value kept = given;
    if (given.truthy()) {
        const sandbox_policy* const sandbox = change.scope.sandbox.get();
        kept = make_host(change.memory, std::make_unique<conversation_extent>(
                                            change.realm.note_host_event(),
                                            sandbox ? sandbox->own().as_value() : value()));
    }
    keep(change, name, kept);
}

constexpr std::array<with_setting, 12> own_rows{{
    {"concurrency", "how many branches run at a time", "", false, &positive_count, &bound_branches},
    {"timeout", "seconds; when they are over the body ends with a TimeoutError", "", false,
     &seconds, &bound_time},
    {"deadline", "as timeout", "", false, &seconds, &bound_time},
    {"model", "the model of the tasks called inside", "", true, &text, &keep},
    {"provider", "the provider of their model", "", true, &text, &keep},
    {"retries", "how often a task is tried again, 0 to 100", "", false, &retries, &keep},
    {"budget-usd", "what the tasks called inside may cost together", "", false, &dollars,
     &bound_dollars},
    {"max-calls", "how many calls of models they may make together", "", false, &count,
     &bound_calls},
    {"cache", "false: responses are not taken from the cache", "", false, &flag, &keep},
    {"conversation",
     "true: the tasks called inside share a conversation that begins empty; false: none has one",
     "", false, &flag, &open_conversation},
    {"on-failure", "'raise: a FAILED task result raises; 'return: it is a value", "", false,
     &failure_choice, &keep},
    {"files", "the paths that tasks called inside inherit as their context",
     "with: a sandbox cannot pass files to tasks", false, &strings, &keep},
}};

/// How the calls inside repeat one that is under way or has failed: 'hedge or 'retry. The response
/// cache does not answer them with what they repeat.
constexpr with_setting repeats{"%repeats", "", "", false, &anything, &keep};

/// The rows above, and those of the requests.
std::vector<with_setting> all_rows() {
    std::vector<with_setting> settings(own_rows.begin(), own_rows.end());
    for (const request_setting& each : request_settings()) {
        // A service may know parameters that cost money, or reach further than the request.
        const bool open = each.kind == request_setting_kind::parameters;
        const std::string_view refusal = open ? "with: a sandbox cannot pass parameters" : "";
        settings.push_back({each.name, each.documentation, refusal, false, nullptr, &keep, &each});
    }
    return settings;
}

/// Whether a value may be one of that kind, as far as a look at its outermost list shows.
bool has_shape(request_setting_kind wanted, const value& given) {
    const auto is_word = [](const value& v) { return v.is(kind::string) || v.is(kind::symbol); };
    switch (wanted) {
    case request_setting_kind::number:
    case request_setting_kind::whole: return is_number(given);
    case request_setting_kind::flag: return given.is_boolean();
    case request_setting_kind::word: return is_word(given);
    case request_setting_kind::strings: {
        if (!given.is(kind::list)) return is_word(given);
        const auto items = list_items(given);
        return items.size() <= max_strings && std::all_of(items.begin(), items.end(), is_word);
    }
    case request_setting_kind::parameters: return given.is(kind::list) || given.is(kind::map);
    }
    return false;
}

/// As expected_of(), for a setting of requests.
std::string_view expected_of(const request_setting& row, const value& given, work_meter& work) {
    if (!has_shape(row.kind, given)) return row.expected;
    // Small data that holds one part at many places has a JSON text without end.
    json_write_options bounds;
    bounds.max_bytes = max_request_json;
    bounds.max_depth = max_request_depth;
    text_builder text(work);
    if (const auto failure = write_json(text, given, bounds))
        return failure->code() == heddle::errc::limit_exceeded ? too_large : row.expected;
    const auto json = std::move(text).text();
    return json && fits(row, *json) ? std::string_view() : row.expected;
}

/// What the value must be, when it is not; else empty.
std::string_view expected_of(const with_setting& row, const value& given, work_meter& work) {
    if (row.request) return expected_of(*row.request, given, work);
    if (given.is(kind::list)) (void)work.spend(given.length());
    const char* expected = row.check(given);
    return expected ? std::string_view(expected) : std::string_view();
}

} // namespace

std::span<const with_setting> with_settings() noexcept {
    static const std::vector<with_setting> rows = all_rows();
    return rows;
}

const with_setting* find_with_setting(std::string_view name) noexcept {
    if (name == repeats.name) return &repeats;
    const auto rows = with_settings();
    const auto at = std::find_if(rows.begin(), rows.end(),
                                 [&](const with_setting& row) { return row.name == name; });
    return at == rows.end() ? nullptr : &*at;
}

std::string wrong_setting(std::string_view name, const value& given, work_meter& work) {
    const with_setting* row = find_with_setting(name);
    const std::string_view expected =
        row ? expected_of(*row, given, work) : "a setting that is known";
    if (expected.empty()) return {};
    return "with: " + std::string(name) + " must be " + std::string(expected) + ", not " +
           shown(given);
}

std::string with_setting_names() {
    std::string all;
    for (const with_setting& row : with_settings()) {
        if (!all.empty()) all += ", ";
        all += row.name;
    }
    return all;
}

result<scope_ref> open_settings(realm& realm, const scope_ref& outer, const value& added,
                                work_meter& work) {
    heap& memory = realm.memory();
    std::optional<error> refused;
    scope_ref created = outer.open(memory, [&](dynamic_scope& scope) {
        scope_change change{realm, memory, scope, {}, {}};
        for (const map_entry& entry : map_entries(added)) {
            const with_setting* row = find_with_setting(string_bytes(entry.key));
            if (std::string wrong = wrong_setting(string_bytes(entry.key), entry.item, work);
                !wrong.empty()) {
                refused = error(errc::type, std::move(wrong));
                return;
            }
            if (row->chooses_model && scope.sandbox) {
                refused = scope.sandbox->refuse_model(string_bytes(entry.item));
                if (refused) return;
            }
            row->apply(change, entry.key, entry.item);
        }
        if (change.usd || change.calls) {
            scope.counted = host_ref<counted_extent>::make(
                memory, std::make_unique<counted_extent>(change.usd, change.calls, scope.counted));
        }
    });
    if (refused) return *std::move(refused);
    return created;
}

} // namespace heddle::lang
