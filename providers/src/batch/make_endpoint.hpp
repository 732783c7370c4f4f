// Batch endpoints of services, from their options.
#pragma once

#include "batch/http_batch_endpoint.hpp"
#include "common/service_address.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::providers {

/// A path of a service with its version, which a base URL may hold already.
[[nodiscard]] std::string with_version(std::string prefix, std::string_view version);

/// An endpoint at `url`. Does not connect. `http` outlives the result. Errors: the origin cannot
/// be used.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_batch_endpoint(
    ports::http_port& http, const base_url& url, const secret& key, call_options options,
    std::unique_ptr<chat_codec> codec, http_batch_endpoint::format_maker make_format);

template <class Options>
using codec_maker = result<std::unique_ptr<chat_codec>> (*)(Options options);

/// The same from the options of a service, whose key has been checked. Errors: also of
/// `make_codec`.
template <class Options>
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_batch_endpoint(
    ports::http_port& http, const base_url& url, Options options, codec_maker<Options> make_codec,
    http_batch_endpoint::format_maker make_format) {
    const secret key = options.api_key;
    call_options calls = static_cast<const call_options&>(options);
    HEDDLE_TRY(auto codec, make_codec(std::move(options)));
    return make_batch_endpoint(http, url, key, std::move(calls), std::move(codec),
                               std::move(make_format));
}

} // namespace heddle::providers
