// Certificates for tests, made when they are needed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace heddle::loopback {

/// What a server certificate is to say.
struct certificate_wish {
    std::vector<std::string> names{"localhost"};     ///< DNS names
    std::vector<std::string> addresses{"127.0.0.1"}; ///< IP addresses
    bool expired = false;
};

/// A key and its certificate in PEM.
struct certificate {
    std::string key_pem;
    std::string certificate_pem;
};

/// A certificate authority of its own, with its certificate in a file for clients.
class authority {
public:
    authority();
    ~authority();
    authority(const authority&) = delete;
    authority& operator=(const authority&) = delete;

    [[nodiscard]] certificate issue(const certificate_wish& wish = {}) const;
    /// PEM file to be trusted; removed with this object.
    [[nodiscard]] std::string file() const { return file_.string(); }

private:
    struct keys;
    std::unique_ptr<keys> keys_;
    std::filesystem::path file_;
};

} // namespace heddle::loopback
