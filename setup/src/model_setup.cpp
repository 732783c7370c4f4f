#include <heddle/setup/model_setup.hpp>

#include "config/provider_index.hpp"
#include "services/asked_settings.hpp"
#include "services/cassette_file.hpp"
#include "services/default_parameters.hpp"
#include "services/unavailable_provider.hpp"
#include "services/unparked_port.hpp"

#include <heddle/lang/realm.hpp>
#include <heddle/providers/routing/route.hpp>
#include <heddle/scripted/provider.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/services/cache_file.hpp>
#include <heddle/setup/services/configured_services.hpp>
#include <heddle/setup/services/named_services.hpp>
#include <heddle/setup/services/service_trust.hpp>
#include <heddle/store/response_store.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::setup {

struct model_setup::recording {
    std::unique_ptr<cassette_file> file;
    std::unique_ptr<providers::cassette_recorder> recorder;
};

model_setup::model_setup(coro::event_loop& loop, log_port& log) : limiters_(loop, log) {}
model_setup::~model_setup() = default;

std::optional<error> model_setup::recording_failure() const {
    return recording_ ? recording_->recorder->failure() : std::optional<error>();
}

std::optional<error> model_setup::finish_recording() {
    if (!recording_) return std::nullopt;
    if (auto failure = recording_failure()) return failure;
    auto finished = recording_->file->finish();
    return finished ? std::optional<error>() : std::move(finished).error();
}

coro::task<result<void>> model_setup::flush_cache(coro::event_loop& loop) {
    constexpr std::chrono::seconds max_wait{3}; // of a user who has pressed Ctrl-C
    if (!store_) co_return result<void>();
    result<void> done = co_await store_->flush(max_wait, {&loop, nullptr, {}});
    co_return done;
}

std::vector<std::string> model_setup::closing_remarks() const {
    std::vector<std::string> lines;
    if (player_ && player_->unplayed() != 0) {
        lines.push_back(std::to_string(player_->unplayed()) + " of " +
                        std::to_string(player_->size()) + " recorded calls were not asked for");
    }
    if (recording_ && recording_->file->keeps_earlier()) {
        lines.push_back(recording_->file->path() +
                        ": no call was recorded; the earlier recording is kept");
    }
    return lines;
}

/// Puts a model_setup together.
class model_assembly {
public:
    explicit model_assembly(const model_parts& parts)
        : parts_(parts), setup_(std::make_unique<model_setup>(parts.loop, parts.log)) {}

    result<std::unique_ptr<model_setup>> run() {
        if (parts_.request.replay) {
            HEDDLE_CHECK(open_replay());
        } else {
            HEDDLE_CHECK(open_services());
        }
        add_known_models();
        add_aliases();
        HEDDLE_CHECK(start_recording());
        log_calls();
        HEDDLE_CHECK(add_routes());
        HEDDLE_CHECK(choose_default());
        setup_->asked_settings_ =
            apply_asked_settings(setup_->registry_, parts_.settings, setup_->services_);
        return std::move(setup_);
    }

private:
    [[nodiscard]] const std::optional<std::string>& asked_model() const {
        if (parts_.request.model) return parts_.request.model;
        if (parts_.variables.model) return parts_.variables.model;
        return parts_.settings.model;
    }

    result<void> open_replay() {
        const std::string& file = *parts_.request.replay;
        auto text = read_recording(file);
        if (!text) return std::move(text).error();
        const auto how = parts_.request.replay_leniently ? providers::cassette_matching::lenient
                                                         : providers::cassette_matching::strict;
        auto player = providers::cassette_player::open(file, *std::move(text), how);
        if (!player) return std::move(player).error();
        setup_->player_ = *std::move(player);
        if (const std::string& warning = setup_->player_->warning(); !warning.empty()) {
            parts_.log.write(log_level::warn, "replay", warning);
        }
        for (const std::string& name : setup_->player_->providers()) {
            add(setup_->player_->play(name));
        }
        return {};
    }

