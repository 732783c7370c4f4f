// Which files are relevant to a question.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ports {

/// What a question is matched with: the descriptions of files, or their text as well.
enum class matching_strategy : std::uint8_t { content, metadata };

[[nodiscard]] std::string_view to_string(matching_strategy strategy) noexcept;
/// Nothing if the name is unknown.
[[nodiscard]] std::optional<matching_strategy> matching_strategy_from(
    std::string_view name) noexcept;

/// An input of the task for which the context is assembled; a value that is not a string is passed
/// as JSON.
struct memory_input {
    std::string name;
    std::string text;
};

/// A query. Only `query` is required; the rest refines it. An implementation may distinguish absent
/// members from empty ones.
struct memory_request {
    std::string query;
    std::optional<std::vector<memory_input>> inputs;
    std::optional<matching_strategy> strategy; ///< absent: content
    std::optional<std::string> history;
    std::optional<std::string> inherited_context;
    std::optional<std::string> previous_outputs;
    std::optional<std::string> template_description;
    std::optional<std::size_t> limit; ///< maximum number of matches
    bool include_content = false;     ///< fill memory_match::content
};

struct memory_match {
    std::string id;
    std::string path; ///< absolute
    std::optional<std::string> content;
    double relevance = 0; ///< 0 to 1
    std::string content_type;
    std::string metadata;
};

struct memory_response {
    std::string context_summary;
    std::vector<memory_match> matches; ///< best first
    std::optional<std::string> error;  ///< why the lookup failed
};

/// An index of files. Threads: its shard's only.
class memory_port {
public:
    virtual ~memory_port() = default;
    /// If nothing matches, the result has no matches. Errors: why the lookup was not possible.
    /// Cancellation: ends at its next wait.
    [[nodiscard]] virtual coro::task<result<memory_response>> relevant_files(
        memory_request request, coro::call_context context) = 0;
};

} // namespace heddle::ports
