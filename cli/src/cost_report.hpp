// How reports show a cost of which a part may be unknown.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>

namespace heddle::cli {

/// "$0.42", "$0.42 and 3 calls of unknown cost", "cost unknown"; empty: it has cost nothing.
/// `unpriced`: calls whose price is not known.
[[nodiscard]] std::string cost_text(double usd, std::uint64_t unpriced);
/// What is known of it in US dollars; null, not a wrong zero, where nothing is.
[[nodiscard]] boost::json::value cost_json(double usd, std::uint64_t unpriced);

} // namespace heddle::cli