    result<void> open_services() {
        const service_parts shared{parts_.http,
                                   parts_.loop,
                                   parts_.log,
                                   setup_->limiters_,
                                   parts_.variables,
                                   parts_.settings,
                                   parts_.request.seed,
                                   parts_.consents,
                                   parts_.request.without_keys,
                                   static_cast<bool>(parts_.request.park)};
        HEDDLE_CHECK(open_cache());
        setup_->services_ = configured_services(parts_.settings, parts_.request.base_url, shared,
                                                parts_.request.model);
        HEDDLE_CHECK(open_scripted());
        const std::set<std::string> reached =
            reached_services(parts_.settings, asked_model(), usual_service_name());
        for (configured_service& each : setup_->services_) {
            if (each.provider) continue;
            // Asked for by name: better now than at the first call.
            if (is_asked_for(each.name)) return *each.failure;
            const auto* payload = each.failure->info().payload.get();
            if (reached.contains(each.name) && dynamic_cast<const consent_needed*>(payload)) {
                return *each.failure;
            }
        }
        const provider_index configured(parts_.settings);
        // The first one gets the models that name no service, usable or not: nothing that was meant
        // for it goes to another one.
        for (configured_service& each : setup_->services_) {
            if (auto names = names_with_colon_of(each))
                setup_->registry_.set_names_with_colon(each.name, *std::move(names));
            if (each.provider) {
                const provider_config* said = configured.find(each.name);
                const bool parks = each.batches != nullptr;
                ports::llm_port& sent =
                    cached(parks ? parked(each) : *each.provider, each.identity);
                add_with_defaults(parks ? sent : unparked(sent), said ? &said->request : nullptr);
                continue;
            }
            setup_->ports_.push_back(
                std::make_unique<unavailable_provider>(each.name, *each.failure));
            setup_->registry_.add(watched(*setup_->ports_.back(), parts_.request.watch));
        }
        hide_keys();
        return {};
    }

    /// The service of models that name none; empty: there is no service.
    [[nodiscard]] std::string usual_service_name() const {
        return setup_->services_.empty() ? std::string() : setup_->services_.front().name;
    }

    [[nodiscard]] bool is_asked_for(const std::string& name) const {
        const auto& said = asked_model();
        if (parts_.request.base_url && name == service_of_base_url(parts_.settings, said))
            return true;
        return said && provider_of(*said) == name;
    }

    /// "scripted:RULES.json" names a file in place of a model.
    result<void> open_scripted() {
        const auto& said = asked_model();
        if (!said || provider_of(*said) != scripted_name) return {};
        const std::string file = said->substr(scripted_name.size() + 1);
        if (file.empty()) {
            return error(errc::invalid_argument, "'" + *said + "' names no file with rules")
                .with_hint("write scripted:RULES.json");
        }
        // Read once: a pipe can be read only once.
        result<std::string> read = read_input_file(file);
        if (!read && parts_.request.from_records) {
            add(std::make_unique<unavailable_provider>(std::string(scripted_name), read.error()));
            return {};
        }
        HEDDLE_TRY(const std::string text, std::move(read));
        auto rules = scripted::engine::parse(text, file);
        if (!rules) return std::move(rules).error();
        scripted_model_ = (*rules)->models().front();
        scripted::provider_options wanted;
        wanted.retry.seed = parts_.request.seed;
        setup_->ports_.push_back(scripted::make_provider(*rules, std::move(wanted), parts_.log));
        // The responses are those of the rules, wherever they are.
        add_with_defaults(unparked(cached(*setup_->ports_.back(), "rules " + text)), nullptr);
        return {};
    }

    result<void> open_cache() {
        if (!parts_.request.cache.value_or(parts_.settings.cache.enabled.value_or(false))) {
            return {};
        }
        HEDDLE_TRY(auto options,
                   find_cache(parts_.request.cache_file, parts_.settings.cache, parts_.variables));
        setup_->store_ = store::make_response_store(parts_.workers, std::move(options));
        return {};
    }

    /// `inner`, behind the cache if there is one. `service` distinguishes services in the cache.
    [[nodiscard]] ports::llm_port& cached(ports::llm_port& inner, std::string service) {
        ports::llm_port* outer = &watched(inner, parts_.of_sent);
        if (setup_->store_) {
            setup_->ports_.push_back(std::make_unique<providers::cached_provider>(
                *outer, *setup_->store_, parts_.log, std::move(service)));
            outer = setup_->ports_.back().get();
        }
        return watched(*outer, parts_.request.watch);
    }

    /// `inner`, wrapped if there is a `watch`.
    [[nodiscard]] ports::llm_port& watched(ports::llm_port& inner, request_watch* watch) {
        if (!watch) return inner;
        setup_->ports_.push_back(std::make_unique<watched_provider>(inner, *watch));
        return *setup_->ports_.back();
    }

    /// `inner`, for requests that are sent at once whatever their tasks want.
    [[nodiscard]] ports::llm_port& unparked(ports::llm_port& inner) {
        if (parts_.request.from_records) return inner;
        std::string why = parts_.request.why_not_parked;
        if (parts_.request.park)
            why = "'" + std::string(inner.provider_name()) + "' takes no batches";
        else if (why.empty())
            why =
                "requests wait for a batch only in a run with a journal (heddle batch, heddle "
                "run --run)";
        setup_->ports_.push_back(std::make_unique<unparked_port>(inner, parts_.log, std::move(why),
                                                                 setup_->has_warned_of_park_));
        return *setup_->ports_.back();
    }

