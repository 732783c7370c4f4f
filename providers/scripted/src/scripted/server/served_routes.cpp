#include "scripted/server/served_routes.hpp"

#include "scripted/formats/anthropic.hpp"
#include "scripted/formats/gemini.hpp"
#include "scripted/formats/ollama.hpp"
#include "scripted/formats/openai.hpp"
#include "scripted/formats/responses.hpp"

namespace heddle::scripted {

namespace {

using kind = served_route::kind;

std::string_view without_query(std::string_view target) noexcept {
    return target.substr(0, target.find('?'));
}

/// GET /models is OpenAI's, Anthropic's and Gemini's.
const served_format& format_of_models(const http::server_request& request, bool is_beta) {
    if (!request.field("anthropic-version").empty()) return anthropic::served();
    if (is_beta || !request.field("x-goog-api-key").empty()) return gemini::served();
    return openai::served();
}

} // namespace

const served_format& default_format() { return openai::served(); }

served_route find_route(const http::server_request& request) {
    served_route found;
    found.target = request.target;
    const bool is_beta = found.target.starts_with("/v1beta/");
    if (is_beta) found.target.remove_prefix(7);
    else if (found.target.starts_with("/v1/")) found.target.remove_prefix(3);
    const std::string_view path = without_query(found.target);

    found.format = is_beta ? &gemini::served() : &openai::served();
    if (path == "/health" || path == "/") {
        found.what = kind::health;
        found.method = request.method;
    } else if (path == "/chat/completions") {
        found.what = kind::chat;
    } else if (path == "/responses") {
        found.what = kind::chat;
        found.format = &responses::served();
    } else if (path == "/messages") {
        found.what = kind::chat;
        found.format = &anthropic::served();
    } else if (path == "/api/chat") {
        found.what = kind::chat;
        found.format = &ollama::served();
    } else if (path == "/api/tags") {
        found.what = kind::models;
        found.format = &ollama::served();
        found.method = "GET";
    } else if (path == "/models" || path.starts_with("/models/")) {
        constexpr std::string_view list = "/models";
        const std::string_view name =
            path.size() == list.size() ? "" : path.substr(list.size() + 1);
        if (gemini::is_call(name)) {
            found.what = kind::chat;
            found.format = &gemini::served();
            return found;
        }
        found.what = name.empty() ? kind::models : kind::one_model;
        found.format = &format_of_models(request, is_beta);
        found.model = name;
        found.method = "GET";
    }
    return found;
}

std::string_view key_of(const http::server_request& request) noexcept {
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view authorization = request.field("authorization");
    if (authorization.starts_with(scheme)) return authorization.substr(scheme.size());
    const std::string_view key = request.field("x-api-key");
    return key.empty() ? request.field("x-goog-api-key") : key;
}

} // namespace heddle::scripted
