// The wire format of one service's batch endpoint, without I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>

#include "common/json_reader.hpp"
#include "common/response_parts.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// Below the base URL, without the headers that all requests of a service have.
struct batch_request {
    std::string method = "GET";
    std::string target;
    std::string content_type; ///< of the body
    std::string body;
    bool is_lines = false; ///< the response is a file of lines, not one document
};

struct batch_page {
    std::vector<batch_status> batches;
    std::string next; ///< of the next page; empty: there is none
};

/// Requests to bytes, responses to plain data. Pure; `wall_now` as in chat_codec::decode. Errors of
/// all readers: llm_errc::protocol.
class batch_format {
public:
    using wall_time = std::chrono::system_clock::time_point;
    virtual ~batch_format() = default;

    [[nodiscard]] virtual batch_limits limits() const noexcept = 0;
    /// Bytes around the body of a call.
    [[nodiscard]] virtual std::size_t overhead() const noexcept = 0;

    /// The upload before the batch is created; nothing where the calls are in the request itself.
    [[nodiscard]] virtual std::optional<batch_request> upload(const batch_submission&) const {
        return std::nullopt;
    }
    /// The id of the file.
    [[nodiscard]] virtual result<std::string> read_upload(const json::object&) const {
        return std::string();
    }
    [[nodiscard]] virtual batch_request create(const batch_submission& what,
                                               const std::string& file) const = 0;
    [[nodiscard]] virtual batch_request poll(const std::string& id) const = 0;
    [[nodiscard]] virtual batch_request list(const std::string& next) const = 0;
    [[nodiscard]] virtual batch_request cancel(const std::string& id) const = 0;
    /// Where the results are, in this order.
    [[nodiscard]] virtual std::vector<batch_request> results(const batch_status& of) const = 0;

    [[nodiscard]] virtual result<batch_status> read_status(const json::object& root) const = 0;
    [[nodiscard]] virtual result<batch_page> read_page(const json::object& root) const = 0;
    /// One entry of the results.
    [[nodiscard]] virtual result<batch_response> read_line(const json::object& line,
                                                           wall_time wall_now) = 0;
    /// The results in a document that is not lines. Errors: also those of the sink.
    [[nodiscard]] virtual result<void> read_document(const json::object&, const batch_sink&,
                                                     wall_time) {
        return {};
    }
    [[nodiscard]] virtual failure_reader reads_failures() const noexcept = 0;
    /// Bytes of a response about batches.
    [[nodiscard]] virtual std::size_t max_document() const noexcept { return 8 * 1024 * 1024; }
};

/// Whether a text of a service can be put into a path: letters, digits, `-_.:`, at most 256 bytes.
[[nodiscard]] bool is_batch_name(std::string_view name) noexcept;
/// The batches in a list, of which at most 1000 are read.
[[nodiscard]] result<std::vector<batch_status>> read_statuses(const batch_format& format,
                                                              const json::array* list);
/// The seconds since 1970 of an RFC 3339 time in UTC ("2026-11-21T18:37:24.1Z").
[[nodiscard]] std::optional<std::int64_t> seconds_of(std::string_view time) noexcept;

/// The response to a request that a service did not perform.
[[nodiscard]] batch_response not_performed(std::string id, batch_response::fate what,
                                           std::string_view provider_name);
/// The response in `body` as a call of the service would have had it with that status.
[[nodiscard]] batch_response response_of(std::string id, int status, const json::value& body,
                                         chat_codec& codec, batch_format::wall_time wall_now);

/// `codec` and `reader` outlive the format. `prefix`: of the base URL, with the version.
[[nodiscard]] std::unique_ptr<batch_format> make_openai_format(std::string prefix,
                                                               std::string_view path,
                                                               chat_codec& codec,
                                                               json_reader& reader);
[[nodiscard]] std::unique_ptr<batch_format> make_anthropic_format(std::string prefix,
                                                                  chat_codec& codec,
                                                                  json_reader& reader);
[[nodiscard]] std::unique_ptr<batch_format> make_gemini_format(std::string prefix,
                                                               chat_codec& codec,
                                                               json_reader& reader);

} // namespace heddle::providers
