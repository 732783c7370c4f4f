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

struct model_message {
    enum class role : std::uint8_t { system, user, assistant, tool };
    role from = role::user;
    std::string text;
};

/// A request to a model.
struct model_request {
    std::string model; ///< without the provider's name; may be empty
    std::vector<model_message> messages;
    std::optional<double> temperature{};
    std::optional<std::int64_t> max_output_tokens{};
    std::optional<std::int64_t> seed{};
    std::vector<std::string> stop{};
    json schema{};         ///< JSON Schema that the response is to fulfil; null: none
    bool streamed = false; ///< whether pieces are wanted
};

struct model_response {
    std::string text;
    /// As the provider counted them; absent: unknown, and estimated for budgets.
    std::optional<std::int64_t> input_tokens{};
    std::optional<std::int64_t> output_tokens{};
};

/// A model service that the host implements.
/// Threads: called from each thread of the runtime, maybe at the same time.
class model_provider {
public:
    using piece_sink = std::function<void(std::string_view text)>;
    using completion = std::function<void(result<model_response>)>;

    virtual ~model_provider() = default;

    /// The name before the colon in "house:small".
    [[nodiscard]] virtual std::string name() const = 0;

    /// One request. `about` has its deadline and cancellation. `on_piece` takes text as it arrives,
    /// which the response repeats in full; called on any thread, before `done`, and one at a time:
    /// pieces arrive in the order of the calls. `done` is called once, on any thread; dropping it
    /// fails the request.
    /// Errors: any; retryable (error::with_retryable) means that the task may try again. An
    /// exception is an error as well.
    virtual void complete(model_request request, call about, piece_sink on_piece,
                          completion done) = 0;
};

} // namespace heddle
