// What is sent to a language model and what comes back.
#pragma once

#include <heddle/ports/flow_gate.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ports {

class send_gate;

enum class chat_role : std::uint8_t { system, user, assistant, tool };

struct tool_call {
    std::string id;
    std::string name;
    /// As the model wrote them: the text of a JSON object, or anything else that it wrote.
    std::string arguments_json;
    /// Opaque mark of the service (Gemini's thoughtSignature); sent back unchanged.
    std::string signature{};
};

/// What a reasoning model wrote before its response. Services that sign it require it unchanged in
/// the turn of the assistant to which it belongs.
struct reasoning_part {
    std::string text;
    std::string signature{}; ///< opaque; empty if the service signs nothing
    std::string opaque;      ///< an encrypted or redacted part in place of the text
};

struct chat_message {
    chat_role role = chat_role::user;
    std::string text;
    std::vector<tool_call> tool_calls;       ///< assistant only
    std::string tool_call_id;                ///< tool only
    std::string tool_name;                   ///< tool only
    bool tool_failed = false;                ///< tool only: the text describes the failure
    std::vector<reasoning_part> reasoning{}; ///< assistant only
    /// The service may keep the prompt up to and including this message for later requests, for
    /// services that require a mark (Anthropic's cache_control). Other services ignore it.
    bool cache_up_to_here = false;
    /// Assistant only: the provider that wrote it, if known. Signatures and reasoning are
    /// meaningless to other providers.
    std::string written_by{};
};

struct tool_spec {
    std::string name;
    std::string description;
    std::string parameters_json; ///< JSON Schema as text
    bool strict = true;
};

struct response_format {
    enum class kind : std::uint8_t { text, json_object, json_schema };
    kind type = kind::text;
    std::string schema_name; ///< json_schema only
    std::string schema_json; ///< json_schema only
    bool strict = true;
};

/// A parameter that only some services know ("user", "top_k").
struct extra_parameter {
    std::string name;
    std::string value_json; ///< any JSON value, as text
};

/// Which calls go first when several wait for a limit.
enum class call_priority : std::uint8_t { interactive, batch };

/// What a response cache does for a call.
enum class cache_use : std::uint8_t {
    shared,  ///< looked up and kept; waits for an equal call that is under way
    apart,   ///< the same, but waits only for an equal call that is apart: a hedge overtakes others
    renewed, ///< not looked up, but stored: the cached one was of no use
    none,    ///< neither looked up nor kept
    kept     ///< looked up only, never sent; the port must keep responses (keeps_responses())
};

/// How a call shares the limits of its account with others. Not part of the request itself.
struct call_scheduling {
    std::uint64_t flow = 0; ///< the run: calls of different flows wait fairly
    call_priority priority = call_priority::interactive;
    cache_use cache = cache_use::shared;
    bool retry_after_text = false; ///< a stream may be tried again after its first piece
    bool one_at_a_time = false; ///< no hedges: what is paid for must not be more than one request
    /// Whether the request waits for a batch of its service; absent: as the run has it. Only a run
    /// with a journal can do that.
    std::optional<bool> park{};
};

/// Observes whether a call waits for a limit of its service or account.
class limit_wait_listener {
public:
    /// Called when the call begins (`waits`) or stops waiting for the limiter, in turns. Must be
    /// quick and must not end the call.
    virtual void on_limit_wait(bool waits) noexcept = 0;

protected:
    ~limit_wait_listener() = default;
};

/// Whom a request is made for, where requests are shown to people.
struct request_origin {
    std::string_view task; ///< empty: unknown
    std::string_view work; ///< what its session works on, such as a row of a batch; may be empty
};

