// What calls of models cost.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <optional>
#include <string_view>

namespace heddle::ports {

/// A list of prices. Threads: any.
class price_port {
public:
    virtual ~price_port() = default;
    /// The price in US dollars of a use of a model, `model` as named in the request; nothing if it
    /// is unknown.
    [[nodiscard]] virtual std::optional<double> cost_usd(std::string_view provider,
                                                         std::string_view model,
                                                         const token_usage& usage) const = 0;
};

} // namespace heddle::ports