    /// What parks requests to the service, which takes batches.
    [[nodiscard]] ports::llm_port& parked(configured_service& service) {
        auto& batches = setup_->batches_[service.name];
        batches = std::move(service.batches);
        setup_->ports_.push_back(parts_.request.park(*service.provider, *batches));
        return *setup_->ports_.back();
    }

    void hide_keys() {
        for (request_watch* each : {parts_.of_sent, parts_.request.watch})
            if (each) each->hide(known_keys());
    }

    /// Adds `inner`, with the request settings of heddle.toml; `defaults` may be null. Outside of
    /// the cache, whose key then holds what is really asked.
    void add_with_defaults(ports::llm_port& inner, const tasks::request_parameters* defaults) {
        ++setup_->usable_;
        if (!defaults || tasks::parameters_json(*defaults) == "{}") {
            setup_->registry_.add(inner);
            return;
        }
        setup_->ports_.push_back(std::make_unique<default_parameters>(inner, *defaults));
        setup_->registry_.add(*setup_->ports_.back());
    }

    void add(std::unique_ptr<ports::llm_port> object) {
        ++setup_->usable_;
        setup_->ports_.push_back(std::move(object));
        ports::llm_port& inner = watched(*setup_->ports_.back(), parts_.of_sent);
        setup_->registry_.add(watched(inner, parts_.request.watch));
    }

    void add_known_models() {
        const auto add = [this](const auto& service) {
            if (!service.models) return;
            const config_place& place = service.models_place;
            setup_->registry_.accept_only(
                service.name, {*service.models, {}, place.file.empty() ? "" : place.shown()});
            setup_->registry_.set_strict(true);
        };
        for (const provider_config& each : parts_.settings.providers) add(each);
        // The list of an account may be shorter.
        for (const configured_service& each : setup_->services_) add(each);
    }

    void add_aliases() {
        for (const alias_config& each : parts_.settings.aliases) {
            setup_->registry_.set_alias(each.name, each.model);
        }
    }

    result<void> add_routes() {
        for (const route_config& each : parts_.settings.routes) HEDDLE_CHECK(add_route(each));
        return {};
    }

    /// A recording need not hold every service of a route. The registry, which does not know the
    /// service then, would take the whole name for that of a model.
    [[nodiscard]] bool is_unrecorded_service(std::string_view model) const {
        if (!setup_->player_) return false;
        const auto& aliases = parts_.settings.aliases;
        for (std::size_t steps = 0; steps < aliases.size(); ++steps) {
            const auto alias =
                std::find_if(aliases.begin(), aliases.end(),
                             [model](const alias_config& each) { return each.name == model; });
            if (alias == aliases.end()) break;
            model = alias->model;
        }
        const auto service = provider_of(model);
        return service && !setup_->registry_.find(*service) &&
               (parts_.settings.provider(*service) || is_service_type(*service));
    }

    result<void> add_route(const route_config& route) {
        std::vector<providers::route_target> targets;
        for (const std::string& model : route.models) {
            if (is_unrecorded_service(model)) continue;
            auto chosen = setup_->registry_.resolve(model, "");
            if (!chosen && setup_->player_) continue;
            if (!chosen) {
                return error(chosen.error().code(), route.place.shown() + ": route '" + route.name +
                                                        "': " + chosen.error().message())
                    .with_hint(chosen.error().info().hint);
            }
            targets.push_back({chosen->provider, std::move(chosen->model)});
        }
        if (targets.empty()) return {};
        std::vector<tasks::route_model> models;
        models.reserve(targets.size());
        for (const providers::route_target& each : targets) {
            models.push_back({std::string(each.provider->provider_name()), each.model});
        }
        // Played back, nobody is slow: the call that won is the one that is there.
        if (route.hedge_after && !setup_->player_) {
            providers::hedge_rules rules;
            rules.after = *route.hedge_after;
            if (route.hedge_share) rules.max_extra_calls = *route.hedge_share;
            setup_->ports_.push_back(std::make_unique<providers::hedged_route>(
                route.name, targets.front(), targets.size() > 1 ? targets[1] : targets.front(),
                rules));
            targets.front() = {setup_->ports_.back().get(), ""};
        }
        providers::error_kinds kinds = providers::curable_elsewhere;
        if (route.on_authentication_failure.value_or(false)) {
            kinds.add(ports::llm_errc::authentication);
        }
        setup_->ports_.push_back(std::make_unique<providers::fallback_route>(
            route.name, std::move(targets), parts_.log, kinds,
            setup_->player_ ? &providers::is_not_recorded : nullptr));
        setup_->registry_.add_route(route.name, *setup_->ports_.back(), std::move(models));
        return {};
    }

