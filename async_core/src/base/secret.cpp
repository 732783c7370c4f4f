#include <heddle/base/secret.hpp>

namespace heddle {

void secret::wipe() noexcept {
    // All that the string owns: after a move or a shorter value, old bytes are behind its end.
    value_.resize(value_.capacity());
    // volatile: the compiler must not drop stores to memory that is about to be released.
    volatile char* bytes = value_.data();
    for (std::size_t i = 0; i < value_.size(); ++i) bytes[i] = 0;
    value_.clear();
}

} // namespace heddle
