#include <heddle/function_binding.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp> // heddle-check: allow words (of Asio)

namespace heddle::detail {

std::shared_ptr<pending_call> begin_call(const std::string& function, call by,
                                         const boost::asio::any_io_executor& executor,
                                         function_completion done) {
    // One after the other: what cancels must not run at the same time as what is cancelled.
    // heddle-check: allow words (of Asio)
    if (executor) by = by.on(boost::asio::make_strand(executor));
    return std::make_shared<pending_call>(function, std::move(by), std::move(done));
}

void run_function(const std::shared_ptr<pending_call>& pending, bool elsewhere,
                  std::function<void()> run) {
    auto guarded = [pending, run = std::move(run)] {
        try {
            run();
        } catch (...) {
            pending->fail(std::current_exception());
        }
    };
    if (elsewhere) boost::asio::post(pending->by().executor(), std::move(guarded));
    else guarded();
}

result<void> check_count(std::size_t given, std::size_t wanted) {
    if (given == wanted) return {};
    return error(errc::invalid_argument, "expected " + std::to_string(wanted) +
                                             " arguments but found " + std::to_string(given));
}

error argument_error(const std::string& function, const error& failure) {
    return error(failure.code(), function + ": " + failure.message())
        .with_hint(failure.info().hint);
}

} // namespace heddle::detail
