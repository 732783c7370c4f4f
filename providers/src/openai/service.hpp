// What Chat Completions and Responses have in common: headers, models, limits, errors.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>

#include "common/json_reader.hpp"
#include "common/service_address.hpp"
#include "common/service_error.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::providers::openai {

inline constexpr std::string_view models_path = "/models"; ///< below the base URL
inline constexpr std::string_view request_id_header = "x-request-id";
inline constexpr std::string_view official_host = "api.openai.com";
/// How the official clients mark which attempt of a call a request is.
inline constexpr std::string_view retry_count_header = "x-stainless-retry-count";

/// check_address, and a key must be there for the official host, and all must fit into headers.
[[nodiscard]] result<base_url> check_service(std::string_view provider_name, std::string_view url,
                                             secret& api_key, std::string_view organization,
                                             std::string_view project, log_port& log);

/// Creates a provider of this family: its `Codec` is made of the options and the base URL.
/// Errors: as check_service, and http_chat_provider::make.
template <class Codec, class Options>
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_provider(ports::http_port& http,
                                                                        Options options,
                                                                        log_port& log) {
    HEDDLE_TRY(const base_url url, check_service(options.name, options.base_url, options.api_key,
                                                 options.organization, options.project, log));
    call_options calls = options;
    if (calls.retry_count_header.empty()) calls.retry_count_header = retry_count_header;
    return http_chat_provider::make(
        http, url.origin, std::make_unique<Codec>(std::move(options), url), std::move(calls), log);
}

enum class request_body : std::uint8_t { json, none };

/// The headers of every request, to be made once. `api_key` and the others are left out if empty.
[[nodiscard]] ports::http_headers request_headers(const secret& api_key,
                                                  std::string_view organization,
                                                  std::string_view project,
                                                  request_body body = request_body::json);

/// Reads the shapes in which servers of this family say what went wrong: {"error": {…}},
/// {"error": "text"}, {"message": …}, {"detail": …}. The views point into `root`.
/// False when it has none of them.
[[nodiscard]] bool read_failure(const json::object& root, service_failure& failure);

/// The names in a response to GET /models, sorted.
[[nodiscard]] result<std::vector<std::string>> read_models(
    json_reader& reader, const ports::http_response& received,
    std::chrono::system_clock::time_point wall_now);

/// The x-ratelimit-* headers. Pure. `wall_now`: for a reset that is a point in time.
[[nodiscard]] rate_limit_headers read_limits(const ports::http_response& head,
                                             std::chrono::system_clock::time_point wall_now);

[[nodiscard]] bool is_event_stream(const ports::http_response& head) noexcept;

} // namespace heddle::providers::openai
