// The sources of the keys of services.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>

#include <string>
#include <vector>

namespace heddle::setup {

struct found_key {
    secret key;       ///< empty: none
    std::string from; ///< in words, for people: "OPENAI_API_KEY", "the file /home/…"; may be empty
};

/// The name of the key of a service, without reading it or running anything: the source in
/// `settings`, else the first of `usual_variables` that is set; empty: none. Two keys have one name
/// only if they come from the same variable, file or whole command: consents are kept by it.
/// `settings` may be null.
[[nodiscard]] std::string key_name(const provider_config* settings,
                                   const std::vector<std::string>& usual_variables,
                                   const environment& variables);

/// The key that `settings` names (variable, file, or the output of a command, which may take half a
/// minute), else the first of `usual_variables` that is set. `settings` may be null.
/// Errors: llm_errc::configuration, naming the setting and its place: a variable that is not set, a
/// file that cannot be read or does not contain a key, a command that fails. No error shows what
/// was read.
[[nodiscard]] result<found_key> find_key(const provider_config* settings,
                                         const std::vector<std::string>& usual_variables,
                                         const environment& variables);

} // namespace heddle::setup
