#include <heddle/setup/services/service_factory.hpp>

#include "services/key_source.hpp"

#include <heddle/lang/realm.hpp>
#include <heddle/providers/openai/batches.hpp>
#include <heddle/providers/openai/presets.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/routing/prefix_gate.hpp>
#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/services/service_trust.hpp>

#include <algorithm>
#include <functional>
#include <span>

namespace heddle::setup {

namespace {

using made_provider = result<std::unique_ptr<providers::http_chat_provider>>;

error wrong_setting(const provider_config& settings, std::string what) {
    const std::string place = settings.place.file.empty() ? "" : settings.place.shown() + ": ";
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 place + "provider '" + settings.name + "': " + std::move(what));
}

/// Makes one service: first where it is and its key, then the rest.
class service_maker {
public:
    service_maker(const provider_config& settings, const service_parts& parts)
        : settings_(settings), parts_(parts) {
        service_.name = settings.name;
        service_.type = type_of(settings);
        service_.models = settings.models;
        service_.models_place = settings.models_place;
    }

    configured_service run() {
        made_provider provider = make();
        if (provider) service_.provider = *std::move(provider);
        else service_.failure = std::move(provider).error();
        return std::move(service_);
    }

private:
    made_provider make() {
        const auto type = find_service_type(service_.type);
        if (!type) {
            error failure = wrong_setting(settings_, "there is no service '" + service_.type + "'");
            const std::string near = lang::suggest_names(service_.type, service_type_names());
            return std::move(failure).with_hint(
                near.empty() ? "set type, for a server that speaks OpenAI's format to \"openai\""
                             : near);
        }
        service_.base_url = address_of(settings_, *type, parts_.variables);
        address_ = normalised_address(service_.base_url);
        // A server of one's own may ask for none.
        service_.needs_key =
            type->needs_key && address_ == normalised_address(std::string(type->base_url));
        HEDDLE_CHECK(find_key_for(*type));
        set_identity();
        if (type->preset) return openai_chat(*type->preset);
        return own_format(*type->adapter);
    }

    /// To be hidden where it is shown; files and commands are left alone.
    [[nodiscard]] secret key_of_variables(const service_type& type) const {
        std::vector<std::string> names = type.key_variables;
        if (settings_.api_key_env) names.insert(names.begin(), *settings_.api_key_env);
        for (const std::string& name : names) {
            if (auto value = parts_.variables.variable(name)) return secret(*std::move(value));
        }
        return {};
    }

    /// Before anything is read: whether the key may go there.
    result<void> find_key_for(const service_type& type) {
        if (parts_.without_keys) {
            key_ = secret("none"); // not sent: without any, services that need one are not made
            service_.key = key_of_variables(type);
            return {};
        }
        const trust_question question =
            judge_service(settings_, type, parts_.settings, parts_.variables, parts_.consents);
        if (question.verdict != trust_verdict::trusted) service_.withheld_key = question.key;
        if (question.verdict == trust_verdict::refused) return refusal(question);
        const auto added =
            judge_parameters(settings_, type, parts_.settings, parts_.variables, parts_.consents);
        if (added && added->verdict == trust_verdict::refused) {
            service_.withheld_key = question.key;
            return refusal(*added);
        }
        if (question.verdict == trust_verdict::keyless) {
            if (!question.key.empty()) {
                parts_.log.write(log_level::info, "config",
                                 question.place.shown() + ": " + logged_key(question.key) +
                                     " is not sent to " + public_address(question.address) +
                                     " ('heddle trust --allow' allows it)");
            }
            return {};
        }
        auto found = find_key(&settings_, type.key_variables, parts_.variables);
        if (!found) return std::move(found).error();
        service_.key_from = found->from;
        key_ = std::move(found->key);
        service_.key = key_;
        if (service_.needs_key && key_.empty()) {
            return wrong_setting(settings_, "no API key")
                .with_hint("set " + type.key_variables.front() +
                           ", or name where the key is in your own heddle.toml: api_key_env, "
                           "api_key_file or api_key_command in [providers." +
                           settings_.name + "]");
        }
        return {};
    }

    void set_identity() {
        std::string& text = service_.identity;
        text = service_.type + '\n' + address_;
        for (const auto& part :
             {settings_.api_version, settings_.organization, settings_.project}) {
            text += '\n' + part.value_or("");
        }
        if (key_.empty()) return;
        // Only to distinguish accounts: the cache keeps a digest of all of it.
        text += "\nkey " + std::to_string(std::hash<std::string_view>()(key_.reveal()));
    }

