#include <heddle/base/error.hpp>

#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/base/valid_error.hpp>

#include <string>

namespace heddle {

namespace {

class base_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle"; }
    std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::ok: return "no error";
        case errc::cancelled: return "cancelled";
        case errc::invalid_argument: return "invalid argument";
        case errc::limit_exceeded: return "limit exceeded";
        case errc::not_found: return "not found";
        case errc::io_error: return "input/output error";
        case errc::internal: return "internal error";
        }
        return "unknown error";
    }
};

// Of an error on its way through ten thousand calls both ends matter.
constexpr std::size_t kept_trace_lines = 64; ///< at each end
constexpr std::size_t max_trace_lines = 4 * kept_trace_lines;
constexpr std::size_t max_causes = 64;
constexpr std::string_view before_count = "… ";
constexpr std::string_view behind_count = " more lines …";

/// The lines that an earlier fold left out, or nothing when `line` is none of its making.
std::size_t folded_lines(const trace_entry& line) noexcept {
    std::string_view text = line.what;
    if (line.where.known() || !text.starts_with(before_count) || !text.ends_with(behind_count))
        return 0;
    text.remove_prefix(before_count.size());
    text.remove_suffix(behind_count.size());
    return parse_number<std::size_t>(text).value_or(0);
}

/// Puts one line in the place of those in the middle.
void fold(std::vector<trace_entry>& trace) {
    const std::size_t end = trace.size() - kept_trace_lines;
    const std::size_t before = folded_lines(trace[kept_trace_lines]);
    const std::size_t count = end - kept_trace_lines + (before == 0 ? 0 : before - 1);
    std::string line(before_count);
    line += std::to_string(count);
    line += behind_count;
    trace[kept_trace_lines] = {std::move(line), {}};
    trace.erase(trace.begin() + kept_trace_lines + 1,
                trace.begin() + static_cast<std::ptrdiff_t>(end));
}

/// Twice the bound, so that a chain is cut for each 64 errors that it grows by.
bool is_long_chain(const error& failure) noexcept {
    std::size_t length = 0;
    for (const error* each = &failure; each && length < 2 * max_causes;
         each = each->info().cause.get())
        ++length;
    return length >= 2 * max_causes;
}

/// The error with as many of its causes as an error may have.
error first_of_chain(error failure) {
    std::vector<error> chain{std::move(failure)};
    while (chain.size() < max_causes && chain.back().info().cause)
        chain.push_back(error(*chain.back().info().cause));
    error cut(chain.back().code(), chain.back().message());
    chain.pop_back();
    for (; !chain.empty(); chain.pop_back()) cut = error(chain.back()).with_cause(std::move(cut));
    return cut;
}

} // namespace

const boost::system::error_category& base_category() noexcept {
    static const base_category_impl category;
    return category;
}

std::string_view to_string(cancel_reason reason) noexcept {
    switch (reason) {
    case cancel_reason::none: return "not cancelled";
    case cancel_reason::user: return "cancelled by the user";
    case cancel_reason::deadline: return "deadline passed";
    case cancel_reason::sibling: return "a sibling branch ended the group";
    case cancel_reason::budget: return "budget exhausted";
    case cancel_reason::shutdown: return "shutting down";
    }
    return "cancelled";
}

error_info::error_info(const error_info& other)
    : code(other.code), message(other.message), hint(other.hint), origin(other.origin),
      cancelled_because(other.cancelled_because), span(other.span), trace(other.trace),
      retry_after(other.retry_after), retryable(other.retryable), attempts(other.attempts),
      cause(other.cause), payload(other.payload) {}

error::error(boost::system::error_code code, std::string message) : info_(new error_info) {
    info_->code = code;
    info_->message = utf8::replace_invalid(std::move(message));
}

error error_of_valid_text(boost::system::error_code code, std::string message) {
    boost::intrusive_ptr<error_info> info(new error_info);
    info->code = code;
    info->message = std::move(message);
    return error(std::move(info));
}

error error::cancelled(cancel_reason reason, std::string message) {
    error failure(errc::cancelled,
                  message.empty() ? std::string(to_string(reason)) : std::move(message));
    failure.info_->cancelled_because = reason;
    return failure;
}

error_info& error::own() {
    if (info_->references.load(std::memory_order_acquire) != 1) {
        info_ = boost::intrusive_ptr<error_info>(new error_info(*info_));
    }
    return *info_;
}

error&& error::with_hint(std::string hint) && {
    own().hint = utf8::replace_invalid(std::move(hint));
    return std::move(*this);
}
error&& error::with_span(source_span span) && {
    if (!info_->span.known()) own().span = span;
    return std::move(*this);
}
error&& error::with_trace(std::string what, source_span where) && {
    auto& trace = own().trace;
    trace.push_back({utf8::replace_invalid(std::move(what)), where});
    if (trace.size() > max_trace_lines) fold(trace);
    return std::move(*this);
}
error&& error::with_cause(error cause) && {
    if (is_long_chain(cause)) cause = first_of_chain(std::move(cause));
    own().cause = std::make_shared<const error>(std::move(cause));
    return std::move(*this);
}
error&& error::with_origin(error_origin origin) && {
    own().origin = origin;
    return std::move(*this);
}
error&& error::with_retry_after(std::chrono::milliseconds wait) && {
    own().retry_after = wait;
    return std::move(*this);
}
error&& error::with_attempts(std::uint32_t attempts) && {
    own().attempts = attempts;
    return std::move(*this);
}
error&& error::with_last_cause(error cause) && {
    std::vector<error> chain{*this};
    while (chain.size() <= max_causes && chain.back().info().cause) {
        chain.push_back(error(*chain.back().info().cause));
    }
    for (; chain.size() > 1; chain.pop_back()) {
        cause = std::move(chain.back()).with_cause(std::move(cause));
    }
    chain.clear(); // shares what is changed next
    return std::move(*this).with_cause(std::move(cause));
}
error&& error::with_retryable(bool retryable) && {
    own().retryable = retryable;
    return std::move(*this);
}
error&& error::with_payload(std::shared_ptr<const error_payload> payload) && {
    own().payload = std::move(payload);
    return std::move(*this);
}

void throw_exception_from_error(const error& failure, const boost::source_location&) {
    throw error_exception(failure);
}

} // namespace heddle