struct chat_request {
    std::string model;
    std::vector<chat_message> messages;
    std::optional<double> temperature;
    std::optional<double> top_p;
    std::optional<std::int64_t> max_output_tokens;
    std::optional<std::int64_t> seed;
    std::vector<std::string> stop;
    response_format format;
    std::vector<tool_spec> tools;
    std::string tool_choice;      ///< "", "auto", "none", "required", or the name of a tool
    std::string reasoning_effort; ///< "", "low", …
    std::optional<std::int64_t> reasoning_tokens; ///< budget for reasoning; 0: none at all
    std::optional<bool> parallel_tool_calls;
    std::vector<extra_parameter> extra; ///< sent as they are; the names above are refused
    /// Whether the service is asked to keep the beginning of the prompt for later requests; absent:
    /// if the prompt is long. Does not change responses.
    std::optional<bool> cache_prompt;
    call_scheduling scheduling; ///< never sent
    /// Holds a stream back while its receiver is busy; null: never. Over HTTP, the data of one read
    /// (64 KiB) is still delivered after it closes. Outlives the call; never sent.
    flow_gate* gate = nullptr;
    /// Observes the waits of the call; may be null. Outlives the call; never sent.
    limit_wait_listener* waits = nullptr;
    /// Admits each request before it is sent (heddle/ports/send_gate.hpp); null: all are admitted.
    /// Outlives the call; never sent.
    send_gate* sends = nullptr;
    request_origin origin{}; ///< outlives the call; never sent
};

enum class finish_reason : std::uint8_t {
    stop,
    length,
    tool_calls,
    content_filter,
    refusal,
    other,
    unfinished ///< of a partial response: it ended before the reason arrived
};

[[nodiscard]] std::string_view to_string(finish_reason reason) noexcept;

/// Tokens that a request used. `input_reported` and `output_reported` are false for a figure that
/// the service did not report, did not report as a count, or reported in a stream that continued
/// afterwards. Such a figure holds what is known, or 0.
struct token_usage {
    std::int64_t input = 0;
    std::int64_t output = 0;
    std::int64_t cached = 0;        ///< part of input
    std::int64_t cache_written = 0; ///< part of input: kept by the service for later requests
    std::int64_t reasoning = 0;     ///< part of output
    bool input_reported = true;
    bool output_reported = true;
    bool of_cache = false; ///< nothing was charged for the response, whatever the figures
};

/// A request of a call other than the one whose response is used. The service may charge for it
/// nevertheless: an earlier attempt, the loser of a hedge, a target of a route that failed.
struct lost_request {
    std::string provider; ///< empty: the port that was asked
    std::string model;    ///< empty: the one of the request
    std::optional<token_usage> usage;
    std::size_t received = 0;  ///< bytes of a response that had arrived
    std::string asked_model{}; ///< as in chat_response
};

struct chat_response {
    std::string id;
    std::string model; ///< as the service names it
    std::string text;
    std::string refusal; ///< not empty if the model refused
    std::vector<tool_call> tool_calls;
    std::vector<reasoning_part> reasoning{};
    finish_reason finish = finish_reason::stop;
    std::optional<token_usage> usage;
    std::uint32_t attempts = 1; ///< requests that were sent, retries included; 0: from a cache
    /// The other requests of the call that may be charged for.
    std::vector<lost_request> lost{};
    std::string provider; ///< the provider that a route chose; empty: the port that was asked
    /// The model that a route asked that provider for, which names the price. A gateway may report
    /// another one in `model`. Empty: the one of the request.
    std::string asked_model{};
    /// The tool whose call the length limit cut off. That call is not among tool_calls.
    std::string cut_tool_call{};
    /// Warnings for the caller: settings that the service does not have and that were not sent.
    std::vector<std::string> warnings{};
};

/// Number of bytes that the model wrote.
[[nodiscard]] std::size_t bytes_of(const chat_response& response) noexcept;

/// An empty response to decode into. Its finish reason is still unknown.
[[nodiscard]] inline chat_response begun_response() {
    chat_response response;
    response.finish = finish_reason::unfinished;
    return response;
}

} // namespace heddle::ports
