#include "batch_service.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace heddle::cli_test {

namespace json = boost::json;

namespace {

std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

/// The text of a message's content: a string, or a list of parts.
std::string text_in(const json::value& content) {
    if (content.is_string()) return std::string(content.as_string());
    std::string text;
    for (const json::value& part : content.as_array())
        if (part.as_object().contains("text")) text += part.at("text").as_string();
    return text;
}

std::string prompt_in(const json::object& body) {
    if (const auto* contents = body.if_contains("contents"))
        return text_in(contents->as_array().back().at("parts"));
    return text_in(body.at("messages").as_array().back().at("content"));
}

} // namespace

batch_service::batch_service()
    : server_([this](loopback::connection& peer, int) { serve(peer); }) {}

void batch_service::end_after_polls(int polls) {
    const std::lock_guard held(lock_);
    polls_ = polls;
}
void batch_service::end() {
    const std::lock_guard held(lock_);
    for (batch& each : batches_) end_batch(each);
}
void batch_service::expire(int batches) {
    const std::lock_guard held(lock_);
    expiring_ = batches;
}
void batch_service::fail(std::string prompt) {
    const std::lock_guard held(lock_);
    failing_ = std::move(prompt);
}
void batch_service::perform_until_cancelled(std::size_t calls) {
    const std::lock_guard held(lock_);
    until_cancelled_ = calls;
}
void batch_service::lose_responses(int times) {
    const std::lock_guard held(lock_);
    losing_ = times;
}
void batch_service::list_after(std::chrono::milliseconds time) {
    const std::lock_guard held(lock_);
    listed_after_ = time;
}
std::size_t batch_service::batches() {
    const std::lock_guard held(lock_);
    return batches_.size();
}
std::map<std::string, int> batch_service::performed() {
    const std::lock_guard held(lock_);
    return performed_;
}
int batch_service::direct_calls() {
    const std::lock_guard held(lock_);
    return direct_;
}

std::map<std::string, std::string> batch_service::variables() const {
    return {{"OPENAI_API_KEY", "sk-test-0123456789"},    {"OPENAI_BASE_URL", url() + "/v1"},
            {"ANTHROPIC_API_KEY", "sk-test-0123456789"}, {"ANTHROPIC_BASE_URL", url()},
            {"GEMINI_API_KEY", "sk-test-0123456789"},    {"GOOGLE_GEMINI_BASE_URL", url()}};
}

void batch_service::serve(loopback::connection& peer) {
    for (;;) {
        const std::string request = peer.read_request();
        if (request.empty()) return;
        reply response;
        {
            const std::lock_guard held(lock_);
            response = answer(request);
        }
        if (response.cut) return;
        peer.send("HTTP/1.1 " + std::to_string(response.status) +
                  " X\r\ncontent-type: application/json\r\ncontent-length: " +
                  std::to_string(response.body.size()) + "\r\n\r\n" + response.body);
    }
}

