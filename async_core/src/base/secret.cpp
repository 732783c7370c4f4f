#include <heddle/base/secret.hpp>

namespace heddle {

void secret::wipe() noexcept {
    // volatile: the compiler must not drop stores to memory that is about to be released.
    volatile char* bytes = value_.data();
    for (std::size_t i = 0; i < value_.size(); ++i) bytes[i] = 0;
    value_.clear();
}

} // namespace heddle
