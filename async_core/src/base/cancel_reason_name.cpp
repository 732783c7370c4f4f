#include <heddle/base/cancel_reason_name.hpp>

namespace heddle {

std::string_view name_of(cancel_reason reason) noexcept {
    switch (reason) {
    case cancel_reason::none: break;
    case cancel_reason::user: return "user";
    case cancel_reason::deadline: return "deadline";
    case cancel_reason::sibling: return "sibling";
    case cancel_reason::budget: return "budget";
    case cancel_reason::shutdown: return "shutdown";
    }
    return "none";
}

} // namespace heddle
