#include <heddle/providers/prices/price_table.hpp>

#include <heddle/base/ascii.hpp>

#include "prices/price_reader.hpp"
#include "prices/price_sources.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace heddle::providers {

namespace {

constexpr double million = 1e6;
const model_price nothing_to_pay{};

/// "20250514", "2024-08-06", "0613", "latest", "preview", "exp", "001".
bool is_version(std::string_view text) noexcept {
    for (const std::string_view word : {"latest", "preview", "exp"}) {
        if (text == word) return true;
        if (text.starts_with(word) && text.size() > word.size() + 1 && text[word.size()] == '-') {
            text.remove_prefix(word.size() + 1); // "preview-05-20"
            break;
        }
    }
    const auto digits =
        static_cast<std::size_t>(std::count_if(text.begin(), text.end(), ascii::is_digit));
    const auto dashes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '-'));
    // One digit is a version of its own ("claude-opus-4-1"), two may be.
    return digits >= 3 && digits + dashes == text.size() && ascii::is_digit(text.front()) &&
           ascii::is_digit(text.back());
}

} // namespace

double model_price::cost_of(const ports::token_usage& usage) const noexcept {
    const auto sane = [](std::int64_t said) {
        return std::clamp<std::int64_t>(said, 0, 1'000'000'000'000);
    };
    const std::int64_t input = sane(usage.input);
    const token_prices& prices = long_above != 0 && input > long_above ? long_prompt : usual;
    const std::int64_t cached = std::min(sane(usage.cached), input);
    const std::int64_t written = std::min(sane(usage.cache_written), input - cached);
    const double plain = static_cast<double>(input - cached - written);
    return (plain * prices.input +
            static_cast<double>(cached) * prices.cached_input.value_or(prices.input) +
            static_cast<double>(written) * prices.cache_write.value_or(prices.input) +
            static_cast<double>(sane(usage.output)) * prices.output) /
           million;
}

price_table price_table::built_in() {
    price_table table;
    for (const price_source& each : price_sources()) {
        const auto added = table.add(each.text, "the built-in prices");
        if (!added) throw std::logic_error(added.error().message()); // a test reads it as well
    }
    for (auto& [name, prices] : table.providers_) prices.built_in = true;
    return table;
}

result<void> price_table::add(std::string_view json, std::string_view where) {
    HEDDLE_TRY(price_table read, price_reader(where).read(json));
    if (as_of_.empty()) as_of_ = read.as_of_;
    for (auto& [name, prices] : read.providers_) {
        provider_prices& into = providers_[name];
        into.free = into.free || prices.free;
        into.built_in = false;
        for (auto& [model, price] : prices.models) into.models[model] = price;
        for (auto& [prefix, price] : prices.prefixes) into.prefixes[prefix] = price;
    }
    return {};
}

void price_table::price_as(std::string name, std::string_view like) {
    const auto known = providers_.find(like);
    if (known == providers_.end()) return;
    provider_prices copy = known->second;
    providers_.try_emplace(std::move(name), std::move(copy));
}

void price_table::replace(std::string name, std::string_view like) {
    const auto known = providers_.find(like);
    provider_prices copy = known == providers_.end() ? provider_prices() : known->second;
    providers_.insert_or_assign(std::move(name), std::move(copy));
}

bool price_table::is_free(std::string_view provider) const noexcept {
    const auto found = providers_.find(provider);
    return found != providers_.end() && found->second.free;
}

const model_price* price_table::find(std::string_view provider, std::string_view model) const {
    const auto found = providers_.find(provider);
    if (found == providers_.end()) return nullptr;
    const provider_prices& prices = found->second;
    if (const auto exact = prices.models.find(model); exact != prices.models.end()) {
        return &exact->second;
    }
    for (std::size_t cut = model.find_last_of("-@"); cut != std::string_view::npos && cut != 0;
         cut = model.find_last_of("-@", cut - 1)) {
        if (!is_version(model.substr(cut + 1))) continue;
        const auto base = prices.models.find(model.substr(0, cut));
        if (base != prices.models.end()) return &base->second;
    }
    const std::size_t longest = prices.prefixes.empty() ? 0 : model.size() + 1;
    for (std::size_t length = longest; length-- != 0;) {
        const auto prefix = prices.prefixes.find(model.substr(0, length));
        if (prefix != prices.prefixes.end()) return &prefix->second;
    }
    return prices.free ? &nothing_to_pay : nullptr;
}

std::optional<double> price_table::cost_usd(std::string_view provider, std::string_view model,
                                            const ports::token_usage& usage) const {
    const model_price* const price = find(provider, model);
    if (!price) return std::nullopt;
    return price->cost_of(usage);
}

} // namespace heddle::providers
