#include "durable_part.hpp"

#include "durable_row.hpp"

#include <utility>

namespace heddle::host {

// What runs beside it may have more records: an error would end that.
coro::task<error> durable_part::refused(coro::call_context context) {
    co_await row_.wait_beside(whole().path(), context);
    co_return error::cancelled(context.cancelled() ? context.cancel->reason()
                                                   : cancel_reason::user);
}

coro::task<result<void>> durable_part::keep(ports::digest128 content, std::string name,
                                            std::string body, ports::step_spending spent,
                                            coro::call_context context) {
    return step_.keep_of(own_, content, std::move(name), std::move(body), spent, context);
}

coro::task<void> durable_part::keep_failure(ports::digest128 content, std::string name,
                                            std::string body, coro::call_context context) {
    return step_.keep_failure_of(own_, content, std::move(name), std::move(body), context);
}

coro::task<result<void>> durable_part::keep_result(ports::digest128 content, std::string name,
                                                   std::string body, coro::call_context context) {
    return step_.keep_result_of(own_, content, std::move(name), std::move(body), context);
}

coro::task<result<void>> durable_part::note_sent(ports::digest128 content, std::string name,
                                                 ports::cost_if_lost if_lost,
                                                 coro::call_context context) {
    return step_.note_sent_of(own_, content, std::move(name), if_lost, context);
}

} // namespace heddle::host
