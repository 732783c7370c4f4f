#include <heddle/providers/ollama/provider.hpp>

#include "common/adapter_options.hpp"

namespace heddle::providers {

namespace {

constexpr std::string_view key_variables[] = {"OLLAMA_API_KEY"};
constexpr std::string_view url_variables[] = {"OLLAMA_HOST"};

constexpr service_adapter adapter{
    .type = "ollama",
    .base_url = ollama::default_base_url,
    .key_variables = key_variables,
    .url_variables = url_variables,
    .usual_variables = url_variables, // it needs no key
    .complete_address = &ollama::complete_address,
    .make = &make_with<&options_of<ollama::options>, &make_ollama_provider>};

} // namespace

const service_adapter& ollama_adapter() noexcept { return adapter; }

} // namespace heddle::providers
