// What the scripted server needs to know of a service's format. No I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/scripted/engine.hpp>

#include "common/json_reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::scripted {

using namespace heddle::providers; // the codecs' helpers for JSON

struct served_chat {
    ports::chat_request chat; ///< model and messages; what no rule looks at is left out
    bool stream = false;
    bool include_usage = true; ///< of a stream
};

/// The events of one streamed response, one after the other.
class served_events {
public:
    virtual ~served_events() = default;
    /// Appends the next event. False: there was none left.
    [[nodiscard]] virtual bool next(std::string& out) = 0;
    /// True while the next event is a piece of text: where a slow model would take its time.
    [[nodiscard]] virtual bool at_piece() const noexcept = 0;
};

/// One service's format from the server's side. Without state: one object serves all.
class served_format {
public:
    virtual ~served_format() = default;
    /// Reads a request; `target` is its path without the version, with the query.
    /// Errors: what is wrong with it, for a 400.
    [[nodiscard]] virtual result<served_chat> decode(json_reader& reader, std::string_view target,
                                                     std::string_view body) const = 0;
    /// Appends the body of a whole response. `created` is in seconds since 1970.
    virtual void append_response(std::string& out, const ports::chat_response& response,
                                 std::int64_t created) const = 0;
    /// `pieces` are those of the text, or of the refusal if there is one. They and `response`
    /// outlive the result.
    [[nodiscard]] virtual std::unique_ptr<served_events> events(
        const served_chat& asked, const ports::chat_response& response,
        const std::vector<std::string_view>& pieces, std::int64_t created) const = 0;
    /// The content type of a streamed response.
    [[nodiscard]] virtual std::string_view stream_type() const noexcept {
        return "text/event-stream; charset=utf-8";
    }
    /// False: a wait that the service asks for is in the body alone.
    [[nodiscard]] virtual bool wait_in_headers() const noexcept { return true; }
    virtual void append_fault(std::string& out, const fault& shown) const = 0;
    virtual void append_models(std::string& out, const std::vector<std::string>& names) const = 0;
    virtual void append_model(std::string& out, std::string_view name) const = 0;
};

} // namespace heddle::scripted
