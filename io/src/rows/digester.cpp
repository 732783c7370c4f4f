#include "rows/digester.hpp"

#include <heddle/rows/row.hpp>

#include <openssl/evp.h>

#include <array>
#include <new>

namespace heddle::rows {

struct digester::state {
    EVP_MD* method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    state() = default;
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        EVP_MD_CTX_free(context);
        EVP_MD_free(method);
    }
};

digester::digester() : state_(std::make_unique<state>()) {
    if (!state_->method || !state_->context) throw std::bad_alloc();
}
digester::~digester() = default;

ports::digest128 digester::digest(std::string_view purpose, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    EVP_MD_CTX* const context = state_->context;
    const bool done = EVP_DigestInit_ex2(context, state_->method, nullptr) == 1 &&
                      EVP_DigestUpdate(context, purpose.data(), purpose.size()) == 1 &&
                      EVP_DigestUpdate(context, text.data(), text.size()) == 1 &&
                      EVP_DigestFinal_ex(context, bytes.data(), &size) == 1;
    if (!done) throw std::bad_alloc(); // nothing else makes them fail
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