    /// What all formats have in common.
    template <class Options>
    void fill(Options& options) {
        options.name = service_.name;
        options.base_url = service_.base_url;
        options.api_key = key_;
        ports::http_limits& limits = options.limits;
        if (settings_.connect_timeout) limits.connect = *settings_.connect_timeout;
        if (settings_.first_byte_timeout) limits.first_byte = *settings_.first_byte_timeout;
        if (settings_.idle_timeout) limits.idle = *settings_.idle_timeout;
        if (settings_.total_timeout) limits.total = *settings_.total_timeout;
        options.retry.seed = parts_.seed;
        if (settings_.max_retries) {
            options.retry.max_retries = static_cast<unsigned>(*settings_.max_retries);
            options.retry.max_rate_limit_retries = options.retry.max_retries;
        }
        options.gate = gate();
    }

    std::shared_ptr<providers::call_gate> gate() {
        using providers::limits::measure;
        providers::limiter_settings chosen = providers::limiter_settings_for(address_);
        const auto set = [&](measure what, const std::optional<std::int64_t>& limit) {
            if (limit) chosen.account.per_minute[static_cast<std::size_t>(what)] = limit;
        };
        set(measure::requests, settings_.requests_per_minute);
        set(measure::tokens, settings_.tokens_per_minute);
        set(measure::input_tokens, settings_.input_tokens_per_minute);
        set(measure::output_tokens, settings_.output_tokens_per_minute);
        if (settings_.max_in_flight) {
            const auto most = static_cast<unsigned>(*settings_.max_in_flight);
            chosen.options.max_in_flight = most;
            chosen.options.first_in_flight = std::min(chosen.options.first_in_flight, most);
            chosen.account.max_in_flight = most;
        }
        prefixes_ = std::make_shared<providers::prefix_gate>(
            parts_.loop, parts_.limiters.gate_for(address_, key_, chosen));
        return prefixes_;
    }

    made_provider shared(made_provider provider) {
        if (provider && prefixes_) {
            prefixes_->enable(
                settings_.share_prompt_prefixes.value_or((*provider)->caches_prompts()));
        }
        return provider;
    }

    result<void> no_version() const {
        if (!settings_.api_version) return {};
        return wrong_setting(settings_,
                             "a service of type '" + service_.type + "' has no api_version");
    }
    result<void> known_version(std::span<const std::string_view> versions) const {
        if (!settings_.api_version) return {};
        if (versions.empty()) return no_version();
        std::string names;
        for (const std::string_view each : versions) {
            if (*settings_.api_version == each) return {};
            names += (names.empty() ? "\"" : " or \"") + std::string(each) + '"';
        }
        return wrong_setting(settings_, "api_version must be " + names);
    }
    result<void> no_organization() const {
        if (!settings_.organization && !settings_.project) return {};
        return wrong_setting(settings_, "a service of type '" + service_.type +
                                            "' has no organization and no project");
    }

    made_provider openai_chat(const providers::openai::preset& preset) {
        HEDDLE_CHECK(no_version());
        providers::openai::options options = providers::openai::options_of(preset);
        fill(options);
        // "openai" at another address is some server that speaks the format.
        if (preset.name == "openai") options.dialect.reset();
        options.organization = settings_.organization.value_or("");
        options.project = settings_.project.value_or("");
        if (parts_.batches && preset.name == "openai") {
            HEDDLE_TRY(service_.batches,
                       providers::make_openai_batches(parts_.http, options, parts_.log));
        }
        return shared(providers::make_openai_provider(parts_.http, std::move(options), parts_.log));
    }

    made_provider own_format(const providers::service_adapter& adapter) {
        HEDDLE_CHECK(known_version(adapter.api_versions));
        if (!adapter.has_organization) HEDDLE_CHECK(no_organization());
        providers::service_settings settings;
        fill(settings);
        settings.api_version = settings_.api_version.value_or("");
        settings.organization = settings_.organization.value_or("");
        settings.project = settings_.project.value_or("");
        if (parts_.batches && adapter.make_batches) {
            HEDDLE_TRY(service_.batches, adapter.make_batches(parts_.http, settings, parts_.log));
        }
        return shared(adapter.make(parts_.http, std::move(settings), parts_.log));
    }

    const provider_config& settings_;
    const service_parts& parts_;
    configured_service service_;
    std::string address_; // in the one way of writing it
    secret key_;
    std::shared_ptr<providers::prefix_gate> prefixes_;
};

} // namespace

std::optional<tasks::names_with_colon> names_with_colon_of(const configured_service& service) {
    if (service.type == "ollama") return std::nullopt; // "llama3:8b"
    tasks::names_with_colon names{{"ft"}};             // tuned by the user
    names.any = !service.needs_key; // a server of one's own has models of any name
    return names;
}

configured_service make_service(const provider_config& settings, const service_parts& parts) {
    return service_maker(settings, parts).run();
}

} // namespace heddle::setup
