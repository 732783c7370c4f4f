#include "counting_service.hpp"

#include <chrono>
#include <thread>

namespace heddle::loopback {

std::string counting_service::config(const std::string& more) const {
    return "model = \"near:m\"\n[providers.near]\ntype = \"openai\"\nbase_url = \"" + url() +
           "/v1\"\nmax_in_flight = 2\n" + more;
}

void counting_service::serve(connection& peer) {
    while (!peer.read_request().empty()) {
        ++requests_;
        const int now = ++running_;
        for (int seen = max_running_;
             now > seen && !max_running_.compare_exchange_weak(seen, now);) {}
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        --running_;
        (void)peer.send(ok_response(
            R"({"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})",
            "content-type: application/json\r\n"));
    }
}

} // namespace heddle::loopback
