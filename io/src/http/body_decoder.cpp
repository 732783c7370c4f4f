#include "body_decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <climits>

namespace heddle::http {

struct body_decoder::state {
    z_stream stream{};
    bool initialised = false;
    std::array<char, 16 * 1024> out;
};

body_decoder::body_decoder() : state_(std::make_unique<state>()) {}

body_decoder::~body_decoder() {
    if (state_->initialised) inflateEnd(&state_->stream);
}

void body_decoder::begin(coding what) {
    coding_ = what;
    fresh_ = true;
    ended_ = false;
}

bool body_decoder::set_up(unsigned char first) {
    // zlib's own numbers: 15 bits of window, +16 for gzip's frame, negative for none.
    int window = 15 + 16;
    if (coding_ == coding::deflate) {
        // RFC 9110 means zlib's frame, whose first byte has 8 in its low half; some send none.
        const bool framed = (first & 0x0FU) == 8 && first >> 4 <= 7;
        window = framed ? 15 : -15;
    }
    if (state_->initialised) return inflateReset2(&state_->stream, window) == Z_OK;
    state_->initialised = inflateInit2(&state_->stream, window) == Z_OK;
    return state_->initialised;
}

body_decoder::step body_decoder::next(std::string_view& in) {
    step result;
    if (ended_) {
        if (in.empty()) return result;
        // A gzip body may consist of several members, one after the other (RFC 1952, 2.2).
        if (coding_ == coding::deflate) return {{}, false, true};
        fresh_ = true;
        ended_ = false;
    }
    if (fresh_) {
        if (in.empty()) return result;
        if (!set_up(static_cast<unsigned char>(in.front()))) return {{}, false, true};
        fresh_ = false;
    }
    z_stream& stream = state_->stream;
    const std::size_t given = std::min<std::size_t>(in.size(), UINT_MAX);
    // zlib's interface is older than const; it does not write there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(state_->out.data());
    stream.avail_out = static_cast<uInt>(state_->out.size());
    const int outcome = inflate(&stream, Z_SYNC_FLUSH);
    in.remove_prefix(given - stream.avail_in);
    result.out = {state_->out.data(), state_->out.size() - stream.avail_out};
    ended_ = outcome == Z_STREAM_END;
    result.broken = outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR;
    result.more = !result.broken && (!in.empty() || (stream.avail_out == 0 && !ended_));
    return result;
}

} // namespace heddle::http