    /// Empty when nobody names a model and none goes without saying.
    [[nodiscard]] std::string wanted_model() const {
        std::string wanted;
        if (const auto& said = asked_model()) {
            wanted = *said;
            const bool is_scripted = provider_of(wanted) == scripted_name;
            if (!scripted_model_.empty()) {
                wanted = std::string(scripted_name) + ":" + scripted_model_;
            } else if (is_scripted && setup_->player_ && setup_->registry_.find(scripted_name)) {
                // The command that recorded names the file of the rules, which is not read now.
                wanted = setup_->player_->default_model();
            }
        } else if (setup_->player_) {
            wanted = setup_->player_->default_model();
        } else if (goes_without_saying()) {
            wanted = std::string(openai_name) + ":" + std::string(default_openai_model);
        }
        return wanted;
    }

    result<void> choose_default() {
        std::string wanted = wanted_model();
        if (wanted.empty()) return {};
        // A recording without calls plays a run without calls.
        if (setup_->player_ && setup_->player_->size() == 0) return {};
        if (setup_->registry_.empty()) {
            // Every service is known by name, so the name is not a service.
            return unknown_name(wanted);
        }
        if (auto chosen = setup_->registry_.set_default(wanted); !chosen) {
            return std::move(chosen).error();
        }
        setup_->default_model_ = std::move(wanted);
        return {};
    }

    [[nodiscard]] static error unknown_name(const std::string& model) {
        const auto name = provider_of(model);
        if (!name) {
            return error(ports::make_error_code(ports::llm_errc::configuration),
                         "no service is configured for the model '" + model + "'")
                .with_hint(
                    "set the key of a service, such as OPENAI_API_KEY, and name its model as in "
                    "openai:NAME; or configure the service in heddle.toml");
        }
        const std::string near = lang::suggest_names(*name, service_type_names());
        return error(errc::invalid_argument, "there is no provider '" + *name + "'")
            .with_hint((near.empty() ? "a" : near + " A") +
                       std::string(" model whose name contains a colon is written openai:") +
                       model);
    }

    /// OpenAI is there. Where it cannot be used, a call is to say why.
    [[nodiscard]] bool goes_without_saying() const {
        return std::any_of(setup_->services_.begin(), setup_->services_.end(),
                           [&](const configured_service& each) {
                               const bool is_usual = &each == &setup_->services_.front();
                               return each.name == openai_name && (each.provider || is_usual);
                           });
    }

    /// At level trace, each call that has ended is a line of the log, as a recording has it.
    void log_calls() {
        if (!parts_.log.enabled(log_level::trace)) return;
        setup_->call_log_ = std::make_unique<providers::cassette_recorder>(
            [log = &parts_.log, is_header = true](std::string_view line) mutable -> result<void> {
                if (!std::exchange(is_header, false)) log->write(log_level::trace, "call", line);
                return {};
            },
            "", known_keys());
        wrap_all(*setup_->call_log_);
    }

    void wrap_all(providers::cassette_recorder& recorder) {
        const std::vector<ports::llm_port*> all = setup_->registry_.all(); // which is changed below
        for (ports::llm_port* each : all) {
            setup_->ports_.push_back(recorder.record(*each));
            setup_->registry_.add(*setup_->ports_.back());
        }
    }

    /// Outermost, so that a replay returns what the run saw.
    result<void> start_recording() {
        if (!parts_.request.record) return {};
        HEDDLE_TRY(auto file, cassette_file::create(*parts_.request.record));
        setup_->recording_ = std::make_unique<model_setup::recording>();
        setup_->recording_->file = std::move(file);
        cassette_file& lines = *setup_->recording_->file;
        setup_->recording_->recorder = std::make_unique<providers::cassette_recorder>(
            [&lines](std::string_view line) { return lines.write(line); }, recorded_default(),
            known_keys());
        wrap_all(*setup_->recording_->recorder);
        return {};
    }

    /// "provider:model", so that a replay needs neither aliases nor routes.
    [[nodiscard]] std::string recorded_default() const {
        std::string wanted = wanted_model();
        for (const route_config& each : parts_.settings.routes) {
            if (each.name == wanted) wanted = each.models.front();
        }
        const auto chosen = wanted.empty() ? result<tasks::model_choice>(tasks::model_choice{})
                                           : setup_->registry_.resolve(wanted, "");
        if (!chosen || !chosen->provider) return {};
        return std::string(chosen->provider->provider_name()) + ":" + chosen->model;
    }

    [[nodiscard]] std::vector<secret> known_keys() const {
        std::vector<secret> keys;
        for (const configured_service& each : setup_->services_) keys.push_back(each.key);
        return keys;
    }

    const model_parts& parts_;
    std::unique_ptr<model_setup> setup_;
    std::string scripted_model_;
};

result<std::unique_ptr<model_setup>> set_up_models(const model_parts& parts) {
    return model_assembly(parts).run();
}

} // namespace heddle::setup
