#include "compile_watch.hpp"

#include <heddle/lang/errors.hpp>

namespace heddle::lang {

std::optional<error> compile_work::pay() {
    const std::uint64_t work = std::exchange(unpaid_, 0);
    if (watch_) {
        watch_->now_at = place_;
        return watch_->spend(work);
    }
    heap& memory = realm_.memory();
    if (!memory.over_limit() || !memory.limit_used_up()) return std::nullopt;
    return error(errc::limit, "the memory limit is used up while code is compiled");
}

error limit_at(error stop, source_span place) {
    if (stop.code() != errc::limit) return stop;
    return std::move(stop).with_span(place).with_origin(error_origin::script);
}

} // namespace heddle::lang
