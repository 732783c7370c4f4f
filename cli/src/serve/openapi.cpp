#include "serve/openapi.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/version.hpp>

namespace heddle::cli {

namespace {

json::object ref(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

json::object response(const std::string& description, const std::string& schema) {
    return {{"description", description},
            {"content", json::object{{"application/json", json::object{{"schema", ref(schema)}}}}}};
}

/// The arguments of a function by the names of its parameters. A function whose only parameter is
/// `input` takes any JSON whole.
json::object input_schema(const function_signature& of) {
    if (of.parameters.size() == 1 && of.parameters.front() == "input" && !of.has_rest) return {};
    json::object properties;
    json::array required;
    for (std::size_t i = 0; i < of.parameters.size(); ++i) {
        const bool is_rest = of.has_rest && i + 1 == of.parameters.size();
        json::object any;
        if (is_rest) any.set("type", "array");
        properties.set(of.parameters[i], std::move(any));
        if (i < of.required) required.emplace_back(of.parameters[i]);
    }
    json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema.set("required", std::move(required));
    schema.set("additionalProperties", false);
    return schema;
}

json::object call_of(const served_function& each) {
    json::object content{
        {"application/json", json::object{{"schema", input_schema(each.signature)}}}};
    json::object body{{"content", std::move(content)}};
    body.set("required", each.signature.required > 0);
    json::object done = response("The value of the function.", "Answer");
    json::object stream{{"schema", json::object{{"type", "string"}}}};
    done.find("content")->get_if<json::object>()->set("text/event-stream", std::move(stream));
    json::object responses{{"200", std::move(done)}};
    responses.set("default", response("The call failed or was refused.", "Failure"));
    json::object timeout{{"name", "X-Heddle-Timeout"},
                         {"in", "header"},
                         {"description",
                          "Seconds after which the call is cancelled, if that is "
                          "before the time limit of the server."},
                         {"schema", json::object{{"type", "number"}, {"minimum", 0.001}}}};
    json::object described{{"operationId", each.name}, {"summary", "Call " + each.signature.name}};
    if (!each.signature.documentation.empty())
        described.set("description", each.signature.documentation);
    described.set("parameters", json::array{json(std::move(timeout))});
    described.set("requestBody", std::move(body));
    described.set("responses", std::move(responses));
    return described;
}

json::object schemas() {
    const json::object number{{"type", "number"}};
    const json::object text{{"type", "string"}};
    json::object cost{{"type", json::array{json("number"), json("null")}}};
    json::object answer_members{{"value", json::object()},
                                {"usage", json::object{{"type", "object"}}},
                                {"cost_usd", std::move(cost)},
                                {"seconds", number}};
    json::object answer{{"type", "object"},
                        {"properties", std::move(answer_members)},
                        {"required", json::array{json("value"), json("usage"), json("seconds")}}};
    json::object error_members{{"message", text}, {"kind", text}, {"hint", text}};
    json::object inner{{"type", "object"},
                       {"properties", std::move(error_members)},
                       {"required", json::array{json("message")}}};
    json::object failure{{"type", "object"},
                         {"properties", json::object{{"error", std::move(inner)}}},
                         {"required", json::array{json("error")}}};
    return {{"Answer", std::move(answer)}, {"Failure", std::move(failure)}};
}

} // namespace

std::string path_encoded(std::string_view text) {
    std::string out;
    append_percent_encoded(out, text, "/");
    return out;
}

json openapi_document(const served_functions& functions, bool has_tokens) {
    json::object paths;
    for (const served_function& each : functions.all()) {
        paths.set("/v1/call/" + path_encoded(each.name), json::object{{"post", call_of(each)}});
    }
    json::object components{{"schemas", schemas()}};
    json::object document{{"openapi", "3.1.0"},
                          {"info", json::object{{"title", "heddle"}, {"version", version()}}},
                          {"paths", std::move(paths)}};
    if (has_tokens) {
        const json::object bearer{{"type", "http"}, {"scheme", "bearer"}};
        components.set("securitySchemes", json::object{{"token", bearer}});
        document.set("security", json::array{json(json::object{{"token", json::array()}})});
    }
    document.set("components", std::move(components));
    return document;
}

} // namespace heddle::cli
