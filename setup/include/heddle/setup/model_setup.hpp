// Sets up the models from what is requested, environment and heddle.toml.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/ports/response_store.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/providers/cache/cached_provider.hpp>
#include <heddle/providers/cassette/cassette.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/services/service_factory.hpp>
#include <heddle/setup/services/service_request.hpp>
#include <heddle/setup/services/watched_provider.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// The default model if OpenAI is configured.
inline constexpr std::string_view default_openai_model = "gpt-4o-mini";

/// How to fix a run that has no model.
inline constexpr std::string_view no_model_hint =
    "set OPENAI_API_KEY (and OPENAI_BASE_URL for another server that speaks its format), or set "
    "the "
    "key of another service, such as ANTHROPIC_API_KEY, and name a model of it: --model "
    "anthropic:NAME, or HEDDLE_MODEL; or give --model scripted:RULES.json, or write a heddle.toml; "
    "'heddle models' "
    "lists what there is";

/// The arguments of set_up_models. All of them outlive the result.
struct model_parts {
    const service_request& request;
    const configuration& settings;
    const environment& variables;
    coro::event_loop& loop;
    ports::http_port& http;
    ports::worker_port& workers;
    log_port& log;
    const consent_store* consents = nullptr; ///< null: nothing is allowed
    request_watch* of_sent = nullptr;        ///< observes what is sent; may be null
};

/// The providers of a run and the registry that names them.
class model_setup {
public:
    model_setup(coro::event_loop& loop, log_port& log);
    ~model_setup();
    model_setup(const model_setup&) = delete;
    model_setup& operator=(const model_setup&) = delete;

    [[nodiscard]] const tasks::model_registry& registry() const noexcept { return registry_; }
    /// The configured services, in the order of their lookup.
    [[nodiscard]] const std::vector<configured_service>& services() const noexcept {
        return services_;
    }
    /// The model of tasks that name none; empty: none.
    [[nodiscard]] const std::string& default_model() const noexcept { return default_model_; }
    /// What decides what models are asked, besides the program and the default model; for digests
    /// (apply_asked_settings).
    [[nodiscard]] const std::string& asked_settings() const noexcept { return asked_settings_; }
    /// False when no service can be used.
    [[nodiscard]] bool any() const noexcept { return usable_ != 0; }
    /// Whether there is a service, usable or not.
    [[nodiscard]] bool has_services() const noexcept { return !registry_.empty(); }

    /// The services whose requests can be parked (service_request::park).
    [[nodiscard]] const batch_services& batches() const noexcept { return batches_; }

    /// Call it when the run has ended. Result: a recording that replaces none, unused parts of a
    /// replay; one line each.
    [[nodiscard]] std::vector<std::string> closing_remarks() const;
    /// Call it when the run has succeeded: a run without calls has an empty recording, unless the
    /// file holds an earlier one. An error of the recording makes the run fail.
    [[nodiscard]] std::optional<error> finish_recording();
    /// Why lines of the recording are missing; nothing: they are all there, or there is no
    /// recording.
    [[nodiscard]] std::optional<error> recording_failure() const;

    /// Waits until the responses for the cache are written, for at most 3 s. Errors: as
    /// response_store::flush.
    [[nodiscard]] coro::task<result<void>> flush_cache(coro::event_loop& loop);

private:
    friend class model_assembly;
    struct recording;

    providers::limiter_set limiters_;
    std::vector<configured_service> services_;
    batch_services batches_;
    std::vector<std::unique_ptr<ports::llm_port>> ports_; ///< later ones wrap earlier ones
    std::unique_ptr<ports::response_store> store_;
    std::unique_ptr<recording> recording_;
    std::unique_ptr<providers::cassette_recorder> call_log_; ///< null: calls are not logged
    std::unique_ptr<providers::cassette_player> player_;
    tasks::model_registry registry_;
    std::string default_model_;
    std::string asked_settings_;
    std::size_t usable_ = 0;
    bool has_warned_of_park_ = false; ///< a task wants its requests parked, and they are not
};

/// A service named on the command line must be usable (a missing key is an error); any other
/// service is used if possible, and otherwise fails with the reason when it is called. Without any
/// configuration the registry has no default model.
/// Errors: invalid_argument, llm_errc::configuration, a rules_report of a rules file.
[[nodiscard]] result<std::unique_ptr<model_setup>> set_up_models(const model_parts& parts);

} // namespace heddle::setup