batch_service::reply batch_service::answer(const std::string& request) {
    const std::size_t space = request.find(' ');
    const std::string method = request.substr(0, space);
    std::string path = request.substr(space + 1, request.find(' ', space + 1) - space - 1);
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    path = path.substr(0, path.find('?'));
    const auto last = [&] { return path.substr(path.rfind('/') + 1); };
    if (method == "POST" && path == "/v1/files") {
        std::vector<call> calls;
        std::istringstream in(body);
        for (std::string line; std::getline(in, line);) {
            if (!line.starts_with("{\"custom_id\"")) continue;
            const json::value one = json::parse(line);
            calls.push_back({std::string(one.at("custom_id").as_string()),
                             prompt_in(one.at("body").as_object())});
        }
        const std::string id = "file-" + std::to_string(files_.size() + 1);
        files_[id] = std::move(calls);
        return {200, "{\"id\":\"" + id + "\"}"};
    }
    if (method == "POST" && path == "/v1/batches")
        return create(kind::openai, json::parse(body).as_object());
    if (method == "POST" && path == "/v1/messages/batches")
        return create(kind::anthropic, json::parse(body).as_object());
    if (method == "POST" && path.ends_with(":batchGenerateContent"))
        return create(kind::gemini, json::parse(body).at("batch").as_object());
    if (method == "POST" && (path.ends_with("/cancel") || path.ends_with(":cancel"))) {
        path.resize(path.size() - std::string("/cancel").size());
        batch* const found = find(last());
        if (!found || found->ended) return {409, R"({"error": {"message": "it has ended"}})"};
        found->calls.resize(std::min(found->calls.size(), until_cancelled_));
        found->cancelled = true;
        end_batch(*found);
        return {200, status_of(*found)};
    }
    if (method == "POST") { // a call by itself
        ++direct_;
        const std::string prompt = prompt_in(json::parse(body).as_object());
        ++performed_[prompt];
        return {200, json::serialize(response_to(kind::openai, prompt))};
    }
    if (path == "/v1/batches" || path == "/v1/messages/batches") {
        std::string all;
        const bool is_openai = path == "/v1/batches";
        for (auto each = batches_.rbegin(); each != batches_.rend(); ++each) {
            if ((each->of == kind::openai) != is_openai) continue;
            if (std::chrono::steady_clock::now() < each->created + listed_after_) continue;
            all += (all.empty() ? "" : ",") + status_of(*each);
        }
        return {200, "{\"data\":[" + all + "],\"has_more\":false}"};
    }
    if (path.starts_with("/v1/files/")) {
        path = path.substr(0, path.rfind('/'));
        const batch* found = find(last().substr(std::string("out-").size()));
        return found ? reply{200, results_of(*found)} : reply{404, "{}"};
    }
    if (path.ends_with("/results")) {
        path = path.substr(0, path.rfind('/'));
        const batch* found = find(last());
        return found ? reply{200, results_of(*found)} : reply{404, "{}"};
    }
    return look(last());
}

void batch_service::refuse() {
    const std::lock_guard held(lock_);
    refuses_ = true;
}

batch_service::reply batch_service::create(kind of, const json::object& body) {
    if (refuses_) return {400, R"({"error": {"message": "no batches for you"}})"};
    batch fresh;
    fresh.of = of;
    fresh.id = "batch" + std::to_string(batches_.size() + 1);
    if (of == kind::openai) {
        fresh.calls = files_[std::string(body.at("input_file_id").as_string())];
        fresh.mark = body.at("metadata").at("heddle").as_string();
    } else {
        const json::value& list = of == kind::anthropic
                                      ? body.at("requests")
                                      : body.at("inputConfig").at("requests").at("requests");
        if (of == kind::gemini) fresh.mark = body.at("displayName").as_string();
        for (const json::value& each : list.as_array()) {
            const json::value& id =
                of == kind::anthropic ? each.at("custom_id") : each.at("metadata").at("key");
            const json::value& params =
                of == kind::anthropic ? each.at("params") : each.at("request");
            fresh.calls.push_back({std::string(id.as_string()), prompt_in(params.as_object())});
        }
    }
    fresh.expired = expiring_ > 0;
    if (fresh.expired) --expiring_;
    batches_.push_back(std::move(fresh));
    if (losing_ > 0) {
        --losing_;
        return {200, {}, true};
    }
    return {200, status_of(batches_.back())};
}

batch_service::reply batch_service::look(const std::string& id) {
    batch* found = find(id);
    if (!found) return {404, "{}"};
    if (polls_ >= 0 && ++found->polls >= polls_) end_batch(*found);
    return {200, status_of(*found)};
}

void batch_service::end_batch(batch& which) {
    if (which.ended) return;
    which.ended = true;
    if (which.expired) return;
    for (const call& each : which.calls) ++performed_[each.prompt];
}

batch_service::batch* batch_service::find(const std::string& id) {
    const auto found = std::find_if(batches_.begin(), batches_.end(),
                                    [&](const batch& each) { return each.id == id; });
    return found == batches_.end() ? nullptr : &*found;
}

bool batch_service::fails(const std::string& prompt) const {
    return !failing_.empty() && prompt.find(failing_) != std::string::npos;
}

