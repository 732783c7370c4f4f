// Error categories of the ports, by name.
#pragma once

#include <boost/system/error_category.hpp>

#include <string_view>

namespace heddle::ports {

/// The category of the HTTP or of the model port that has that name, or null: for errors that were
/// written down (lang::decode_answer). Threads: any.
[[nodiscard]] const boost::system::error_category* find_category(std::string_view name) noexcept;

} // namespace heddle::ports
