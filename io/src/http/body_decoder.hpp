// Content-Encoding gzip and deflate, undone piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace heddle::http {

/// zlib's inflate with a buffer of its own. Meant to be kept: setting it up costs more than
/// decoding a small body. Its output is bounded by whoever asks for the next step.
class body_decoder {
public:
    enum class coding : std::uint8_t { gzip, deflate };

    body_decoder();
    ~body_decoder();
    body_decoder(const body_decoder&) = delete;
    body_decoder& operator=(const body_decoder&) = delete;

    /// Begins a new body. `deflate` is read with zlib's frame and without: both are sent as it.
    void begin(coding what);

    struct step {
        std::string_view out; ///< valid until the next call
        bool more = false;    ///< call again with what is left of the input
        bool broken = false;  ///< not what it claims to be, or no memory
    };
    /// Takes bytes off `in` and returns a stretch of output, at most 16 KiB.
    [[nodiscard]] step next(std::string_view& in);

    /// The last member of the body was whole.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

private:
    struct state;
    [[nodiscard]] bool set_up(unsigned char first);

    std::unique_ptr<state> state_;
    coding coding_ = coding::gzip;
    bool fresh_ = true; ///< nothing of this body or member was read yet
    bool ended_ = false;
};

} // namespace heddle::http