std::string batch_service::status_of(const batch& which) const {
    const auto count = static_cast<std::int64_t>(which.calls.size());
    if (which.of == kind::openai) {
        const char* state = !which.ended      ? "in_progress"
                            : which.expired   ? "expired"
                            : which.cancelled ? "cancelled"
                                              : "completed";
        json::object body{{"id", which.id},
                          {"status", state},
                          {"created_at", 4'000'000'000},
                          {"metadata", {{"heddle", which.mark}}},
                          {"request_counts", {{"total", count}, {"completed", 0}, {"failed", 0}}}};
        if (which.ended) body["output_file_id"] = "out-" + which.id;
        return json::serialize(body);
    }
    if (which.of == kind::anthropic) {
        json::object body{{"id", which.id},
                          {"processing_status", which.ended ? "ended" : "in_progress"},
                          {"created_at", "2096-11-21T18:37:24.100435Z"},
                          {"request_counts", {{"processing", count}}},
                          {"results_url", nullptr}};
        if (which.ended) body["results_url"] = "https://elsewhere.example/results";
        return json::serialize(body);
    }
    json::object body{{"name", "batches/" + which.id},
                      {"metadata",
                       {{"displayName", which.mark},
                        {"state", which.cancelled ? "BATCH_STATE_CANCELLED"
                                  : which.ended   ? "BATCH_STATE_SUCCEEDED"
                                                  : "BATCH_STATE_RUNNING"}}}};
    if (!which.ended) return json::serialize(body);
    body["done"] = true;
    json::array all;
    std::istringstream in(results_of(which));
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    body["response"] = {{"inlinedResponses", {{"inlinedResponses", all}}}};
    return json::serialize(body);
}

json::object batch_service::response_to(kind of, const std::string& prompt) const {
    const std::string text = capitals(prompt);
    if (of == kind::openai) {
        return {{"id", "1"},
                {"model", "gpt-4o"},
                {"choices", json::array{{{"index", 0},
                                         {"message", {{"role", "assistant"}, {"content", text}}},
                                         {"finish_reason", "stop"}}}},
                {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 100}}}};
    }
    if (of == kind::anthropic) {
        return {{"id", "1"},
                {"type", "message"},
                {"role", "assistant"},
                {"model", "m"},
                {"content", json::array{{{"type", "text"}, {"text", text}}}},
                {"stop_reason", "end_turn"},
                {"usage", {{"input_tokens", 10}, {"output_tokens", 5}}}};
    }
    return {
        {"candidates",
         json::array{{{"content", {{"role", "model"}, {"parts", json::array{{{"text", text}}}}}},
                      {"finishReason", "STOP"}}}},
        {"usageMetadata", {{"promptTokenCount", 10}, {"candidatesTokenCount", 5}}}};
}

std::string batch_service::results_of(const batch& which) const {
    std::string all;
    // Not in the order of the calls.
    for (auto each = which.calls.rbegin(); each != which.calls.rend(); ++each) {
        json::object line;
        const bool fails_here = fails(each->prompt);
        const json::object wrong{{"type", "invalid_request_error"}, {"message", "it is wrong"}};
        switch (which.of) {
        case kind::openai:
            line = {{"custom_id", each->id}, {"error", nullptr}};
            if (which.expired) {
                line["response"] = nullptr;
                line["error"] = {{"code", "batch_expired"}, {"message", "too late"}};
            } else if (fails_here) {
                line["response"] = {{"status_code", 400}, {"body", {{"error", wrong}}}};
            } else {
                line["response"] = {{"status_code", 200},
                                    {"body", response_to(which.of, each->prompt)}};
            }
            break;
        case kind::anthropic:
            line["custom_id"] = each->id;
            if (which.expired) line["result"] = {{"type", "expired"}};
            else if (fails_here)
                line["result"] = {{"type", "errored"},
                                  {"error", {{"type", "error"}, {"error", wrong}}}};
            else
                line["result"] = {{"type", "succeeded"},
                                  {"message", response_to(which.of, each->prompt)}};
            break;
        case kind::gemini:
            line["metadata"] = {{"key", each->id}};
            if (fails_here) line["error"] = {{"code", 3}, {"message", "it is wrong"}};
            else line["response"] = response_to(which.of, each->prompt);
            break;
        }
        all += json::serialize(line) + "\n";
    }
    return all;
}

} // namespace heddle::cli_test
