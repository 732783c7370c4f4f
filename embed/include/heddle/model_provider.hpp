// A language model of the host.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call.hpp>
#include <heddle/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// A tool that a task offers to its model.
struct model_tool {
    std::string name;
    std::string documentation{};
    json parameters{}; ///< JSON Schema of an object with the arguments
};

/// A call of a tool that a model requests.
struct model_tool_call {
    std::string id{}; ///< identifies the call in the message with its result; may be empty
    std::string name;
    json arguments{}; ///< an object; anything else is reported to the model as a mistake
};

struct model_message {
    enum class role : std::uint8_t { system, user, assistant, tool };
    role from = role::user;
    std::string text;
    std::vector<model_tool_call> tool_calls{}; ///< of the assistant
    /// Of a tool, whose result is `text`: the call that it answers.
    std::string tool_call_id{};
    std::string tool_name{};
};

/// A request to a model.
struct model_request {
    std::string model; ///< without the provider's name; may be empty
    std::vector<model_message> messages;
    std::optional<double> temperature{};
    std::optional<std::int64_t> max_output_tokens{};
    std::optional<std::int64_t> seed{};
    std::vector<std::string> stop{};
    std::vector<model_tool> tools{};
    /// "", "auto", "none", "required", or the name of the tool that the model must call.
    std::string tool_choice{};
    json schema{};         ///< JSON Schema that the response must match; null: none
    bool streamed = false; ///< whether pieces are wanted
};

struct model_response {
    std::string text;
    /// As counted by the provider; absent: unknown, and estimated for budgets.
    std::optional<std::int64_t> input_tokens{};
    std::optional<std::int64_t> output_tokens{};
    /// If there are any, the task executes them and sends their results in a further request.
    std::vector<model_tool_call> tool_calls{};
};

/// A model service that the host implements.
/// Threads: called on any thread of the runtime, possibly at the same time.
class model_provider {
public:
    using piece_sink = std::function<void(std::string_view text)>;
    using completion = std::function<void(result<model_response>)>;

    virtual ~model_provider() = default;

    /// The name before the colon in "house:small".
    [[nodiscard]] virtual std::string name() const = 0;

    /// Begins a request. `about` has its deadline and cancellation. Call `on_piece` with text as it
    /// arrives, on any thread, before `done` and not concurrently; pieces may end inside a
    /// character. There is no back-pressure: pieces that are not read are buffered in full. The
    /// response contains the full text again. Call `done` once, on any thread; the request fails if
    /// it is destroyed without a call.
    /// Errors: any; an exception is an error too. The runtime never retries a request: retries are
    /// up to the provider. The wait of error::with_retry_after is passed on to the caller.
    virtual void complete(model_request request, call about, piece_sink on_piece,
                          completion done) = 0;
};

} // namespace heddle
