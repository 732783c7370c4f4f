// `heddle models`: what is configured, and whether it responds.
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "interrupts.hpp"
#include "logging.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"
#include "table.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/http/client.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/setup/services/client_options.hpp>
#include <heddle/setup/services/configured_services.hpp>
#include <heddle/setup/services/service_trust.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace heddle::cli {

namespace {

/// What is configured, and whether it responds.
struct models_request {
    std::optional<std::string> config;
    std::optional<std::string> base_url;
    bool ping = false;
    std::chrono::milliseconds timeout{10'000}; ///< of each ping
    bool json = false;
    int verbosity = 0;
};

namespace json = boost::json;
using std::chrono::milliseconds;

/// The response of one service to a ping.
struct ping_outcome {
    result<std::vector<std::string>> models = std::vector<std::string>{};
    milliseconds took{0};
};

/// One run of the command.
struct models_run {
    models_run(const models_request& request, const setup::environment& values,
               setup::configuration found, const setup::consent_store& consents, console& target)
        : asked(request), settings(std::move(found)),
          log(make_console_log(target, level_for(request.verbosity))),
          http(http::make_http_client(loop, setup::client_options(settings.http, values, *log))),
          services(setup::configured_services(
              settings, request.base_url,
              {*http, loop, *log, limiters, values, settings, 0, &consents})),
          pings(services.size()) {}

