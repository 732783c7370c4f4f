// What a user can do about the end of a run, beyond what the error says itself.
#pragma once

#include "call_counts.hpp"

#include <heddle/base/error.hpp>

#include <string>

namespace heddle::cli {

/// The error with a hint that says how to set a model, if that is what was missing. A service that
/// is there and cannot be used says itself what is wrong: where there is one, the error is left as
/// it is.
[[nodiscard]] error with_model_hint(error failure, bool has_services);

/// The error with a hint that says how the other items go on, if the failure of one has ended a
/// map. An error with a hint of its own keeps it, and so does a mistake of the program, which all
/// items share.
[[nodiscard]] error with_map_hint(error failure);

/// Says how the next run keeps the responses that this one has lost, as a line with its end; empty
/// if they are kept already, or there are none.
[[nodiscard]] std::string lost_responses_hint(const call_counts& counts, bool keeps_responses);

} // namespace heddle::cli
