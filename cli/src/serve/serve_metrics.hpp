// What the server counts, for Prometheus.
#pragma once

#include <heddle/runtime_stats.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::cli {

/// Counts requests by function and status. Names come from the program and the file of tokens,
/// never from requests, so that a client cannot make up new series. Threads: one.
class serve_metrics {
public:
    /// A request, which is in progress until this is destroyed. Lifetime: within that of the
    /// metrics.
    class request_in_progress {
    public:
        explicit request_in_progress(serve_metrics& owner) noexcept : owner_(owner) {
            ++owner_.in_progress_;
        }
        ~request_in_progress() { --owner_.in_progress_; }
        request_in_progress(const request_in_progress&) = delete;
        request_in_progress& operator=(const request_in_progress&) = delete;

    private:
        serve_metrics& owner_;
    };

    /// The response to a request is complete. `function`: its name, or "-".
    void ended(std::string_view function, int status, std::chrono::nanoseconds took);
    /// A request that never began, or failed, is counted with its status alone.
    void refused(int status) { ++requests_[{"-", status}]; }
    void model_failed(std::string_view reason) { ++model_errors_[std::string(reason)]; }
    void called_by(const std::string& client) { ++clients_[client]; }

    /// In the text format of Prometheus, version 0.0.4.
    [[nodiscard]] std::string text(const runtime_stats& runtime, bool is_ready) const;

private:
    static constexpr std::array<double, 14> bounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                   1,     2.5,  5,     10,   30,  60,   300};
    struct histogram {
        std::array<std::uint64_t, bounds.size() + 1> counts{}; ///< the last: above all bounds
        double seconds = 0;
    };

    std::uint64_t in_progress_ = 0;
    std::map<std::pair<std::string, int>, std::uint64_t> requests_;
    std::map<std::string, histogram, std::less<>> seconds_;
    std::map<std::string, std::uint64_t> model_errors_;
    std::map<std::string, std::uint64_t> clients_;
};

} // namespace heddle::cli
