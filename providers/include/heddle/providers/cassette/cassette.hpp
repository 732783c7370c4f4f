// Recording and playback of model calls.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// Writes calls as lines of JSON: a header line, then one for each call that has ended, in the
/// order of their ends. A known key inside a value is written as "[redacted]". A cancelled call is
/// not written, because it would be cancelled again when played back. Neither is a lookup in the
/// cache that found nothing.
/// Threads: its shard's only.
class cassette_recorder {
public:
    /// Receives whole lines. Its error ends the recording, but not the calls; see `failure`.
    using sink = std::function<result<void>(std::string_view line)>;

    /// `default_model` ("provider:model", may be empty): the default of the run.
    cassette_recorder(sink lines, std::string_view default_model, std::vector<secret> keys);

    /// Returns `inner` with every call recorded. `inner` and this outlive it.
    [[nodiscard]] std::unique_ptr<ports::llm_port> record(ports::llm_port& inner);

    /// The error of the sink, or nothing.
    [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }
    [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_; }

private:
    friend class recording_provider;
    void add(std::string line);

    sink lines_;
    redactor secrets_;
    std::optional<error> failure_;
    std::uint64_t recorded_ = 0;
};

/// How calls are matched with recordings.
enum class cassette_matching : std::uint8_t {
    strict, ///< the whole request is equal, and each recording is played once
    /// Messages, tools and response format are equal except for white space; model and settings may
    /// differ, and the last recording that matches is played as often as requested.
    lenient
};

/// Whether a player failed because it has no recording of the call. Such a call may be recorded
/// under another model of its route: a call that lost a hedge is cancelled, and those are not
/// written.
[[nodiscard]] bool is_not_recorded(const error& failure) noexcept;

/// Plays calls back, without any service. Equal calls receive their recordings in the recorded
/// order. Threads: its shard's only.
class cassette_player {
public:
    /// `text`: the whole recording; `name`: its name in errors. A truncated last line is ignored:
    /// see `warning`.
    /// Errors: invalid_argument with the invalid line; limit_exceeded.
    [[nodiscard]] static result<std::unique_ptr<cassette_player>> open(std::string name,
                                                                       std::string text,
                                                                       cassette_matching matching);
    ~cassette_player();
    cassette_player(const cassette_player&) = delete;
    cassette_player& operator=(const cassette_player&) = delete;

    /// The providers that were recorded, each once, in order.
    [[nodiscard]] const std::vector<std::string>& providers() const noexcept;
    [[nodiscard]] const std::string& default_model() const noexcept;
    /// Names the line that was ignored because it is truncated; empty: none.
    [[nodiscard]] const std::string& warning() const noexcept;

    /// Returns a provider of that name that plays calls back. This object outlives it. Errors of
    /// its calls: the recorded ones, and llm_errc::configuration for a call that was not recorded,
    /// with the difference from the most similar one.
    [[nodiscard]] std::unique_ptr<ports::llm_port> play(std::string provider);

    [[nodiscard]] std::size_t size() const noexcept;     ///< recorded calls
    [[nodiscard]] std::size_t unplayed() const noexcept; ///< not played so far

private:
    friend class playing_provider;
    struct state;
    explicit cassette_player(std::unique_ptr<state> object);
    std::unique_ptr<state> state_;
};

} // namespace heddle::providers
