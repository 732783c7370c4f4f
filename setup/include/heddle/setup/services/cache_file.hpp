// The file of the response cache.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/store/response_store.hpp>

#include <optional>
#include <string>

namespace heddle::setup {

/// The options of the store: the named file, else that of `settings`, else the default of the user,
/// whose folder is created. Errors: invalid_argument if no place is known.
[[nodiscard]] result<store::response_store_options> find_cache(
    const std::optional<std::string>& named, const cache_config& settings,
    const environment& variables);

} // namespace heddle::setup
