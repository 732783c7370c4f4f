#include <heddle/lang/value_codec.hpp>

#include "lang/codec/error_codec.hpp"
#include "lang/codec/format.hpp"
#include "lang/codec/value_reader.hpp"
#include "lang/codec/value_writer.hpp"

namespace heddle::lang {

result<std::string> encode_value(const value& data, std::size_t max_bytes) {
    std::string out{codec::version, codec::a_value};
    codec::value_writer writer(out, max_bytes, codec::if_no_data::fail);
    HEDDLE_CHECK(writer.write(data));
    return out;
}

std::string encode_error(const error& failure, const source_map* places) {
    std::string out{codec::version, codec::an_error};
    codec::write_error(out, failure, places);
    return out;
}

bool is_encoded_error(std::string_view bytes) noexcept {
    return bytes.size() > 1 && static_cast<std::uint8_t>(bytes[0]) == codec::version &&
           static_cast<std::uint8_t>(bytes[1]) == codec::an_error;
}

result<value> decode_answer(heap& memory, std::string_view bytes, category_finder categories) {
    codec::byte_reader from(bytes);
    HEDDLE_TRY(const std::uint8_t version, from.byte());
    if (version != codec::version) {
        return error(heddle::errc::io_error,
                     "the recorded answer has the unknown format " + std::to_string(version))
            .with_hint("it was changed, or written by a newer version of heddle");
    }
    HEDDLE_TRY(const std::uint8_t what, from.byte());
    if (what == codec::an_error) {
        error failure;
        HEDDLE_CHECK(codec::read_error(memory, from, categories, failure));
        if (from.left() != 0) return codec::byte_reader::malformed();
        return failure;
    }
    if (what != codec::a_value) return codec::byte_reader::malformed();
    HEDDLE_TRY(value data, codec::value_reader(memory, from).read());
    if (from.left() != 0) return codec::byte_reader::malformed();
    return data;
}

} // namespace heddle::lang
