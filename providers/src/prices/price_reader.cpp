#include "prices/price_reader.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include <cmath>
#include <utility>

namespace heddle::providers {

namespace json = boost::json;

namespace {

constexpr std::size_t max_file_bytes = 4 * 1024 * 1024;
constexpr double highest_price = 1e6;

std::optional<double> number_of(const json::value& from) {
    if (!from.is_number()) return std::nullopt;
    const double number = from.to_number<double>();
    if (!std::isfinite(number) || number < 0 || number > highest_price) return std::nullopt;
    return number;
}

} // namespace

error price_reader::wrong(std::string_view place, std::string_view what) const {
    std::string message = where_;
    message += ": ";
    if (!place.empty()) {
        message += place;
        message += ' ';
    }
    message += what;
    return error(errc::invalid_argument, std::move(message))
        .with_hint("docs/reference/prices.md shows the format");
}

result<token_prices> price_reader::read_prices(const json::object& from,
                                               const std::string& place) const {
    token_prices prices;
    bool has_input = false;
    bool has_output = false;
    for (const auto& [name, item] : from) {
        if (name == "long" || name == "above") continue;
        const auto price = number_of(item);
        const std::string at = place + "." + std::string(name);
        if (!price) return wrong(at, "must be dollars for a million tokens, 0 or more");
        if (name == "input") has_input = (prices.input = *price, true);
        else if (name == "output") has_output = (prices.output = *price, true);
        else if (name == "cached_input") prices.cached_input = *price;
        else if (name == "cache_write") prices.cache_write = *price;
        else {
            return wrong(at,
                         "is not known; there are input, cached_input, cache_write, output and "
                         "long");
        }
    }
    if (!has_input || !has_output) return wrong(place, "lacks its input or its output");
    return prices;
}

result<void> price_reader::read_model(std::string_view name, const json::value& from,
                                      const std::string& place,
                                      price_table::provider_prices& into) const {
    const json::object* object = from.if_object();
    if (!object) return wrong(place, "must be an object");
    model_price price;
    HEDDLE_TRY(price.usual, read_prices(*object, place));
    if (const json::value* beyond = object->if_contains("long")) {
        const std::string at = place + ".long";
        const json::object* prices = beyond->if_object();
        const json::value* above = prices ? prices->if_contains("above") : nullptr;
        if (!above || !above->is_int64() || above->get_int64() <= 0) {
            return wrong(at, "must be an object with above, a number of tokens, and prices");
        }
        price.long_above = above->get_int64();
        HEDDLE_TRY(price.long_prompt, read_prices(*prices, at));
    }
    if (name.ends_with('*')) into.prefixes[std::string(name.substr(0, name.size() - 1))] = price;
    else into.models[std::string(name)] = price;
    return {};
}

result<void> price_reader::read_provider(const json::value& from, std::string place,
                                         price_table& into) const {
    const json::object* object = from.if_object();
    if (!object) return wrong(place, "must be an object");
    for (const auto& [name, item] : *object) {
        if (name == "names" || name == "models" || name == "free") continue;
        return wrong(place + "." + std::string(name),
                     "is not known; there are names, models, free");
    }
    price_table::provider_prices prices;
    if (const json::value* free = object->if_contains("free")) {
        if (!free->is_bool()) return wrong(place + ".free", "must be true or false");
        prices.free = free->get_bool();
    }
    if (const json::value* models = object->if_contains("models")) {
        if (!models->is_object()) return wrong(place + ".models", "must be an object");
        for (const auto& [name, item] : models->get_object()) {
            HEDDLE_CHECK(
                read_model(name, item, place + ".models[\"" + std::string(name) + "\"]", prices));
        }
    }
    const json::value* names = object->if_contains("names");
    if (!names || !names->is_array() || names->get_array().empty()) {
        return wrong(place + ".names", "must be a list of names of providers");
    }
    for (const json::value& name : names->get_array()) {
        if (!name.is_string()) return wrong(place + ".names", "must be a list of strings");
        into.providers_[std::string(name.get_string())] = prices;
    }
    return {};
}

result<price_table> price_reader::read(std::string_view text) {
    if (text.size() > max_file_bytes) {
        return error(errc::limit_exceeded, where_ + ": is larger than 4 MiB");
    }
    boost::system::error_code failed;
    const json::value whole = json::parse({text.data(), text.size()}, failed);
    if (failed) return wrong("", "is not JSON: " + failed.message());
    const json::object* object = whole.if_object();
    const json::value* providers = object ? object->if_contains("providers") : nullptr;
    if (!providers || !providers->is_array()) {
        return wrong("", "must be an object with a list of providers");
    }
    for (const auto& [name, item] : *object) {
        if (name == "about" || name == "figures_as_of" || name == "providers") continue;
        return wrong(std::string(name), "is not known; there are about, figures_as_of, providers");
    }
    price_table table;
    if (const json::value* day = object->if_contains("figures_as_of")) {
        if (!day->is_string()) return wrong("figures_as_of", "must be a date as text");
        table.as_of_ = std::string(day->get_string());
    }
    std::size_t index = 0;
    for (const json::value& each : providers->get_array()) {
        HEDDLE_CHECK(read_provider(each, "providers[" + std::to_string(index++) + "]", table));
    }
    return table;
}

} // namespace heddle::providers
