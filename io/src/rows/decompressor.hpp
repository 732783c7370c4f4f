// gzip and zstd, undone piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace heddle::rows {

enum class compression : std::uint8_t { none, gzip, zstd };

/// By the first bytes of a file; four are enough.
[[nodiscard]] compression compression_of(std::string_view beginning) noexcept;
/// Whether more bytes are needed to know that.
[[nodiscard]] bool may_become_compressed(std::string_view beginning) noexcept;
/// Whether the extension of a file is that of gzip or zstd, in capitals or not.
[[nodiscard]] bool has_compressed_name(std::string_view file) noexcept;

/// A stream of one or more members or frames. Its memory does not depend on what comes out: zstd
/// frames with windows above 128 MiB are refused.
class decompressor {
public:
    virtual ~decompressor() = default;

    struct step {
        std::string_view out;          ///< valid until the next call
        const char* problem = nullptr; ///< what is wrong with the data
    };
    /// Takes bytes off `in`. With an empty `in`, or when nothing was taken and nothing came out,
    /// it needs more.
    [[nodiscard]] virtual step next(std::string_view& in) = 0;
    /// The input may end here.
    [[nodiscard]] virtual bool whole() const noexcept = 0;
};

/// Null for compression::none.
[[nodiscard]] std::unique_ptr<decompressor> make_decompressor(compression what);

} // namespace heddle::rows
