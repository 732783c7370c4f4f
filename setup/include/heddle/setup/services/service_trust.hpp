// Whether a service that a project's heddle.toml influences may receive the key of the user, and
// prompts.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/trust/consent_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::setup {

enum class trust_verdict : std::uint8_t {
    trusted, ///< the project sets neither address nor key, or the user has allowed it
    keyless, ///< this machine: it receives prompts, but not the key
    refused  ///< it receives nothing before the user has allowed it
};

/// The question for one service, and the decision: whether prompts and a key may go to an address,
/// or whether parameters of a project may go with the prompts.
struct trust_question {
    std::string provider;
    config_place place;     ///< the place in the file of the project
    std::string address;    ///< normalised
    std::string key;        ///< name of the key; empty: none
    std::string parameters; ///< a JSON object if the question is about them; else empty
    trust_verdict verdict = trust_verdict::trusted;
    bool allowed = false; ///< trusted because the user has allowed it
    std::string problem;  ///< why requests cannot be sent there, whatever is allowed; else empty
};

/// Scheme, host, port and path of what address_of() returns, in a canonical spelling; the text
/// itself if it is not a URL (which no service accepts). Pure.
[[nodiscard]] std::string normalised_address(const std::string& address);

/// Whether a URL leads to this machine (localhost, 127.0.0.1, [::1]). Pure.
[[nodiscard]] bool is_this_machine(const std::string& address);

/// Why clients refuse the address, as normalised_address returns it: it does not have the form
/// http://host[:port][/path] or https://…. Empty if they accept it. People cannot judge the host in
/// such a text. Pure.
[[nodiscard]] std::string address_problem(const std::string& address);

/// Decides whether `settings` (all layers together) may send the key to their address, without
/// reading it. Settings without a place are those of the user. A key is trusted for one address:
/// that of the service without the file of the project, the one that the file of the user or a
/// variable names for services of the type, or the default address of the type for the usual
/// variable, unless the file of the user or a variable sends that key elsewhere. Every other effect
/// of a project's file needs consent: an address, a type with another address, a name. An address
/// that clients refuse is refused whatever was allowed. `consents` may be null.
[[nodiscard]] trust_question judge_service(const provider_config& settings,
                                           const service_type& type, const configuration& all,
                                           const environment& variables,
                                           const consent_store* consents);

/// Decides about the extra parameters of requests that the file of the project adds to those of the
/// user. They are sent unchanged, and a service may have tools that pass prompts on to an address
/// in a parameter, store them, or answer many times. Numbers that only affect the sampling need no
/// consent; nothing is returned if there are no others. `consents` may be null.
[[nodiscard]] std::optional<trust_question> judge_parameters(const provider_config& settings,
                                                             const service_type& type,
                                                             const configuration& all,
                                                             const environment& variables,
                                                             const consent_store* consents);

/// The name of a key for people who ask what a file wants: printable, and cut if it is long. Pure.
[[nodiscard]] std::string shown_key(std::string_view key);
/// The same for errors and the log: of a command its program alone, as the arguments may be secret.
[[nodiscard]] std::string logged_key(std::string_view key);

/// Payload of the error of refusal().
class consent_needed final : public error_payload {};

/// The error for a refused question: llm_errc::configuration with place, address, name of the key
/// or parameters, and the command to allow it.
[[nodiscard]] error refusal(const trust_question& question);

} // namespace heddle::setup
