#include "model_setup.hpp"

#include "input_files.hpp"

#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/scripted/provider.hpp>

namespace heddle::cli {

namespace {

constexpr std::string_view openai_name = "openai";
constexpr std::string_view scripted_name = "scripted";

result<void> add_openai(model_setup& made, const workflow_options& options,
                        const environment& variables, coro::event_loop& loop,
                        ports::http_port& http, log_port& log) {
    providers::openai::options wanted;
    wanted.api_key = variables.openai_api_key;
    wanted.retry.seed = options.seed;
    if (options.base_url) wanted.base_url = *options.base_url;
    else if (variables.openai_base_url) wanted.base_url = *variables.openai_base_url;
    auto provider = providers::make_openai_provider(http, std::move(wanted), loop, log);
    if (!provider) return std::move(provider).error();
    made.registry.add(**provider);
    made.providers.push_back(*std::move(provider));
    return {};
}

/// Gives the name of the rules' own model.
result<std::string> add_scripted(model_setup& made, const std::string& file,
                                 const workflow_options& options, coro::event_loop& loop,
                                 log_port& log) {
    auto rules = load_rules(file);
    if (!rules) return std::move(rules).error();
    providers::scripted::provider_options wanted;
    wanted.retry.seed = options.seed;
    made.providers.push_back(
        providers::make_scripted_provider(*rules, std::move(wanted), loop, log));
    made.registry.add(*made.providers.back());
    return (*rules)->models().front();
}

} // namespace

result<named_model> parse_model_name(std::string_view text) {
    const std::size_t colon = text.find(':');
    named_model made;
    made.provider = colon == std::string_view::npos ? openai_name : text.substr(0, colon);
    made.model = colon == std::string_view::npos ? text : text.substr(colon + 1);
    if (made.provider != openai_name && made.provider != scripted_name) {
        return error(errc::invalid_argument, "there is no provider '" + made.provider + "'")
            .with_hint(
                "providers are openai and scripted; a model whose name holds a colon is "
                "written openai:" +
                std::string(text));
    }
    if (made.model.empty()) {
        return error(errc::invalid_argument, "'" + std::string(text) + "' names no model")
            .with_hint("write openai:NAME or scripted:RULES.json");
    }
    return made;
}

result<std::unique_ptr<model_setup>> set_up_models(const workflow_options& options,
                                                   const environment& variables,
                                                   coro::event_loop& loop, ports::http_port& http,
                                                   log_port& log) {
    auto made = std::make_unique<model_setup>();
    const auto& said = options.model ? options.model : variables.model;
    named_model wanted{std::string(openai_name), std::string(default_openai_model)};
    if (said) {
        auto parsed = parse_model_name(*said);
        if (!parsed) return std::move(parsed).error();
        wanted = *std::move(parsed);
    }
    const bool asked_for = (options.model && wanted.provider == openai_name) || options.base_url;
    const bool possible = !variables.openai_api_key.empty() || variables.openai_base_url;
    if (asked_for || possible) {
        auto added = add_openai(*made, options, variables, loop, http, log);
        if (!added) return std::move(added).error();
    }
    if (wanted.provider == scripted_name) {
        auto model = add_scripted(*made, wanted.model, options, loop, log);
        if (!model) return std::move(model).error();
        wanted.model = *std::move(model);
    }
    if (made->registry.find(wanted.provider)) {
        auto chosen = made->registry.set_default(wanted.provider + ":" + wanted.model);
        if (!chosen) return std::move(chosen).error();
    }
    return made;
}

} // namespace heddle::cli
