// Whether a service that a project's heddle.toml has a hand in may have the user's key, and
// prompts.
#pragma once

#include "config/configuration.hpp"
#include "environment.hpp"
#include "services/service_types.hpp"
#include "trust/consent_store.hpp"

#include <heddle/base/error.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

enum class trust_verdict : std::uint8_t {
    trusted, ///< the project decides neither address nor key, or the user has allowed it
    keyless, ///< this machine: prompts may go there, the key does not
    refused  ///< nothing may go there before the user has allowed it
};

/// What is asked for one service, and the answer: whether prompts and a key may go to an address,
/// or whether a project's parameters may go with the prompts.
struct trust_question {
    std::string provider;
    config_place place;     ///< where the project says so
    std::string address;    ///< normalised
    std::string key;        ///< what the key is called; empty: there is none
    std::string parameters; ///< a JSON object, where they are what is asked for; else empty
    trust_verdict verdict = trust_verdict::trusted;
    bool allowed = false; ///< trusted because the user has allowed it
    std::string problem;  ///< why no request can go there, so that it cannot be allowed; else empty
};

/// Scheme, host, port and path of what address_of() returns, in one spelling; the text itself when
/// it is no URL (which no service takes). Pure.
[[nodiscard]] std::string normalised_address(const std::string& address);

/// Why no client takes the address, as normalised_address has it: it is not of the form
/// http://host[:port][/path] or https://…. Empty: one does. What lies behind the name of the host
/// in such a text is nothing that a person can judge. Pure.
[[nodiscard]] std::string address_problem(const std::string& address);

/// Judges where `settings` (all layers together) would send the key, without reading it. Settings
/// without a place are the user's. A key is the user's word about one address: the one that a
/// service has without the project's file, the one that the user's file or a variable names for
/// services of the type, or the type's own address for the usual variable, unless the user's file
/// or a variable sends that key elsewhere. Everything else that a project's file brings about needs
/// consent, however it does so: an address, a type that has another address, a name; what no client
/// takes is refused whatever was allowed. `consents` may be null.
[[nodiscard]] trust_question judge_service(const provider_config& settings,
                                           const service_type& type, const configuration& all,
                                           const environment& variables,
                                           const consent_store* consents);

/// Judges the extra parameters of requests that the project's file adds to those of the user's own.
/// They are sent as they are, and a service may have tools that pass prompts on to an address of a
/// parameter, keep them, or answer many times. Those that only shape the sampling, as numbers, need
/// no consent; nothing is returned if there are no others. `consents` may be null.
[[nodiscard]] std::optional<trust_question> judge_parameters(const provider_config& settings,
                                                             const service_type& type,
                                                             const configuration& all,
                                                             const environment& variables,
                                                             const consent_store* consents);

/// Payload of the error below.
class consent_needed final : public error_payload {};

/// That a question was refused: llm_errc::configuration with place, address, name of the key or
/// parameters, and what to type.
[[nodiscard]] error refusal(const trust_question& question);

} // namespace heddle::cli
