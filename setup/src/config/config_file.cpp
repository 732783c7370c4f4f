#include <heddle/setup/config/config_file.hpp>

#include "config/alias_circles.hpp"
#include "config/toml_bounds.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/quantity.hpp>

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>

namespace heddle::setup {

namespace {

constexpr std::size_t max_mistakes = 50;
constexpr std::size_t max_depth = 16; // of names and values; three are used
constexpr std::size_t max_shown = 200;
constexpr std::size_t max_user_agent = 200;
constexpr std::int64_t max_steps = 1'000'000'000'000'000;

std::string kind_of(const toml::node& node) {
    switch (node.type()) {
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return std::to_string(node.as_integer()->get());
    case toml::node_type::floating_point: {
        const double number = node.as_floating_point()->get();
        return std::isnan(number) ? "NaN" : std::isinf(number) ? "infinity" : "a number";
    }
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or a time";
    }
}

/// A value as JSON text; dates and times, which JSON lacks, as strings.
std::string json_of(const toml::node& node) {
    std::ostringstream text;
    node.visit([&text](const auto& content) { text << toml::json_formatter{content}; });
    return text.str();
}

/// Reads tables and notes every mistake.
class config_reading {
public:
    config_reading(std::string name, std::string folder, config_trust trust)
        : name_(std::move(name)), folder_(std::move(folder)), trust_(trust) {}

    result<configuration> run(std::string_view text) {
        if (const auto line = too_deep_line(text, max_depth)) {
            report(*line, "names or values are nested deeper than " + std::to_string(max_depth));
            return failure();
        }
        try {
            read_root(toml::parse(text, name_));
        } catch (const toml::parse_error& wrong) {
            report(wrong.source().begin.line, std::string(wrong.description()));
        }
        for (const alias_circle& each : alias_circles(config_.aliases)) {
            report(each.place.line, each.text);
        }
        if (!mistakes_.empty()) return failure();
        config_.files.push_back(name_);
        return std::move(config_);
    }

private:
    using table_reader = std::function<void(const toml::node&)>;
    struct field {
        std::string_view name;
        table_reader read;
    };

