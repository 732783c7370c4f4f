#include "compile_watch.hpp"

#include <heddle/lang/errors.hpp>

namespace heddle::lang {

std::optional<error> compile_work::pay() {
    const std::uint64_t work = std::exchange(unpaid_, 0);
    if (watch_) return watch_->spend(work);
    heap& memory = realm_.memory();
    if (!memory.over_limit() || !memory.limit_used_up()) return std::nullopt;
    return error(errc::limit, "the memory limit is used up while code is compiled");
}

} // namespace heddle::lang
