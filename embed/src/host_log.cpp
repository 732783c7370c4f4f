#include "host_log.hpp"

#include <utility>

namespace heddle::embed {

namespace {

class host_log final : public log_port {
public:
    host_log(decltype(runtime_options::log) sink, log_level least)
        : sink_(std::move(sink)), least_(sink_ ? least : log_level::off) {}

    bool enabled(log_level level) const noexcept override { return level >= least_; }
    void write(log_level level, std::string_view component,
               std::string_view message) noexcept override {
        if (!enabled(level)) return;
        try {
            sink_(level, component, message);
        } catch (...) { // a line that is lost must not end a workflow
        }
    }

private:
    decltype(runtime_options::log) sink_;
    log_level least_;
};

} // namespace

std::unique_ptr<log_port> make_host_log(const runtime_options& options) {
    return std::make_unique<host_log>(options.log, options.least_logged);
}

} // namespace heddle::embed
