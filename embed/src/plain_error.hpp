// Errors of workflows as plain data.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/failure.hpp>
#include <heddle/host/session.hpp>

#include <string>
#include <string_view>

namespace heddle::embed {

/// An error without values of the language, which may cross threads: what the payload held is in
/// failure_details. To be made on the thread of the session, which the error came from.
[[nodiscard]] error plain_error(const error& failure, host::session& from, usage used = {},
                                std::string tag = {});
/// The same for an error that no session knows.
[[nodiscard]] error plain_error(const error& failure, usage used = {}, std::string tag = {});

/// failure_details::kind of an error that has none yet.
[[nodiscard]] std::string_view kind_without_details(const error& failure) noexcept;

} // namespace heddle::embed
