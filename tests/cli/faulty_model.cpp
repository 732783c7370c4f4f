#include "faulty_model.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <hang_guard.hpp>

#include <thread>

namespace heddle::cli_test {

namespace json = boost::json;

namespace {

std::string call_in(const std::string& http_request) {
    const json::value body = json::parse(http_request.substr(http_request.find("\r\n\r\n") + 4));
    const std::string prompt(body.at("messages").as_array().back().at("content").as_string());
    return prompt.substr(0, prompt.find(':'));
}

std::string response_to(const std::string& call) {
    const json::object body{
        {"id", "chat-1"},
        {"object", "chat.completion"},
        {"model", "gpt-4o"},
        {"choices", json::array{json::object{
                        {"index", 0},
                        {"finish_reason", "stop"},
                        {"message", json::object{{"role", "assistant"},
                                                 {"content", "answer to " + call + "."}}}}}},
        {"usage",
         json::object{{"prompt_tokens", 100}, {"completion_tokens", 10}, {"total_tokens", 110}}}};
    return loopback::ok_response(json::serialize(body), "Content-Type: application/json\r\n");
}

std::string slow_down() {
    const std::string body = R"({"error": {"message": "slow down"}})";
    return "HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: 5\r\nContent-Type: application/json"
           "\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace

faulty_model::faulty_model(std::uint32_t seed) : chance_(seed) {
    server_ = std::make_unique<loopback::server>(
        [this](loopback::connection& connection, int) { serve(connection); });
    url_ = server_->url() + "/v1";
}

void faulty_model::restart(std::chrono::milliseconds pause) {
    loopback::server_options options;
    options.port = server_->port();
    server_.reset();
    std::this_thread::sleep_for(pause);
    server_ = std::make_unique<loopback::server>(
        [this](loopback::connection& connection, int) { serve(connection); }, options);
}

bool faulty_model::wait_until_idle() const {
    return hang_guard::comes_true([&] { return server_->running() == 0; });
}

std::vector<faulty_model::request> faulty_model::log() const {
    const std::lock_guard lock(mutex_);
    return log_;
}

std::size_t faulty_model::logged() const {
    const std::lock_guard lock(mutex_);
    return log_.size();
}

void faulty_model::serve(loopback::connection& connection) {
    for (;;) {
        const std::string http_request = connection.read_request();
        if (http_request.empty()) return;
        request asked;
        asked.call = call_in(http_request);
        std::uint32_t draw = 0;
        std::chrono::milliseconds delay{0};
        {
            const std::lock_guard lock(mutex_);
            draw = chance_() % 100;
            delay = std::chrono::milliseconds(chance_() % 25);
            if (draw < 3) asked.ended = request::fate::refused;
            else if (draw < 7) asked.ended = request::fate::broken;
            log_.push_back(asked);
        }
        std::this_thread::sleep_for(delay);
        const std::string response = response_to(asked.call);
        if (asked.ended == request::fate::refused) {
            if (!connection.send(slow_down())) return;
        } else if (asked.ended == request::fate::broken) {
            if (draw < 5)
                connection.send(std::string_view(response).substr(0, response.size() / 2));
            return;
        } else if (!connection.send(response)) {
            return;
        }
    }
}

} // namespace heddle::cli_test
