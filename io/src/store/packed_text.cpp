#include "store/packed_text.hpp"

#include <zstd.h>

#include <new>

namespace heddle::store {

namespace {

constexpr std::size_t worth_it = 1024;
constexpr std::size_t max_text = 256 * 1024 * 1024;
constexpr int level = 3;
constexpr char plain = 0;
constexpr char compressed = 1;

error damaged() { return error(errc::io_error, "a compressed text is damaged"); }

} // namespace

void text_packer::context_end::operator()(void* context) const noexcept {
    ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context));
}

std::string_view text_packer::pack(std::string_view text) {
    if (text.size() >= worth_it) {
        if (!context_) context_.reset(ZSTD_createCCtx());
        if (!context_) throw std::bad_alloc();
        packed_.resize(1 + ZSTD_compressBound(text.size()));
        packed_[0] = compressed;
        const std::size_t size =
            ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_.get()), packed_.data() + 1,
                              packed_.size() - 1, text.data(), text.size(), level);
        if (!ZSTD_isError(size) && size < text.size())
            return std::string_view(packed_).substr(0, 1 + size);
    }
    packed_.assign(1, plain);
    packed_.append(text);
    return packed_;
}

result<std::string> unpack_text(std::string_view bytes) {
    if (bytes.empty()) return std::string();
    const char how = bytes[0];
    bytes.remove_prefix(1);
    if (how == plain) return std::string(bytes);
    if (how != compressed) return damaged();
    const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    // The two error codes are the largest numbers.
    if (size > max_text) return damaged();
    std::string text(static_cast<std::size_t>(size), '\0');
    const std::size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(got) || got != text.size()) return damaged();
    return text;
}

} // namespace heddle::store
