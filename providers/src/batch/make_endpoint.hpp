// Batch endpoints of services, from their options.
#pragma once

#include "batch/http_batch_endpoint.hpp"
#include "common/service_address.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace heddle::providers {

/// A path of a service with its version, which a base URL may hold already.
[[nodiscard]] std::string with_version(std::string prefix, std::string_view version);

/// An endpoint at `url`. Does not connect. `http` outlives the result. Errors: the origin cannot
/// be used.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_batch_endpoint(
    ports::http_port& http, const base_url& url, const secret& key, call_options options,
    std::unique_ptr<chat_codec> codec, http_batch_endpoint::format_maker make_format);

} // namespace heddle::providers
