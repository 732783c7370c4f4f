#include "json_or_text.hpp"

#include <heddle/base/json_parser.hpp>

#include <boost/json/value.hpp>

namespace heddle::cli {

boost::json::value json_or_text(std::string_view text) {
    constexpr std::size_t max_depth = 1000;
    boost::system::error_code wrong;
    boost::json::value read = parse_json(text, wrong, max_depth);
    return wrong ? boost::json::value(boost::json::string(text)) : read;
}

} // namespace heddle::cli
