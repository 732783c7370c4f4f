#include <heddle/base/detached_error.hpp>

#include <utility>

namespace heddle {

error detached_error(const error& failure) {
    const error_info& info = failure.info();
    error copy = failure.is_cancelled()
                     ? error::cancelled(failure.cancelled_because(), info.message)
                     : error(info.code, info.message);
    if (!info.hint.empty()) copy = std::move(copy).with_hint(info.hint);
    copy = std::move(copy).with_origin(info.origin);
    if (info.retry_after) copy = std::move(copy).with_retry_after(*info.retry_after);
    if (info.retryable) copy = std::move(copy).with_retryable(*info.retryable);
    if (info.attempts) copy = std::move(copy).with_attempts(*info.attempts);
    return copy;
}

} // namespace heddle
