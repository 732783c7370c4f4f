#include "loopback_certificates.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

namespace heddle::loopback {

namespace {

struct key_free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct x509_free {
    void operator()(X509* result) const { X509_free(result); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, key_free>;
using x509_ptr = std::unique_ptr<X509, x509_free>;

void check(bool fine, const char* what) {
    if (!fine) throw std::runtime_error(std::string("test certificates: ") + what);
}

std::string pem_of(EVP_PKEY* key, X509* result) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
    if (key != nullptr)
        check(PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
              "key");
    if (result != nullptr) check(PEM_write_bio_X509(out.get(), result) == 1, "certificate");
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

void extend(X509* result, X509* issuer, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, result, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    check(extension != nullptr, "extension");
    X509_add_ext(result, extension, -1);
    X509_EXTENSION_free(extension);
}

x509_ptr make(EVP_PKEY* key, const char* name, long from, long until) {
    static std::atomic<long> serial{static_cast<long>(::getpid()) * 1000};
    x509_ptr object(X509_new());
    X509_set_version(object.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(object.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(object.get()), from);
    X509_gmtime_adj(X509_getm_notAfter(object.get()), until);
    X509_set_pubkey(object.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(object.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    return object;
}

constexpr long day = 86'400;

} // namespace

struct authority::keys {
    key_ptr key{EVP_EC_gen("P-256")};
    x509_ptr own;
};

authority::authority() : keys_(std::make_unique<keys>()) {
    keys_->own = make(keys_->key.get(), "heddle test authority", -2 * day, 2 * day);
    X509* own = keys_->own.get();
    X509_set_issuer_name(own, X509_get_subject_name(own));
    extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
    extend(own, own, NID_key_usage, "critical,keyCertSign");
    check(X509_sign(own, keys_->key.get(), EVP_sha256()) != 0, "signature");
    static std::atomic<int> count{0};
    file_ = std::filesystem::temp_directory_path() /
            ("heddle-ca-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".pem");
    std::ofstream(file_) << pem_of(nullptr, own);
}

authority::~authority() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
}

certificate authority::issue(const certificate_wish& wish) const {
    const key_ptr key(EVP_EC_gen("P-256"));
    const x509_ptr object =
        make(key.get(), "heddle test server", -2 * day, wish.expired ? -day : day);
    X509_set_issuer_name(object.get(), X509_get_subject_name(keys_->own.get()));
    std::string subjects;
    for (const std::string& name : wish.names)
        subjects += (subjects.empty() ? "DNS:" : ",DNS:") + name;
    for (const std::string& address : wish.addresses)
        subjects += (subjects.empty() ? "IP:" : ",IP:") + address;
    if (!subjects.empty()) extend(object.get(), keys_->own.get(), NID_subject_alt_name, subjects);
    check(X509_sign(object.get(), keys_->key.get(), EVP_sha256()) != 0, "signature");
    return {pem_of(key.get(), nullptr), pem_of(nullptr, object.get())};
}

} // namespace heddle::loopback
