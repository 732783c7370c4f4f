#include "durable_step.hpp"

#include "durable_row.hpp"
#include "step_path.hpp"

#include <utility>

namespace heddle::host {

ports::digest128 durable_step::next_nested() noexcept {
    return step_path::inside(path_, step_path::part::nested, nested_++);
}

std::uint64_t durable_step::seed() const noexcept { return row_.log().seed() ^ path_.low; }

std::optional<ports::kept_part> durable_step::take(const ports::digest128& content) {
    return row_.take_part(path_, content);
}

coro::task<result<void>> durable_step::keep(ports::digest128 content, std::string name,
                                            std::string body, ports::step_spending spent,
                                            coro::call_context) {
    ports::step_record record;
    record.kind = ports::step_kind::request;
    record.path = path_;
    record.content = content;
    record.name = std::move(name);
    record.body = std::move(body);
    record.spent = spent;
    return row_.keep_part(std::move(record));
}

coro::task<result<void>> durable_step::note_sent(ports::digest128 content, std::string name,
                                                 ports::step_spending least, coro::call_context) {
    ports::step_record record;
    record.kind = ports::step_kind::sent;
    record.path = path_;
    record.content = content;
    record.name = std::move(name);
    record.spent = least;
    return row_.keep_part(std::move(record));
}

} // namespace heddle::host
