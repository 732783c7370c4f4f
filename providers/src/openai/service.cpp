#include "openai/service.hpp"

#include "common/reset_time.hpp"
#include "common/response_parts.hpp"

#include <algorithm>
#include <optional>

namespace heddle::providers::openai {

namespace {

std::optional<std::int64_t> read_count(std::optional<std::string_view> text) noexcept {
    return text ? parse_count(*text) : std::nullopt;
}

} // namespace

result<base_url> check_service(std::string_view provider_name, std::string_view url,
                               secret& api_key, std::string_view organization,
                               std::string_view project, log_port& log) {
    HEDDLE_TRY(base_url read,
               check_official(provider_name, url, api_key, {official_host, "OPENAI_API_KEY"}, log));
    if (!fits_header(organization) || !fits_header(project)) {
        return wrong_setting(provider_name, "organization or project cannot be sent in a header");
    }
    return read;
}

ports::http_headers request_headers(const secret& api_key, std::string_view organization,
                                    std::string_view project, request_body body) {
    ports::http_headers headers;
    headers.push_back({"accept", "application/json", false});
    if (body == request_body::json) {
        headers.push_back({"content-type", "application/json", false});
    }
    if (!api_key.empty()) {
        headers.push_back({"authorization", "Bearer " + std::string(api_key.reveal()), true});
    }
    if (!organization.empty()) {
        headers.push_back({"openai-organization", std::string(organization), false});
    }
    if (!project.empty()) headers.push_back({"openai-project", std::string(project), false});
    return headers;
}

bool read_failure(const json::object& root, service_failure& failure) {
    const json::object* said = &root;
    if (const json::value* inner = root.if_contains("error"); inner && !inner->is_null()) {
        if (const json::string* text = inner->if_string()) {
            failure.message = {text->data(), text->size()};
            return true;
        }
        said = inner->if_object();
        if (!said) return false;
    } else if (!root.if_contains("message") && !root.if_contains("detail")) {
        return false;
    }
    failure.type = text_member(*said, "type");
    failure.code = text_member(*said, "code");
    failure.message = text_member(*said, "message");
    if (failure.message.empty()) failure.message = text_member(*said, "detail");
    // Some put a list of complaints in place of a text: then the whole body is the message.
    if (failure.message.empty() && failure.code.empty() && failure.type.empty()) return false;
    // Routers give the status of the service behind them as a number.
    const std::int64_t number = count_member(*said, "code");
    if (failure.status == 0 && number >= 400 && number < 600)
        failure.status = static_cast<int>(number);
    return true;
}

result<std::vector<std::string>> read_models(json_reader& reader,
                                             const ports::http_response& received,
                                             std::chrono::system_clock::time_point wall_now) {
    if (received.status < 200 || received.status >= 300) {
        return read_error(reader, received, wall_now, &read_failure,
                          received.header(request_id_header).value_or(""));
    }
    HEDDLE_TRY(const json::value tree, reader.parse(received.body));
    const json::array* list = tree.if_array(); // some send the bare list
    if (const json::object* root = tree.if_object()) {
        service_failure failure;
        if (holds_error(*root) && read_failure(*root, failure)) {
            return reader.service_error(failure);
        }
        list = array_member(*root, "data");
    }
    if (!list) return reader.protocol_error("the response holds no list of models", received.body);
    std::vector<std::string> names;
    names.reserve(list->size());
    for (const json::value& one : *list) {
        const json::object* model = one.if_object();
        if (!model) continue;
        const std::string_view id = text_member(*model, "id");
        if (!id.empty()) names.emplace_back(id);
    }
    std::sort(names.begin(), names.end());
    return names;
}

rate_limit_headers read_limits(const ports::http_response& head,
                               std::chrono::system_clock::time_point wall_now) {
    rate_limit_headers read;
    const auto reset = [&](std::string_view name) -> std::optional<std::chrono::milliseconds> {
        const auto text = head.header(name);
        return text ? read_reset(*text, wall_now, read) : std::nullopt;
    };
    read.requests_limit = read_count(head.header("x-ratelimit-limit-requests"));
    read.requests_remaining = read_count(head.header("x-ratelimit-remaining-requests"));
    read.requests_reset = reset("x-ratelimit-reset-requests");
    read.tokens_limit = read_count(head.header("x-ratelimit-limit-tokens"));
    read.tokens_remaining = read_count(head.header("x-ratelimit-remaining-tokens"));
    read.tokens_reset = reset("x-ratelimit-reset-tokens");
    return read;
}

bool is_event_stream(const ports::http_response& head) noexcept {
    return is_success_of_type(head, "text/event-stream");
}

} // namespace heddle::providers::openai
