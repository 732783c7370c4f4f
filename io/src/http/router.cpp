#include <heddle/http/router.hpp>

#include <utility>

namespace heddle::http {

bool router::route::fits(std::string_view wanted) const noexcept {
    if (!path.ends_with('*')) return path == wanted;
    return wanted.starts_with(std::string_view(path).substr(0, path.size() - 1));
}

void router::add(std::string method, std::string path, request_handler handler) {
    routes_.push_back({std::move(method), std::move(path), std::move(handler)});
}

const router::route* router::find(const server_request& request) const noexcept {
    const std::string_view path = request.path();
    for (const route& each : routes_) {
        const bool same =
            each.method == request.method || (each.method == "GET" && request.method == "HEAD");
        if (same && each.fits(path)) return &each;
    }
    return nullptr;
}

std::string router::allowed(std::string_view path) const {
    std::string list;
    const auto add = [&](std::string_view method) {
        if (list.find(method) != std::string::npos) return;
        if (!list.empty()) list += ", ";
        list += method;
    };
    for (const route& each : routes_) {
        if (!each.fits(path)) continue;
        add(each.method);
        if (each.method == "GET") add("HEAD");
    }
    if (!list.empty()) add("OPTIONS");
    return list;
}

std::string router::body_for(std::string_view path, int status, std::string_view message) const {
    return body_of_ ? body_of_(path, status, message) : error_body(status, message);
}

coro::task<void> router::serve(const server_request& request, response_writer& response,
                               coro::call_context context) const {
    if (const route* found = find(request)) return found->handler(request, response, context);
    const std::string_view path = request.path();
    std::string methods = allowed(path);
    response_head head;
    std::string body;
    if (methods.empty()) {
        head.status = 404;
        body = body_for(path, 404, "there is nothing at this path");
    } else if (request.method == "OPTIONS") {
        head.status = 204;
        head.content_type.clear();
    } else {
        head.status = 405;
        body = body_for(path, 405, "this path has other methods: " + methods);
    }
    if (!methods.empty()) head.fields.push_back({"Allow", std::move(methods)});
    return refuse(std::move(head), std::move(body), response);
}

coro::task<void> router::refuse(response_head head, std::string body, response_writer& response) {
    // A client that has hung up needs no response.
    [[maybe_unused]] const result<void> sent =
        co_await response.send(std::move(head), std::move(body));
}

} // namespace heddle::http
