// An http_request as bytes.
#pragma once

#include <heddle/ports/http_port.hpp>

#include <string>
#include <string_view>

namespace heddle::http {

/// Refuses what would let data become protocol: control characters or blanks in method and target.
/// Errors: errc::invalid_argument.
[[nodiscard]] result<void> check_request_line(const ports::http_request& request);

/// The headers of a request as text. Many requests of an origin share theirs, so they are checked
/// and written once.
class header_text {
public:
    /// Makes this the text of `headers`, unless it is. Refuses line ends in values and headers that
    /// the client sets itself. Errors: errc::invalid_argument naming the header, never its value.
    [[nodiscard]] result<void> assign(const ports::http_headers& headers);

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] bool names_accept_encoding() const noexcept { return names_accept_encoding_; }
    [[nodiscard]] bool names_user_agent() const noexcept { return names_user_agent_; }

private:
    ports::http_headers of_;
    std::string text_;
    bool names_accept_encoding_ = false;
    bool names_user_agent_ = false;
};

/// True for what may stand as the value of a header: no line ends and other control characters.
[[nodiscard]] bool is_header_value(std::string_view text) noexcept;

/// What the request line and headers say besides the request.
struct request_route {
    std::string_view host;                ///< value of Host
    bool absolute = false;                ///< "http://" and host before the target, for a proxy
    std::string_view proxy_authorization; ///< empty: none
    bool ask_compressed = false;
    std::string_view user_agent{}; ///< unless the request has one; empty: none
};

/// Replaces `out` by request line, headers and the empty line. `headers`: those of the request.
/// Precondition: both have been checked.
void render_head(const ports::http_request& request, const header_text& headers,
                 const request_route& route, std::string& out);

} // namespace heddle::http
