#include "cost_report.hpp"

#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

namespace heddle::cli {

std::string cost_text(double usd, std::uint64_t unpriced) {
    if (usd <= 0) return unpriced == 0 ? "" : "cost unknown";
    std::string text = setup::dollars(usd);
    if (unpriced != 0) text += " and " + setup::counted(unpriced, "call") + " of unknown cost";
    return text;
}

boost::json::value cost_json(double usd, std::uint64_t unpriced) {
    if (unpriced != 0 && usd <= 0) return nullptr;
    return setup::rounded_usd(usd);
}

} // namespace heddle::cli
