// A value that must never be shown.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heddle {

/// Holds an API key or a similar secret. It has no stream operator, no conversion and no comparison
/// with text; the only way out is reveal(), which is called where bytes go to the wire and nowhere
/// else. The memory is overwritten before it is released or used for another value. Threads: as
/// std::string.
class secret {
public:
    secret() = default;
    explicit secret(std::string value) : value_(std::move(value)) {}
    secret(const secret&) = default;
    secret(secret&& other) noexcept : value_(std::move(other.value_)) { other.wipe(); }
    secret& operator=(const secret& other) { return *this = secret(other); }
    secret& operator=(secret&& other) noexcept {
        if (this != &other) {
            wipe();
            value_ = std::move(other.value_);
            other.wipe();
        }
        return *this;
    }
    ~secret() { wipe(); }

    [[nodiscard]] bool empty() const noexcept { return value_.empty(); }
    [[nodiscard]] std::string_view reveal() const noexcept { return value_; }

private:
    void wipe() noexcept;

    std::string value_;
};

} // namespace heddle
