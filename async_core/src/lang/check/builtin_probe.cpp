#include "lang/check/builtin_probe.hpp"

#include "lang/builtins/format.hpp"
#include "lang/builtins/support.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t max_probed_arguments = 64;
constexpr std::size_t max_combinations = 2000;
constexpr std::int64_t max_number = 10'000; ///< of a constant: what it makes stays small
constexpr std::size_t max_constant_length = 4096;

/// Work of one call: samples are small, so a longer call proves nothing.
class short_work final : public work_meter {
public:
    short_work() noexcept : work_meter(100'000) {}

private:
    bool pass() override { return !(stopped_ = true); }
    bool foresee(std::uint64_t) override { return !(stopped_ = true); }
};

[[nodiscard]] bool is_small(const value& constant) {
    if (constant.is_integer())
        return constant.as_integer() <= max_number && constant.as_integer() >= -max_number;
    return constant.length() <= max_constant_length;
}

/// Stand-in for a future.
class host_sample final : public host_object {
public:
    [[nodiscard]] std::string_view type_name() const noexcept override { return "future"; }
    [[nodiscard]] std::string describe() const override { return "future"; }
};

/// Builtins whose errors, beside those of kinds, come from a pattern, a text with places or the
/// number of arguments alone.
[[nodiscard]] bool fails_by_form(const builtin& row, std::span<const known_value> arguments) {
    if (row.name == "dict") return true;
    const bool pattern = row.family == "regex" || row.name == "format";
    return pattern && !arguments.empty() && arguments[0].constant;
}

/// Counts through all combinations of samples. Unknown arguments behind the second share one
/// sample.
class combinations {
public:
    explicit combinations(const std::vector<std::vector<const value*>>& from)
        : from_(from), at_(from.size()) {
        std::size_t open = 0;
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (from[i].size() < 2) continue;
            if (++open > 2) shared_.push_back(i);
            else wheels_.push_back({i});
        }
        if (!shared_.empty()) wheels_.push_back(shared_);
    }

    [[nodiscard]] std::size_t count() const {
        std::size_t all = 1;
        for (const auto& wheel : wheels_) all *= from_[wheel.front()].size();
        return all;
    }
    [[nodiscard]] std::vector<value> current() const {
        std::vector<value> values;
        values.reserve(from_.size());
        for (std::size_t i = 0; i < from_.size(); ++i)
            values.push_back(*from_[i][std::min(at_[i], from_[i].size() - 1)]);
        return values;
    }
    [[nodiscard]] bool next() {
        for (const auto& wheel : wheels_) {
            const std::size_t turned = at_[wheel.front()] + 1;
            const bool around = turned == from_[wheel.front()].size();
            for (const std::size_t i : wheel) at_[i] = around ? 0 : turned;
            if (!around) return true;
        }
        return false;
    }

private:
    const std::vector<std::vector<const value*>>& from_;
    std::vector<std::size_t> at_;
    std::vector<std::size_t> shared_;
    std::vector<std::vector<std::size_t>> wheels_;
};

} // namespace

builtin_probe::builtin_probe(heap& memory) : memory_(memory) {
    marker_ = value::of_builtin(*find_builtin("gensym"));
    host_ = make_host(memory_, std::make_unique<host_sample>());
    const auto list = [&](std::initializer_list<value> items) {
        return make_list(memory_, std::vector<value>(items));
    };
    const auto text = [&](std::string_view content) { return make_string(memory_, content); };
    const value one = value::integer(1);
    value map = map_put(memory_, value::empty_map(), "a", marker_);
    value result = map_put(memory_, value::empty_map(), "status", text("COMPLETE"));
    for (const char* key : {"content", "parsedContent", "notes"})
        result = map_put(memory_, std::move(result), key, marker_);
    samples_ = {value(),
                value::boolean(true),
                value::integer(0),
                one,
                value::real(2.5),
                text(""),
                text("a"),
                text("1"),
                text("2.5"),
                text("\"a\""),
                text("[]"),
                text("{}"),
                memory_.symbol("a"),
                value::empty_list(),
                list({marker_}),
                list({text("a"), text("b")}),
                list({one, value::integer(2)}),
                list({list({text("a"), marker_})}),
                list({list({one})}),
                list({map}),
                value::empty_map(),
                map,
                result,
                marker_};
    result_sample_ = samples_.size() - 2;
}

std::vector<const value*> builtin_probe::samples_of(const known_value& known) const {
    std::vector<const value*> values;
    if (known.constant) return {&*known.constant};
    if (known.type == kind::host) return {&host_};
    for (const value& each : known.samples) values.push_back(&each);
    if (!values.empty()) return values;
    for (const value& each : samples_) {
        const bool function = each.is(kind::builtin);
        if (!known.type || (function ? *known.type == kind::closure : each.is(*known.type)))
            values.push_back(&each);
    }
    return values;
}

std::vector<value> builtin_probe::maps_with(const value& map,
                                            std::span<const std::string> open) const {
    std::vector<value> values;
    const value& result = samples_[result_sample_];
    for (const value& each : samples_) {
        value one = map;
        for (const std::string& key : open) one = map_put(memory_, std::move(one), key, each);
        values.push_back(std::move(one));
    }
    // What has the keys of a result may be one.
    value one = map;
    for (const std::string& key : open) {
        const value* item = map_find(result, key);
        one = map_put(memory_, std::move(one), key, item ? *item : marker_);
    }
    values.push_back(std::move(one));
    return values;
}

