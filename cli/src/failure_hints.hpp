// Hints for users about failures of runs.
#pragma once

#include "call_counts.hpp"

#include <heddle/base/error.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// The error with a hint how to set a model, if the cause is that none is set. A service that
/// exists and cannot be used reports itself what is wrong: if there is one, the error is unchanged.
[[nodiscard]] error with_model_hint(error failure, bool has_services);

/// The error with a hint how to give an input as JSON, if a type error complains of one of
/// `inputs`, given as NAME=TEXT.
[[nodiscard]] error with_input_hint(error failure, const std::vector<std::string>& inputs);

/// The error with a hint how the other items can continue, if the failure of one has ended a map.
/// An error that has a hint keeps it; a mistake of the program, which affects all items, gets none.
[[nodiscard]] error with_map_hint(error failure);

/// How the next run can keep the responses that this one has lost, as a line with its end; empty if
/// they are kept already, or if there are none.
[[nodiscard]] std::string lost_responses_hint(const call_counts& counts, bool keeps_responses);

} // namespace heddle::cli
