#include "tasks/output/failure_reason.hpp"

#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

namespace heddle::tasks {

namespace {

[[nodiscard]] task_failure_reason http_reason(ports::http_errc code) noexcept {
    switch (code) {
    case ports::http_errc::first_byte_timeout:
    case ports::http_errc::idle_timeout:
    case ports::http_errc::total_timeout: return task_failure_reason::execution_timeout;
    case ports::http_errc::protocol_error:
    case ports::http_errc::header_too_large:
    case ports::http_errc::body_too_large: return task_failure_reason::protocol_error;
    case ports::http_errc::invalid_url:
    case ports::http_errc::redirect_refused: return task_failure_reason::configuration_error;
    default: return task_failure_reason::connection_error;
    }
}

} // namespace

task_failure_reason failure_reason(const error& failure) noexcept {
    const auto& code = failure.code();
    if (code.category() == ports::http_category()) {
        return http_reason(static_cast<ports::http_errc>(code.value()));
    }
    if (code.category() != ports::llm_category()) return task_failure_reason::unexpected_error;
    switch (static_cast<ports::llm_errc>(code.value())) {
    case ports::llm_errc::connection:
        // The transport knows better whether it was the time that ended.
        if (failure.info().cause) return failure_reason(*failure.info().cause);
        return task_failure_reason::connection_error;
    case ports::llm_errc::protocol: return task_failure_reason::protocol_error;
    case ports::llm_errc::request_timeout: return task_failure_reason::execution_timeout;
    case ports::llm_errc::configuration: return task_failure_reason::configuration_error;
    default: return task_failure_reason::llm_error;
    }
}

} // namespace heddle::tasks
