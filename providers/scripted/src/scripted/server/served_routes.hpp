// Which path of the scripted server speaks which format.
#pragma once

#include <heddle/http/server_request.hpp>

#include "scripted/formats/served_format.hpp"

#include <cstdint>
#include <string_view>

namespace heddle::scripted {

struct served_route {
    enum class kind : std::uint8_t { health, chat, models, one_model, unknown };
    kind what = kind::unknown;
    const served_format* format = nullptr; ///< never null
    std::string_view target;               ///< without the version, with the query
    std::string_view model;                ///< one_model: its name
    std::string_view method = "POST";      ///< that this path wants
};

/// What an error is written in when it is not known who asks.
[[nodiscard]] const served_format& default_format();

/// Finds what a request is for. The version (/v1, /v1beta) may be left out; the list of models,
/// which several services have under the same path, is distinguished by their headers.
[[nodiscard]] served_route find_route(const http::server_request& request);

/// The key that a request brings, however its service sends it; empty if it brings none.
[[nodiscard]] std::string_view key_of(const http::server_request& request) noexcept;

} // namespace heddle::scripted
