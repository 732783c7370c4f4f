// Calls of models, recorded and played back.
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

/// Writes calls as lines of JSON: one line that says what this is, then one for each call that has
/// ended, in the order in which they end. A known key inside of a value is written as "[redacted]".
/// A call that was cancelled is not written: played back, it would be cancelled again. Neither is a
/// look for a kept response that found none.
/// Threads: its shard's only.
class cassette_recorder {
public:
    /// Takes whole lines. Its error ends the recording; the calls go on, and `failure` tells.
    using sink = std::function<result<void>(std::string_view line)>;

    /// `default_model` ("provider:model", may be empty): what a run uses when nobody names one.
    cassette_recorder(sink lines, std::string_view default_model, std::vector<secret> keys);

    /// `inner` with every call recorded. `inner` and this outlive it.
    [[nodiscard]] std::unique_ptr<ports::llm_port> record(ports::llm_port& inner);

    /// What went wrong when a line was written, or nothing.
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

/// How a call finds its recording.
enum class cassette_matching : std::uint8_t {
    strict, ///< all that is asked is the same, and each recording is played once
    /// Messages, tools and form of the answer are the same but for white space; model and settings
    /// may differ, and the last recording that fits is played as often as it is asked for.
    lenient
};

/// Whether a player failed because it has no recording of the call. Such a call may be recorded
/// under another model of its route: a call that lost a hedge is cancelled, and those are not
/// written.
[[nodiscard]] bool is_not_recorded(const error& failure) noexcept;

/// Plays calls back, without any service. Equal calls get their recordings in the order in which
/// they were written. Threads: its shard's only.
class cassette_player {
public:
    /// `text`: the whole recording; `name` stands in errors. A last line without its end, and
    /// without the end of its call, is ignored: see `warning`.
    /// Errors: invalid_argument with the line that cannot be read; limit_exceeded.
    [[nodiscard]] static result<std::unique_ptr<cassette_player>> open(std::string name,
                                                                       std::string text,
                                                                       cassette_matching matching);
    ~cassette_player();
    cassette_player(const cassette_player&) = delete;
    cassette_player& operator=(const cassette_player&) = delete;

    /// The providers that were recorded, each once, in order.
    [[nodiscard]] const std::vector<std::string>& providers() const noexcept;
    [[nodiscard]] const std::string& default_model() const noexcept;
    /// Names the line that was ignored because it is cut short; empty: there is none.
    [[nodiscard]] const std::string& warning() const noexcept;

    /// A provider of that name that plays. This outlives it. Errors of its calls: those recorded,
    /// and llm_errc::configuration when a call was not recorded, with what differs from the nearest
    /// one.
    [[nodiscard]] std::unique_ptr<ports::llm_port> play(std::string provider);

    [[nodiscard]] std::size_t size() const noexcept;     ///< recorded calls
    [[nodiscard]] std::size_t unplayed() const noexcept; ///< not asked for so far

private:
    friend class playing_provider;
    struct state;
    explicit cassette_player(std::unique_ptr<state> object);
    std::unique_ptr<state> state_;
};

} // namespace heddle::providers