    const models_request& asked;
    setup::configuration settings;
    std::unique_ptr<log_port> log;
    boost::asio::io_context context{1};
    coro::event_loop loop{context};
    coro::cancel_source cancel;
    providers::limiter_set limiters{loop, *log};
    std::shared_ptr<ports::http_port> http;
    std::vector<setup::configured_service> services;
    std::vector<ping_outcome> pings;
};

coro::task<result<void>> ping(models_run* run, std::size_t index, coro::call_context context) {
    const auto began = run->loop.now();
    context = context.with_deadline(coro::deadline(began + run->asked.timeout));
    result<std::vector<std::string>> models =
        co_await run->services[index].provider->list_models(context);
    ping_outcome& outcome = run->pings[index];
    outcome.models = std::move(models);
    outcome.took = std::chrono::duration_cast<milliseconds>(run->loop.now() - began);
    co_return result<void>(); // one that does not respond is not a reason to give up on the others
}

coro::task<void> ping_all(models_run* run) {
    coro::nursery children({&run->loop, &run->cancel, {}});
    for (std::size_t i = 0; i < run->services.size(); ++i) {
        if (run->services[i].provider)
            children.start([&] { return ping(run, i, children.context()); });
    }
    const result<void> joined = co_await children.join();
    (void)joined;
    co_await run->http->close();
}

std::string message_of(const error& failure) {
    if (failure.is_cancelled()) return "no response in time";
    std::string text = failure.message();
    if (!failure.info().hint.empty()) text += "; " + failure.info().hint;
    return text;
}

std::string key_text(const setup::configured_service& service) {
    if (!service.withheld_key.empty())
        return setup::shown_key(service.withheld_key) + ", not allowed";
    if (!service.key_from.empty()) return service.key_from;
    return service.needs_key ? "missing" : "none needed";
}

json::object service_json(const models_run& run, std::size_t index) {
    const setup::configured_service& service = run.services[index];
    json::object members{{"name", service.name},
                         {"type", service.type},
                         {"base_url", setup::public_address(service.base_url)},
                         {"key", key_text(service)}};
    if (service.failure) {
        members["ok"] = false;
        members["error"] = message_of(*service.failure);
        return members;
    }
    if (!run.asked.ping) return members;
    const ping_outcome& outcome = run.pings[index];
    members["ok"] = outcome.models.has_value();
    members["latency_ms"] = outcome.took.count();
    if (outcome.models) {
        members["models"] = json::array(outcome.models->begin(), outcome.models->end());
    } else {
        members["error"] = message_of(outcome.models.error());
    }
    return members;
}

json::object report_json(const models_run& run, const std::string& default_model) {
    json::object members;
    json::array services;
    for (std::size_t i = 0; i < run.services.size(); ++i) services.push_back(service_json(run, i));
    members["providers"] = std::move(services);
    members["default_model"] = default_model.empty() ? json::value() : json::value(default_model);
    json::object aliases;
    for (const setup::alias_config& each : run.settings.aliases) aliases[each.name] = each.model;
    members["aliases"] = std::move(aliases);
    json::object routes;
    for (const setup::route_config& each : run.settings.routes) {
        routes[each.name] = json::array(each.models.begin(), each.models.end());
    }
    members["routes"] = std::move(routes);
    members["files"] = json::array(run.settings.files.begin(), run.settings.files.end());
    return members;
}

std::string state_text(const models_run& run, std::size_t index) {
    const setup::configured_service& service = run.services[index];
    if (service.failure) return message_of(*service.failure);
    if (!run.asked.ping) return "configured";
    const ping_outcome& outcome = run.pings[index];
    if (!outcome.models) return message_of(outcome.models.error());
    return "responds in " + std::to_string(outcome.took.count()) + " ms, " +
           setup::counted(outcome.models->size(), "model");
}

std::string report_text(const models_run& run, const std::string& default_model, unsigned columns) {
    if (run.services.empty()) {
        return "no service is configured\n" + std::string(setup::no_model_hint) + "\n";
    }
    table rows;
    for (const char* heading : {"name", "type", "address", "key", "state"}) {
        (void)rows.column(heading);
    }
    for (std::size_t i = 0; i < run.services.size(); ++i) {
        const setup::configured_service& service = run.services[i];
        rows.add({service.name, service.type, setup::public_address(service.base_url),
                  key_text(service), state_text(run, i)});
    }
    std::string text = rows.text(columns) + "\n";
    const auto add_line = [&](const std::string& line) {
        text += utf8::printable_line(line) + "\n"; // a name may hold a line feed
    };
    add_line("default model: " + (default_model.empty() ? "none" : default_model));
    for (const setup::alias_config& each : run.settings.aliases) {
        add_line("alias " + each.name + ": " + each.model);
    }
    for (const setup::route_config& each : run.settings.routes) {
        std::string line = "route " + each.name + ":";
        for (const std::string& model : each.models) line += " " + model;
        add_line(line);
    }
    for (const std::string& file : run.settings.files) add_line("from " + file);
    return text;
}

std::string default_model_of(const models_run& run, const setup::environment& variables) {
    if (variables.model) return *variables.model;
    if (run.settings.model) return *run.settings.model;
    for (const setup::configured_service& each : run.services) {
        if (each.name == "openai" && each.provider) {
            return "openai:" + std::string(setup::default_openai_model);
        }
    }
    return {};
}

} // namespace

static exit_code list_models(const models_request& asked, const setup::environment& variables,
                             console& output) {
    const setup::consent_store consents = setup::consents_of(variables);
    auto settings = setup::find_config({asked.config, ".", variables.config_folder(), &consents});
    if (!settings) return report_usage_error(settings.error(), asked.json, output);
    models_run run(asked, variables, *std::move(settings), consents, output);
    if (asked.ping) {
        interrupts signals(run.context, [&] { run.cancel.request(cancel_reason::user); });
        run_to_end(run.loop, ping_all(&run), [&] { signals.stop(); });
        if (signals.came()) {
            return report_error(error::cancelled(cancel_reason::user), exit_code::interrupted,
                                asked.json, output);
        }
    }
    const std::string default_model = default_model_of(run, variables);
    const console_traits& traits = output.traits();
    output.out(asked.json
                   ? setup::json_line(report_json(run, default_model))
                   : report_text(run, default_model, traits.out_is_terminal ? traits.columns : 0));
    bool all_answer = true;
    for (std::size_t i = 0; asked.ping && i < run.services.size(); ++i) {
        all_answer = all_answer && run.services[i].provider && run.pings[i].models;
    }
    return all_answer ? exit_code::done : exit_code::failed;
}

namespace {

class models_work final : public command {
public:
    void add_options(option_list& to) override {
        to.flag("--ping", asked_.ping, "Check whether each service responds");
        add_base_url_option(to, asked_.base_url);
        add_config_option(to, asked_.config);
        to.group("Output");
        to.flag("--json", asked_.json, "Print one JSON object on standard output");
        verbosity_.add_to(to);
    }
    std::optional<std::string> mistake() override {
        asked_.verbosity = verbosity_.verbosity();
        return verbosity_.mistake();
    }
    exit_code run(command_context context) override {
        return list_models(asked_, context.variables, context.output);
    }

private:
    verbosity_options verbosity_;
    models_request asked_;
};

constexpr command_row rows[] = {{
    .name = "models",
    .summary = "List configured services and models",
    .details =
        R"(A service is configured when heddle.toml has a [providers.NAME] for it, or when its variable is set
(OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OLLAMA_HOST). The output names the
source of each key, never the key. --ping requests the list of models, which costs nothing.

Examples:
  heddle models
  heddle models --ping
  heddle models --ping --json | jq '.providers[] | select(.ok)'

Exit codes: 0 success, 1 --ping found a service that does not respond, 2 usage or configuration.)",
    .group = command_group::models,
    .make = &make_command<models_work>,
}};

} // namespace

std::span<const command_row> models_commands() noexcept { return rows; }

} // namespace heddle::cli