    /// In the order of the lines: tables are read in the order of their keys.
    error failure() {
        std::stable_sort(
            mistakes_.begin(), mistakes_.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
        const auto report = std::make_shared<config_report>();
        for (const auto& [line, what] : mistakes_) {
            report->lines.push_back(name_ + ":" + std::to_string(line) + ": " + what);
        }
        std::string message = report->lines.front();
        if (mistakes_.size() > 1) {
            message += " (and " + std::to_string(mistakes_.size() - 1) + " more)";
        }
        return error(errc::invalid_argument, std::move(message)).with_payload(report);
    }

    void report(std::size_t line, const std::string& what) {
        // Names and pieces of the file stand in it, and may hold anything.
        if (mistakes_.size() < max_mistakes) {
            mistakes_.emplace_back(line, cut_to_width(utf8::printable_line(what), max_shown));
        }
    }
    void report(const toml::node& where, const std::string& what) {
        report(where.source().begin.line, what);
    }
    [[nodiscard]] config_place place_of(const toml::node& node) const {
        return {name_, node.source().begin.line};
    }

    /// Each key of `table` goes to its reader; `owner` is what messages call the table.
    void read_table(const toml::table& table, const std::string& owner,
                    const std::vector<field>& fields) {
        for (const auto& [key, item] : table) {
            const std::string_view name = key.str();
            const auto found =
                std::find_if(fields.begin(), fields.end(),
                             [name](const field& each) { return each.name == name; });
            if (found != fields.end()) {
                current_ = owner.empty() ? std::string(name) : owner + "." + std::string(name);
                found->read(item);
                continue;
            }
            std::vector<std::string> names;
            names.reserve(fields.size());
            for (const field& each : fields) names.emplace_back(each.name);
            const std::string hint = lang::suggest_names(key.str(), names);
            report(key.source().begin.line, (owner.empty() ? std::string("there is no setting '")
                                                           : owner + " has no setting '") +
                                                std::string(key.str()) + "'" +
                                                (hint.empty() ? "" : "; " + hint));
        }
    }

    void wrong_kind(const toml::node& node, std::string_view wanted) {
        report(node, current_ + " must be " + std::string(wanted) + ", not " + kind_of(node));
    }

    table_reader text(std::optional<std::string>& into) {
        return [this, &into](const toml::node& node) {
            const auto given = node.value_exact<std::string>();
            if (!given) return wrong_kind(node, "a string");
            if (given->empty()) return report(node, current_ + " is empty");
            into = *given;
        };
    }
    table_reader plain_text(std::string& into) {
        return [this, &into](const toml::node& node) {
            std::optional<std::string> given;
            text(given)(node);
            if (given) into = *given;
        };
    }
    table_reader path(std::optional<std::string>& into) {
        return [this, &into](const toml::node& node) {
            text(into)(node);
            if (into) into = resolved(*into);
        };
    }
    table_reader truth(std::optional<bool>& into) {
        return [this, &into](const toml::node& node) {
            into = node.value_exact<bool>();
            if (!into) wrong_kind(node, "true or false");
        };
    }
    table_reader whole(std::optional<std::int64_t>& into, std::int64_t least, std::int64_t most) {
        return [this, &into, least, most](const toml::node& node) {
            const auto given = node.value_exact<std::int64_t>();
            if (!given || *given < least || *given > most) {
                return wrong_kind(node, "a whole number from " + std::to_string(least) + " to " +
                                            std::to_string(most));
            }
            into = *given;
        };
    }
    table_reader texts(std::vector<std::string>& into) {
        return [this, &into](const toml::node& node) {
            const toml::array* list = node.as_array();
            if (!list) return wrong_kind(node, "a list of strings");
            for (const toml::node& item : *list) {
                const auto given = item.value_exact<std::string>();
                if (!given || given->empty()) return wrong_kind(item, "a list of strings");
                into.push_back(*given);
            }
            if (into.empty()) report(node, current_ + " is empty");
        };
    }
    table_reader share(std::optional<double>& into) {
        return [this, &into](const toml::node& node) {
            const auto given = node.value<double>();
            if (!node.is_number() || !given || !(*given >= 0 && *given <= 1)) {
                return wrong_kind(node, "a number from 0 to 1");
            }
            into = *given;
        };
    }

    /// Seconds as a number, or text with a unit.
    template <class Duration>
    table_reader time(std::optional<Duration>& into) {
        return [this, &into](const toml::node& node) {
            static constexpr std::pair<std::string_view, double> units[] = {
                {"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
            std::optional<double> seconds;
            if (node.is_number()) seconds = node.value<double>();
            else if (const auto given = node.value_exact<std::string>()) {
                const auto parts = split_quantity(*given);
                for (const auto& [unit, factor] : units) {
                    if (parts && parts->second == unit) seconds = parts->first * factor;
                }
            }
            if (!seconds || !(*seconds > 0) || *seconds > 1e9) {
                return report(node, current_ +
                                        " must be a time: seconds, or text such as \"500ms\", "
                                        "\"30s\", \"10m\", \"12h\", \"7d\"");
            }
            into = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
        };
    }

    table_reader size(std::optional<std::uint64_t>& into) {
        return [this, &into](const toml::node& node) {
            const auto whole = node.value_exact<std::int64_t>();
            const auto given = whole ? std::to_string(*whole) : node.value_exact<std::string>();
            const auto bytes = given ? bytes_of(*given) : std::nullopt;
            if (!bytes) {
                return report(node, current_ + " must be a size: bytes, or text such as \"500MB\"");
            }
            into = *bytes;
        };
    }

    /// Reads a setting that names a program, a file or a key, or extends trust: only the user's own
    /// file may set it.
    table_reader trusted(table_reader read) {
        return [this, read = std::move(read)](const toml::node& node) {
            if (trust_ == config_trust::project) {
                return report(node,
                              current_ +
                                  " is taken from your own heddle.toml only, not from a "
                                  "project's (heddle.toml of the user, or a file that is named)");
            }
            read(node);
        };
    }

    /// A table whose keys are names.
    table_reader named(const std::function<void(const std::string&, const toml::node&)>& read) {
        return [this, read](const toml::node& node) {
            const toml::table* table = node.as_table();
            if (!table) return wrong_kind(node, "a table");
            const std::string owner = current_;
            for (const auto& [key, item] : *table) {
                current_ = owner + "." + std::string(key.str());
                read(std::string(key.str()), item);
            }
        };
    }

    table_reader inside(std::function<std::vector<field>()> fields) {
        return [this, fields = std::move(fields)](const toml::node& node) {
            const toml::table* table = node.as_table();
            if (!table) return wrong_kind(node, "a table");
            const std::string owner = current_; // the fields change it
            read_table(*table, owner, fields());
        };
    }

    void read_root(const toml::table& root) {
        read_table(root, "",
                   {{"model",
                     [this](const toml::node& node) {
                         text(config_.model)(node);
                         config_.model_place = place_of(node);
                     }},
                    {"concurrency", whole(config_.concurrency, 1, 1'000'000)},
                    {"memory_limit", size(config_.memory_limit)},
                    {"step_limit", whole(config_.step_limit, 1, max_steps)},
                    {"prices", trusted(path(config_.prices))},
                    {"tasks",
                     [this](const toml::node& node) {
                         texts(config_.tasks)(node);
                         for (std::string& each : config_.tasks) each = resolved(each);
                         if (trust_ == config_trust::project) config_.tasks_root = folder_;
                     }},
                    {"aider", trusted(texts(config_.aider))},
                    {"pass_env", trusted(texts(config_.pass_env))},
                    {"providers", named([this](const std::string& name, const toml::node& node) {
                         read_provider(name, node);
                     })},
                    {"aliases", named([this](const std::string& name, const toml::node& node) {
                         if (!is_other_name(name, node)) return;
                         alias_config config{name, {}, place_of(node)};
                         plain_text(config.model)(node);
                         config_.aliases.push_back(std::move(config));
                     })},
                    {"routes", named([this](const std::string& name, const toml::node& node) {
                         read_route(name, node);
                     })},
                    {"cache", inside([this] { return cache_fields(); })},
                    {"http", trusted(inside([this] { return http_fields(); }))}});
    }

    table_reader service_type(std::string& into) {
        return [this, &into](const toml::node& node) {
            plain_text(into)(node);
            if (into.empty() || is_service_type(into)) return;
            const std::string near = lang::suggest_names(into, service_type_names());
            report(node, current_ + ": there is no service '" + into + "'" +
                             (near.empty() ? "" : "; " + near));
        };
    }

    void read_provider(const std::string& name, const toml::node& node) {
        constexpr std::int64_t many = std::numeric_limits<std::int32_t>::max();
        provider_config config;
        config.name = name;
        config.place = place_of(node);
        if (name.find(':') != std::string::npos) {
            return report(node, "the name of a provider has no colon: \"" + name + "\"");
        }
        inside([&] {
            return std::vector<field>{
                {"type", service_type(config.type)},
                {"base_url",
                 [&](const toml::node& url) {
                     text(config.base_url)(url);
                     config.base_url_place = place_of(url);
                 }},
                {"api_key",
                 [this](const toml::node& key) {
                     report(key, current_ +
                                     ": a key is not written in this file; name where it is: "
                                     "api_key_env, api_key_file or api_key_command");
                 }},
                {"api_key_env", trusted(text(config.api_key_env))},
                {"api_key_file", trusted(path(config.api_key_file))},
                {"api_key_command", trusted(texts(config.api_key_command))},
                {"api_version", text(config.api_version)},
                {"organization", trusted(text(config.organization))}, // who pays
                {"project", trusted(text(config.project))},
                {"models",
                 [&](const toml::node& models) {
                     config.models_place = place_of(models);
                     texts(config.models.emplace())(models);
                 }},
                {"max_in_flight", whole(config.max_in_flight, 1, many)},
                {"requests_per_minute", whole(config.requests_per_minute, 1, many)},
                {"tokens_per_minute", whole(config.tokens_per_minute, 1, 1'000'000'000'000)},
                {"input_tokens_per_minute",
                 whole(config.input_tokens_per_minute, 1, 1'000'000'000'000)},
                {"output_tokens_per_minute",
                 whole(config.output_tokens_per_minute, 1, 1'000'000'000'000)},
                {"connect_timeout", time(config.connect_timeout)},
                {"first_byte_timeout", time(config.first_byte_timeout)},
                {"idle_timeout", time(config.idle_timeout)},
                {"total_timeout", time(config.total_timeout)},
                {"max_retries", whole(config.max_retries, 0, 100)},
                {"share_prompt_prefixes", truth(config.share_prompt_prefixes)},
                {"request", [&](const toml::node& request) {
                     config.request_place = place_of(request);
                     inside([&] { return request_fields(config.request); })(request);
                 }}};
        })(node);
        const int sources = (config.api_key_env ? 1 : 0) + (config.api_key_file ? 1 : 0) +
                            (config.api_key_command.empty() ? 0 : 1);
        if (sources > 1) report(node, "providers." + name + " has more than one place for its key");
        config_.providers.push_back(std::move(config));
    }

    /// One for each setting of requests, in the spelling of this file.
    std::vector<field> request_fields(tasks::request_parameters& into) {
        static const std::vector<std::string> names = [] {
            std::vector<std::string> all;
            for (const auto& each : lang::request_settings()) all.push_back(lang::snake_name(each));
            return all;
        }();
        std::vector<field> fields;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const lang::request_setting& setting = lang::request_settings()[i];
            fields.push_back({names[i], [this, &into, &setting](const toml::node& node) {
                                  if (tasks::set_parameter(into, setting, json_of(node))) return;
                                  wrong_kind(node, std::string(setting.expected));
                              }});
        }
        return fields;
    }

    /// Refuses names with a colon: "service:model" always means a model of that service.
    bool is_other_name(const std::string& name, const toml::node& node) {
        if (name.find(':') == std::string::npos) return true;
        report(node, current_ + ": the name of an alias or a route has no colon");
        return false;
    }

    void read_route(const std::string& name, const toml::node& node) {
        if (!is_other_name(name, node)) return;
        route_config config;
        config.name = name;
        config.place = place_of(node);
        inside([&] {
            return std::vector<field>{
                {"models", texts(config.models)},
                {"hedge_after", time(config.hedge_after)},
                {"hedge_share", share(config.hedge_share)},
                {"on_authentication_failure", truth(config.on_authentication_failure)}};
        })(node);
        if (config.models.empty()) report(node, "routes." + name + " names no models");
        config_.routes.push_back(std::move(config));
    }

    std::vector<field> cache_fields() {
        return {
            {"enabled", truth(config_.cache.enabled)},
            // The responses are the user's, and paid for: a project does not have them thrown away.
            {"file", trusted(path(config_.cache.file))},
            {"keep_for", trusted(time(config_.cache.keep_for))},
            {"max_size", trusted(size(config_.cache.max_bytes))}};
    }

    std::vector<field> http_fields() {
        return {{"http_proxy", text(config_.http.http_proxy)},
                {"https_proxy", text(config_.http.https_proxy)},
                {"no_proxy", text(config_.http.no_proxy)},
                {"ca_file", path(config_.http.ca_file)},
                {"ca_directory", path(config_.http.ca_directory)},
                {"max_connections", whole(config_.http.max_connections, 1, 1'000'000)},
                {"user_agent", [this](const toml::node& node) { read_user_agent(node); }}};
    }

    void read_user_agent(const toml::node& node) {
        const auto given = node.value_exact<std::string>();
        const auto on = node.value_exact<bool>();
        const bool fits =
            given && !given->empty() && given->size() <= max_user_agent &&
            std::all_of(given->begin(), given->end(), [](char c) { return c >= 0x20 && c < 0x7F; });
        if (fits) config_.http.user_agent = *given;
        else if (on && !*on) config_.http.user_agent.emplace();
        else wrong_kind(node, "false, or a text of plain characters");
    }

    [[nodiscard]] std::string resolved(const std::string& given) const {
        const char* home = given.starts_with("~/") ? std::getenv("HOME") : nullptr;
        if (home) return (std::filesystem::path(home) / given.substr(2)).string();
        const std::filesystem::path path(given);
        return path.is_absolute() ? given : (std::filesystem::path(folder_) / path).string();
    }

    std::string name_;
    std::string folder_;
    config_trust trust_;
    std::vector<std::pair<std::size_t, std::string>> mistakes_; ///< line and what is wrong
    std::string current_;                                       ///< the setting that is being read
    configuration config_;
};

} // namespace

result<configuration> read_config(std::string_view text, const std::string& name,
                                  const std::string& folder, config_trust trust) {
    return config_reading(name, folder, trust).run(text);
}

} // namespace heddle::setup
