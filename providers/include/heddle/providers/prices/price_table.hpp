// Prices of models.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/price_port.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers {

/// US dollars for a million tokens.
struct token_prices {
    double input = 0;
    double output = 0;
    std::optional<double> cached_input; ///< empty: as input
    std::optional<double> cache_write;  ///< empty: as input
};

struct model_price {
    token_prices usual;
    /// For requests with more input tokens than `long_above`; 0: none.
    token_prices long_prompt;
    std::int64_t long_above = 0;

    /// The cost is finite and not negative, whatever the figures.
    [[nodiscard]] double cost_of(const ports::token_usage& usage) const noexcept;
};

/// Prices by provider and model, from a built-in file and from files of the user.
///
/// A model is found by its whole name; then without a suffix for its version (a date, "latest",
/// "preview"); then by the longest name in the table that ends in "*". Nothing else counts as the
/// same model: an unknown model has no price. Threads: any, once it is filled.
class price_table final : public ports::price_port {
public:
    /// The built-in prices.
    [[nodiscard]] static price_table built_in();

    /// Adds the prices of a file in the format of providers/data/prices.json; they take precedence
    /// over existing ones. `where`: the name of the file in errors. Nothing is added if there is an
    /// error. Errors: invalid_argument with the place; limit_exceeded.
    [[nodiscard]] result<void> add(std::string_view json, std::string_view where);

    /// Sets the prices of a provider of another name, or of a route, to those of `like`, unless it
    /// has its own.
    void price_as(std::string name, std::string_view like);
    /// The same in place of its own; if `like` is unknown, so are the prices of `name`.
    void replace(std::string name, std::string_view like);
    /// Whether the models of a provider that have no price cost nothing.
    [[nodiscard]] bool is_free(std::string_view provider) const noexcept;
    /// Whether a file that was added has prices for a provider of that name.
    [[nodiscard]] bool has_added(std::string_view provider) const noexcept {
        const auto found = providers_.find(provider);
        return found != providers_.end() && !found->second.built_in;
    }

    [[nodiscard]] const model_price* find(std::string_view provider, std::string_view model) const;
    [[nodiscard]] std::optional<double> cost_usd(std::string_view provider, std::string_view model,
                                                 const ports::token_usage& usage) const override;
    /// The date of the built-in prices, "2025-12-31".
    [[nodiscard]] const std::string& figures_as_of() const noexcept { return as_of_; }

private:
    struct provider_prices {
        bool free = false;
        bool built_in = false; ///< nothing was added to them
        std::map<std::string, model_price, std::less<>> models;
        std::map<std::string, model_price, std::less<>> prefixes; // without their star
    };
    using table = std::map<std::string, provider_prices, std::less<>>;
    friend class price_reader;

    table providers_;
    std::string as_of_;
};

} // namespace heddle::providers
