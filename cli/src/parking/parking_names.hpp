// How parked calls and their batches are named at a service, for people and in the journal.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/store/run_parking.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cli {

/// The id of a call in its batch: its number, and a part of its digest, so that the results of a
/// batch of another run are not taken for those of this one.
[[nodiscard]] std::string parked_call_id(const store::parked_call& call);
inline constexpr std::size_t max_call_id = 30;

/// A mark that no other batch has.
[[nodiscard]] std::string new_batch_mark();

/// "batch msgbatch_01 of anthropic": by its number while the service has not named it.
[[nodiscard]] std::string batch_title(const store::parked_batch& batch);

/// The state of a batch whose submission was not acknowledged: since when it is looked for, in
/// seconds since 1970, and back; nothing for other states.
[[nodiscard]] std::string looked_for_state(std::int64_t since);
[[nodiscard]] std::optional<std::int64_t> looked_for_since(std::string_view state);

/// The content under which a step finds the error of a parked request.
[[nodiscard]] ports::digest128 refusal_key(const ports::digest128& request) noexcept;
/// An error of a service as the body of a record, and back.
[[nodiscard]] std::string refusal_text(const error& failure);
[[nodiscard]] error refusal_in(std::string_view text);

} // namespace heddle::cli
