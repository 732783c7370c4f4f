#include "store/sha256.hpp"

#include <openssl/evp.h>

#include <new>

namespace heddle::store {

struct sha256::state {
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

sha256::sha256() : state_(std::make_unique<state>()) {
    if (!state_->method || !state_->context) throw std::bad_alloc();
}
sha256::~sha256() = default;

sha256::digest sha256::of(std::initializer_list<std::string_view> parts) {
    EVP_MD_CTX* const context = state_->context;
    bool done = EVP_DigestInit_ex2(context, state_->method, nullptr) == 1;
    for (const std::string_view part : parts)
        done = done && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
    digest bytes{};
    if (!done || EVP_DigestFinal_ex(context, bytes.data(), nullptr) != 1) {
        throw std::bad_alloc(); // nothing else makes them fail
    }
    return bytes;
}

} // namespace heddle::store