std::optional<builtin_probe::run_outcome> builtin_probe::run(const builtin& row,
                                                             std::vector<value> arguments) {
    if (runs_left_ == 0) return std::nullopt;
    --runs_left_;
    short_work work;
    native_call call(memory_, row, work);
    value result = row.run(call, arguments);
    if (work.stopped()) return std::nullopt;
    return run_outcome{std::move(call.failure()), std::move(result)};
}

/// What a text for `format` takes its named places from.
value builtin_probe::map_of_places(const value& text) const {
    value result = value::empty_map();
    if (!text.is(kind::string)) return result;
    for (const std::string_view name : places_in(string_bytes(text)))
        result = map_put(memory_, std::move(result), name, marker_);
    return result;
}

std::optional<builtin_probe::refusal> builtin_probe::refuses(
    const builtin& row, std::span<const known_value> arguments) {
    if (row.how != builtin_kind::pure || !row.run || arguments.size() > max_probed_arguments ||
        arguments.size() < row.min_arguments || arguments.size() > row.max_arguments)
        return std::nullopt;
    bool any_known = false;
    bool all_constant = true;
    choices from;
    for (const known_value& each : arguments) {
        if (each.constant && !is_small(*each.constant)) return std::nullopt;
        any_known = any_known || each.known();
        all_constant = all_constant && each.constant;
        from.push_back(samples_of(each));
    }
    const auto is_open = [](const known_value& each) { return !each.constant; };
    const auto open = std::find_if(arguments.begin(), arguments.end(), is_open);
    const bool one =
        arguments.size() == 1 || std::count_if(arguments.begin(), arguments.end(), is_open) == 1;
    // From 1; the only argument, or the only one that is not a constant.
    const std::size_t only_open = !one ? 0
                                  : arguments.size() == 1
                                      ? 1
                                      : static_cast<std::size_t>(open - arguments.begin()) + 1;
    const bool by_form = fails_by_form(row, arguments);
    if (!any_known && !by_form) return std::nullopt;
    const value places = row.name == "format" && by_form ? map_of_places(*arguments[0].constant)
                                                         : value::empty_map();
    for (std::size_t i = 1; i < from.size() && places.length() != 0; ++i) {
        // First, so that all unknown arguments are it at once.
        const known_value& each = arguments[i];
        if (!each.constant && (!each.type || *each.type == kind::map))
            from[i].insert(from[i].begin(), &places);
    }
    combinations tried(from);
    if (tried.count() > max_combinations) return std::nullopt;
    std::optional<refusal> found;
    do {
        const auto ended = run(row, tried.current());
        if (!ended || !ended->failure) return std::nullopt;
        const error& failure = *ended->failure;
        if (failure.code() == errc::type) {
            std::size_t argument = refused_argument(row, failure);
            if (argument == 0) argument = only_open; // it can be about no other
            if (argument == 0 || argument > arguments.size()) {
                if (!all_constant) return std::nullopt;
            } else if (!arguments[argument - 1].known()) {
                continue; // that sample was never meant
            }
            if (!found) found = refusal{argument, failure.message()};
            continue;
        }
        if (failure.code() != errc::evaluation || (!all_constant && !by_form)) return std::nullopt;
        if (!found) found = refusal{0, failure.message()};
    } while (tried.next());
    return found;
}

const known_value& builtin_probe::result_of(const builtin& row) {
    const auto [place, fresh] = results_.try_emplace(&row);
    if (fresh && row.how == builtin_kind::pure && row.run) place->second = find_result(row);
    return place->second;
}

known_value builtin_probe::find_result(const builtin& row) {
    const std::size_t fewest = std::max<std::size_t>(row.min_arguments, 1);
    const std::size_t most =
        std::max<std::size_t>(fewest, std::min<std::size_t>(row.max_arguments, 2));
    const auto is_number = [](const value& v) { return v.is_integer() || v.is_real(); };
    std::optional<kind> all;
    bool numbers = true;
    bool one_kind = true;
    for (std::size_t count = fewest; count <= most; ++count) {
        choices from;
        for (std::size_t i = 0; i < count; ++i) from.push_back(samples_of({}));
        combinations tried(from);
        do {
            const auto ended = run(row, tried.current());
            if (!ended) return {};
            if (ended->failure) continue;
            const value& created = ended->result;
            const bool trusted = created.is(kind::list) || created.is(kind::map) ||
                                 created.is(kind::string) || created.is(kind::boolean) ||
                                 is_number(created);
            if (!trusted) return {};
            numbers = numbers && is_number(created);
            one_kind = one_kind && !created.is_real() && (!all || created.is(*all));
            if (!numbers && !one_kind) return {};
            all = created.type();
        } while (tried.next());
    }
    if (!all) return {};
    if (one_kind) return {{}, all, with_article(kind_name(*all))};
    known_value created;
    created.noun = "a number";
    std::copy_if(samples_.begin(), samples_.end(), std::back_inserter(created.samples), is_number);
    return created;
}

} // namespace heddle::lang
