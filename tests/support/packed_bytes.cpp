#include "packed_bytes.hpp"

#include <zlib.h>

#include <cstdlib>

namespace heddle::loopback {

std::string packed(std::string_view text, int frame, int level) {
    z_stream stream{};
    deflateInit2(&stream, level, Z_DEFLATED, frame, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

} // namespace heddle::loopback
