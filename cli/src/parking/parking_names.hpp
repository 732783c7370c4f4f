// How parked calls and their batches are named at a service.
#pragma once

#include <heddle/store/run_parking.hpp>

#include <cstddef>
#include <string>

namespace heddle::cli {

/// The id of a call in its batch: its number, and a part of its digest, so that the results of a
/// batch of another run are not taken for those of this one.
[[nodiscard]] std::string parked_call_id(const store::parked_call& call);
inline constexpr std::size_t max_call_id = 30;

/// A mark that no other batch has.
[[nodiscard]] std::string new_batch_mark();

} // namespace heddle::cli
