// A model that responds by rules: the same prompt has the same response.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::scripted {

/// A mistake in a rules file.
struct rule_mistake {
    std::string path; ///< the place, such as "rules[2].match.user"
    std::string what;
};

/// The payload of errors of engine::parse: all mistakes of the file.
class rules_report final : public error_payload {
public:
    std::string file;
    std::vector<rule_mistake> mistakes;

    /// One line for each mistake: "FILE: PATH: WHAT".
    [[nodiscard]] std::string text() const;
};

/// An error that a rule simulates, as it is sent.
struct fault {
    int status = 500;
    std::string type;
    std::string code; ///< may be empty
    std::string message;
    std::optional<std::chrono::milliseconds> retry_after;
};

/// The outcome for one prompt, after `delay`.
struct outcome {
    std::chrono::milliseconds delay{0};
    std::chrono::milliseconds piece_delay{0}; ///< between the pieces of a streamed response
    std::variant<ports::chat_response, fault> response;
};

/// The rules of one file with their counters. The format: docs/reference/scripted-model.md. Pure
/// except for the counters: no clock, no I/O; all randomness derives from the seed of the file and
/// the number of matches of a rule. Complexity: linear in the length of the prompt (RE2).
/// Threads: one at a time.
class engine {
public:
    /// Reads rules from `json`; `file` is their name in messages.
    /// Errors: errc::invalid_argument with a rules_report.
    [[nodiscard]] static result<std::shared_ptr<engine>> parse(std::string_view json,
                                                               std::string file);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Chooses the rule for a prompt and creates its response. If no rule matches, the outcome is a
    /// fault (400, code "no_matching_rule") with the name of the file and the beginning of the
    /// prompt.
    [[nodiscard]] outcome answer(const ports::chat_request& request);

    [[nodiscard]] const std::string& file() const noexcept;
    [[nodiscard]] std::size_t rule_count() const noexcept;
    /// Names for the models list; at least one.
    [[nodiscard]] const std::vector<std::string>& models() const noexcept;

private:
    struct state;
    explicit engine(std::unique_ptr<state> object) noexcept;
    std::unique_ptr<state> state_;
};

/// Splits a text into the pieces in which both front ends stream it: at blanks, never inside a
/// character. The views point into `text`.
[[nodiscard]] std::vector<std::string_view> stream_pieces(std::string_view text);

} // namespace heddle::scripted
