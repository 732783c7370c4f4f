// Texts in a store, compressed where that is worth it.
#pragma once

#include <heddle/base/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace heddle::store {

/// Compresses texts of a kibibyte and more with zstd. The first byte of what comes out: 0 as it
/// was, 1 compressed. Threads: one at a time.
class text_packer {
public:
    /// The bytes, valid until the next call.
    [[nodiscard]] std::string_view pack(std::string_view text);

private:
    struct context_end {
        void operator()(void* context) const noexcept;
    };
    std::unique_ptr<void, context_end> context_;
    std::string packed_;
};

/// Errors: io_error for bytes that no packer has made, or of a text above 256 MiB.
[[nodiscard]] result<std::string> unpack_text(std::string_view bytes);

} // namespace heddle::store
