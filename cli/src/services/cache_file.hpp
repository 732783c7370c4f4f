// Where kept answers of models are.
#pragma once

#include "config/configuration.hpp"
#include "environment.hpp"

#include <heddle/base/error.hpp>
#include <heddle/store/response_store.hpp>

#include <optional>
#include <string>

namespace heddle::cli {

/// The options of the store: the file that is named, else that of `settings`, else the user's; its
/// folder is made when it is the user's. Errors: invalid_argument when no place is known.
[[nodiscard]] result<store::response_store_options> find_cache(
    const std::optional<std::string>& named, const cache_config& settings,
    const environment& variables);

} // namespace heddle::cli
