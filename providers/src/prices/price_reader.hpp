// Reads a file of prices.
#pragma once

#include <heddle/providers/prices/price_table.hpp>

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace heddle::providers {

class price_reader {
public:
    explicit price_reader(std::string_view where) : where_(where) {}

    /// Errors: as price_table::add.
    [[nodiscard]] result<price_table> read(std::string_view json);

private:
    [[nodiscard]] error wrong(std::string_view place, std::string_view what) const;
    [[nodiscard]] result<void> read_provider(const boost::json::value& from, std::string place,
                                             price_table& into) const;
    [[nodiscard]] result<void> read_model(std::string_view name, const boost::json::value& from,
                                          const std::string& place,
                                          price_table::provider_prices& into) const;
    [[nodiscard]] result<token_prices> read_prices(const boost::json::object& from,
                                                   const std::string& place) const;

    std::string where_;
};

} // namespace heddle::providers
