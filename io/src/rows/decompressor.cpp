#include "rows/decompressor.hpp"

#include <heddle/base/ascii.hpp>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <climits>
#include <new>
#include <vector>

namespace heddle::rows {

namespace {

constexpr std::size_t out_bytes = std::size_t{128} * 1024;

bool is_zstd_frame(std::string_view beginning) {
    // A frame, or a skippable one (RFC 8878, 3.1).
    if (beginning.size() < 4 || beginning.substr(1, 3) == "\xB5\x2F\xFD")
        return beginning.size() >= 4 && beginning[0] == '\x28';
    return beginning.substr(1, 3) == "\x2A\x4D\x18" &&
           (static_cast<unsigned char>(beginning[0]) & 0xF0U) == 0x50U;
}

class gzip_decompressor final : public decompressor {
public:
    gzip_decompressor() : out_(out_bytes) {
        if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    gzip_decompressor(const gzip_decompressor&) = delete;
    gzip_decompressor& operator=(const gzip_decompressor&) = delete;
    ~gzip_decompressor() override { inflateEnd(&stream_); }

    step next(std::string_view& in) override {
        if (ended_) {
            // Zeros behind the last member: padding of tapes and blocks, which gzip ignores too.
            if (padded_ || (!in.empty() && in.front() == '\0')) {
                padded_ = true;
                const auto zeros = in.find_first_not_of('\0');
                if (zeros != std::string_view::npos) return {{}, "data after the end"};
                in = {};
                return {};
            }
            if (in.empty()) return {};
            inflateReset(&stream_);
            ended_ = false;
        }
        const std::size_t given = std::min<std::size_t>(in.size(), UINT_MAX);
        // zlib's interface is older than const; it does not write there.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        stream_.avail_in = static_cast<uInt>(given);
        stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
        stream_.avail_out = static_cast<uInt>(out_.size());
        const int outcome = inflate(&stream_, Z_NO_FLUSH);
        in.remove_prefix(given - stream_.avail_in);
        ended_ = outcome == Z_STREAM_END;
        step done{{out_.data(), out_.size() - stream_.avail_out}, nullptr};
        if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
            done.problem = stream_.msg ? stream_.msg : "invalid data";
        return done;
    }
    bool whole() const noexcept override { return ended_; }

private:
    z_stream stream_{};
    std::vector<char> out_;
    bool ended_ = false;
    bool padded_ = false;
};

class zstd_decompressor final : public decompressor {
public:
    zstd_decompressor() : stream_(ZSTD_createDStream()), out_(out_bytes) {
        if (!stream_) throw std::bad_alloc();
    }
    zstd_decompressor(const zstd_decompressor&) = delete;
    zstd_decompressor& operator=(const zstd_decompressor&) = delete;
    ~zstd_decompressor() override { ZSTD_freeDStream(stream_); }

    step next(std::string_view& in) override {
        if (whole_ && in.empty()) return {};
        ZSTD_inBuffer from{in.data(), in.size(), 0};
        ZSTD_outBuffer to{out_.data(), out_.size(), 0};
        const std::size_t outcome = ZSTD_decompressStream(stream_, &to, &from);
        in.remove_prefix(from.pos);
        step done{{out_.data(), to.pos}, nullptr};
        if (ZSTD_isError(outcome) != 0) done.problem = ZSTD_getErrorName(outcome);
        whole_ = outcome == 0;
        return done;
    }
    bool whole() const noexcept override { return whole_; }

private:
    ZSTD_DStream* stream_;
    std::vector<char> out_;
    bool whole_ = false;
};

} // namespace

compression compression_of(std::string_view beginning) noexcept {
    if (beginning.starts_with("\x1F\x8B")) return compression::gzip;
    return is_zstd_frame(beginning) ? compression::zstd : compression::none;
}

bool may_become_compressed(std::string_view beginning) noexcept {
    if (beginning.empty()) return true;
    const auto first = static_cast<unsigned char>(beginning.front());
    // Of gzip, of a zstd frame, of one that is skipped (RFC 1952, RFC 8878).
    return beginning.size() < 4 && (first == 0x1F || first == 0x28 || first >> 4 == 5);
}

bool has_compressed_name(std::string_view file) noexcept {
    const auto ends_with = [file](std::string_view extension) {
        const std::size_t before = file.size() - std::min(file.size(), extension.size());
        return ascii::equals_ignoring_case(file.substr(before), extension);
    };
    return ends_with(".gz") || ends_with(".zst");
}

std::unique_ptr<decompressor> make_decompressor(compression what) {
    switch (what) {
    case compression::gzip: return std::make_unique<gzip_decompressor>();
    case compression::zstd: return std::make_unique<zstd_decompressor>();
    case compression::none: break;
    }
    return nullptr;
}

} // namespace heddle::rows
