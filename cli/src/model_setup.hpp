// Which providers there are, out of options and environment.
#pragma once

#include "environment.hpp"
#include "options.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/model_registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The model that is asked for when a service is configured and nobody names a model.
inline constexpr std::string_view default_openai_model = "gpt-4o-mini";

/// How to mend a run that has no model.
inline constexpr std::string_view no_model_hint =
    "set OPENAI_API_KEY (and, if you like, OPENAI_BASE_URL and HEDDLE_MODEL), or give --model "
    "openai:NAME or --model scripted:RULES.json";

struct named_model {
    std::string provider; ///< "openai" or "scripted"
    std::string model;    ///< for scripted: the file with the rules
};

/// "openai:gpt-4o" or "scripted:rules.json"; without a colon a model of openai.
/// Errors: invalid_argument for another provider and for an empty name.
[[nodiscard]] result<named_model> parse_model_name(std::string_view text);

/// The providers of a run and the registry that names them.
struct model_setup {
    std::vector<std::unique_ptr<ports::llm_port>> providers;
    tasks::model_registry registry;
};

/// What is configured on the command line must work (a key that is missing is an error); what comes
/// from the environment alone is used if it can be. With nothing configured the registry is empty.
/// Everything that is passed by reference outlives the result.
/// Errors: invalid_argument, llm_errc::configuration, a rules_report of a rules file.
[[nodiscard]] result<std::unique_ptr<model_setup>> set_up_models(const workflow_options& options,
                                                                 const environment& variables,
                                                                 coro::event_loop& loop,
                                                                 ports::http_port& http,
                                                                 log_port& log);

} // namespace heddle::cli
