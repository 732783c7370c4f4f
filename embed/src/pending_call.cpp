#include <heddle/completion.hpp>

#include <heddle/base/exceptions.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>

namespace heddle::detail {

struct pending_call::parts {
    explicit parts(function_completion given) : done(std::move(given)) {}

    std::atomic<bool> completed{false};
    function_completion done;
};

pending_call::pending_call(std::string function, call by, function_completion done)
    : function_(std::move(function)), by_(std::move(by)),
      parts_(std::make_unique<parts>(std::move(done))) {}

pending_call::~pending_call() {
    if (parts_->completed.load(std::memory_order_acquire)) return;
    try {
        complete(error(errc::internal, "the function '" + function_ + "' never completed")
                     .with_hint("call its completion once on every path, also after a failure"));
    } catch (...) { // the completion threw, or there is no memory: nobody is left to receive it
    }
}

bool pending_call::complete(result<json> outcome) {
    if (parts_->completed.exchange(true, std::memory_order_acq_rel)) return false;
    if (!outcome && outcome.error().message().rfind(function_ + ": ", 0) != 0 &&
        !outcome.error().is_cancelled()) {
        error failure = std::move(outcome).error();
        outcome = std::move(failure).with_trace("in the function '" + function_ + "'");
    }
    const function_completion done = std::exchange(parts_->done, nullptr);
    done(std::move(outcome));
    return true;
}

bool pending_call::fail(std::exception_ptr thrown) {
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const boost::system::system_error& of_asio) {
        if (by_.cancelled() && of_asio.code() == boost::asio::error::operation_aborted)
            return complete(error::cancelled(cancel_reason::user));
        return complete(error_of_exception("the function '" + function_ + "'"));
    } catch (...) {
        return complete(error_of_exception("the function '" + function_ + "'"));
    }
}

error unusable_result(const error& failure) {
    return error(errc::internal, failure.message()).with_hint(failure.info().hint);
}

} // namespace heddle::detail
