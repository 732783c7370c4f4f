#include "batch/threads/row_log_link.hpp"

#include <heddle/coro/run_on.hpp>

namespace heddle::cli {

coro::task<result<void>> row_log_link::append(ports::step_record record,
                                              coro::call_context context) {
    // What has been paid for is kept also when the row is being cancelled.
    const coro::call_context to_its_end{context.loop, nullptr, {}};
    return coro::run_on(home_, to_its_end,
                        [log = log_, record = std::move(record)](coro::call_context there) mutable {
                            return log->append(std::move(record), there);
                        });
}

void row_log_link::note(ports::step_record record) {
    home_.post(
        [log = log_, record = std::move(record)]() mutable { log->note(std::move(record)); });
}

void row_log_link::use_spare(const ports::spare_use& use) {
    home_.post([log = log_, use] { log->use_spare(use); });
}

} // namespace heddle::cli
