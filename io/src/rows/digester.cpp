#include "rows/digester.hpp"

#include <heddle/rows/row.hpp>

namespace heddle::rows {

ports::digest128 digester::digest(std::string_view purpose, std::string_view text) {
    const store::sha256::digest bytes = whole_.of({purpose, text});
    ports::digest128 cut;
    for (std::size_t i = 0; i < 8; ++i) {
        cut.high = cut.high << 8 | bytes[i];
        cut.low = cut.low << 8 | bytes[i + 8];
    }
    return cut;
}

ports::digest128 digest_of_id(std::string_view id) { return digester().digest(id_purpose, id); }
ports::digest128 digest_of_content(std::string_view text) {
    return digester().digest(content_purpose, text);
}

const row_origin& origin_of(const row_item& item) noexcept {
    if (const auto* good = std::get_if<row>(&item)) return *good;
    return *std::get_if<bad_row>(&item);
}

} // namespace heddle::rows
