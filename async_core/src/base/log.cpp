#include <heddle/base/log.hpp>

namespace heddle {

namespace {

class null_log_port final : public log_port {
public:
    bool enabled(log_level) const noexcept override { return false; }
    void write(log_level, std::string_view, std::string_view) noexcept override {}
};

} // namespace

log_port& null_log() noexcept {
    static null_log_port port;
    return port;
}

} // namespace heddle
