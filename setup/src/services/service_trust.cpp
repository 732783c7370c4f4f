#include <heddle/setup/services/service_trust.hpp>

#include "services/key_destination.hpp"
#include "services/key_source.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/base/url.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/http/origin_name.hpp>
#include <heddle/http/proxy_rules.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>

namespace heddle::setup {

namespace {

/// Parameters that say only how a response is sampled, in the words of the services that heddle
/// knows. Not among them: what multiplies responses (n, best_of), keeps them, or names anything.
constexpr std::array<std::string_view, 22> sampling_parameters{"top_k",
                                                               "top_a",
                                                               "min_p",
                                                               "typical_p",
                                                               "tfs_z",
                                                               "epsilon_cutoff",
                                                               "eta_cutoff",
                                                               "length_penalty",
                                                               "frequency_penalty",
                                                               "repeat_penalty",
                                                               "presence_penalty",
                                                               "repetition_penalty",
                                                               "repeat_last_n",
                                                               "no_repeat_ngram_size",
                                                               "random_seed",
                                                               "mirostat",
                                                               "mirostat_eta",
                                                               "mirostat_tau",
                                                               "xtc_threshold",
                                                               "xtc_probability",
                                                               "dynatemp_range",
                                                               "dynatemp_exponent"};

/// So that a person can read all of them.
constexpr std::size_t max_parameters_bytes = 1000;

bool is_harmless(const ports::extra_parameter& parameter) {
    const char first = parameter.value_json.empty() ? '"' : parameter.value_json.front();
    return (ascii::is_digit(first) || first == '-') &&
           std::find(sampling_parameters.begin(), sampling_parameters.end(), parameter.name) !=
               sampling_parameters.end();
}

constexpr std::size_t max_parameter_depth = 64;

/// As a JSON object: the parameters of `merged` that are not those of the user and not harmless.
/// Empty: there are none.
std::string added_parameters(const provider_config& merged, const configuration& own) {
    if (!merged.request.extra_parameters) return {};
    const provider_config* said = own.provider(merged.name);
    const auto* known =
        said && said->request.extra_parameters ? &*said->request.extra_parameters : nullptr;
    boost::json::object added;
    for (const ports::extra_parameter& each : *merged.request.extra_parameters) {
        const auto is_same = [&](const ports::extra_parameter& one) {
            return one.name == each.name && one.value_json == each.value_json;
        };
        const bool own_word = known && std::any_of(known->begin(), known->end(), is_same);
        if (own_word || is_harmless(each)) continue;
        boost::system::error_code wrong;
        boost::json::value read = parse_json(each.value_json, wrong, max_parameter_depth);
        if (wrong) read = each.value_json;
        added[each.name] = std::move(read);
    }
    return added.empty() ? std::string() : json_text(added);
}

/// Where the key of a service goes as the user's own layers have it; one that they do not have goes
/// by its name. Nothing where that means nothing.
std::optional<key_destination> own_destination(const std::string& name,
                                               const provider_config& merged,
                                               const configuration& own,
                                               const environment& variables) {
    provider_config settings;
    if (const provider_config* said = own.provider(name)) settings = *said;
    else settings.name = name;
    if (merged.base_url_is_flag && name == merged.name) {
        settings.base_url = merged.base_url;
        settings.base_url_is_flag = true;
    }
    const auto type = find_service_type(type_of(settings));
    if (!type) return std::nullopt;
    return destination_of(settings, *type, variables);
}

template <class Names>
bool any_is_set(const Names& names, const environment& variables) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return variables.variable(name).has_value();
    });
}

/// Whether the user's own file or an option has a service of that name. A key in a variable is no
/// word about an address.
bool is_users_own(const provider_config& merged, const configuration& own) {
    return own.provider(merged.name) || merged.base_url_is_flag;
}

/// Whether the user's own file or a variable names where services of the type are.
bool names_address(const service_type& type, const configuration& own,
                   const environment& variables) {
    return own.provider(type.name) != nullptr || any_is_set(type.url_variables, variables);
}

/// Whether the user's own file or a variable sends the key of the usual destination to another
/// address: then it is not meant for the usual one. Every service of theirs counts, whatever its
/// type.
bool sent_elsewhere(const key_destination& usual, const provider_config& merged,
                    const configuration& own, const environment& variables) {
    if (usual.key.empty()) return false;
    const auto is_other = [&](const std::string& name) {
        const auto there = own_destination(name, merged, own, variables);
        return there && there->key == usual.key && there->address != usual.address;
    };
    for (const provider_config& each : own.providers) {
        if (is_other(each.name)) return true;
    }
    for (const std::string& name : service_type_names()) {
        if (names_address(*find_service_type(name), own, variables) && is_other(name)) return true;
    }
    return false;
}

/// Whether the user has entrusted the key to that address without having been asked.
bool is_entrusted(const key_destination& there, const provider_config& merged,
                  const service_type& type, const configuration& own,
                  const environment& variables) {
    if (is_users_own(merged, own) &&
        there == own_destination(merged.name, merged, own, variables)) {
        return true;
    }
    if (names_address(type, own, variables) &&
        there == own_destination(std::string(type.name), merged, own, variables)) {
        return true;
    }
    // The usual key of a type, or none, where services of that type are.
    const key_destination usual{normalised_address(std::string(type.base_url)),
                                key_name(nullptr, type.key_variables, variables)};
    return there == usual && !sent_elsewhere(usual, merged, own, variables);
}

/// Scheme and authority of an address.
std::string_view origin_part(std::string_view address, const url_parts& parts) {
    return address.substr(0, address.size() - parts.rest.size());
}

} // namespace

std::string normalised_address(const std::string& address) {
    const auto parts = split_url(address);
    if (!parts) return address;
    const auto origin = http::parse_origin(origin_part(address, *parts));
    if (!origin) return address;
    std::string path(parts->rest);
    while (path.ends_with('/')) path.pop_back();
    return origin->text() + path;
}

bool is_this_machine(const std::string& address) {
    const auto parts = split_url(address);
    if (!parts) return false;
    const auto origin = http::parse_origin(origin_part(address, *parts));
    return origin && http::is_loopback(*origin);
}

std::string address_problem(const std::string& address) {
    const bool plain = std::all_of(address.begin(), address.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte < 0x7F && c != '\\' && c != '"';
    });
    if (!plain) return "holds a character that has to be percent-encoded";
    const auto parts = split_url(address);
    if (!parts) return "begins with neither http:// nor https://";
    const auto origin = http::parse_origin(origin_part(address, *parts));
    if (!origin) return origin.error().message();
    if (parts->rest.find_first_of("?#") != std::string::npos) {
        return "holds a query or a fragment";
    }
    return {};
}

trust_question judge_service(const provider_config& settings, const service_type& type,
                             const configuration& all, const environment& variables,
                             const consent_store* consents) {
    trust_question question;
    question.provider = settings.name;
    question.place = settings.place;
    const auto& said = settings.base_url_place;
    if (said && said->file == all.project_file) question.place = *said;
    const key_destination there = destination_of(settings, type, variables);
    question.address = there.address;
    question.key = there.key;
    if (!all.without_project || question.place.file.empty()) return question;
    if (is_entrusted(there, settings, type, *all.without_project, variables)) return question;
    question.problem = address_problem(there.address);
    if (!question.problem.empty()) {
        question.verdict = trust_verdict::refused;
        return question;
    }
    question.allowed = consents && consents->holds({all.project_file, there.address, there.key});
    if (question.allowed) return question;
    question.verdict =
        is_this_machine(there.address) ? trust_verdict::keyless : trust_verdict::refused;
    return question;
}

std::optional<trust_question> judge_parameters(const provider_config& settings,
                                               const service_type& type, const configuration& all,
                                               const environment& variables,
                                               const consent_store* consents) {
    if (!all.without_project) return std::nullopt;
    trust_question question;
    question.parameters = added_parameters(settings, *all.without_project);
    if (question.parameters.empty()) return std::nullopt;
    question.provider = settings.name;
    question.place = settings.request_place.value_or(settings.place);
    question.address = normalised_address(address_of(settings, type, variables));
    question.verdict = trust_verdict::refused;
    if (question.parameters.size() > max_parameters_bytes) {
        question.problem = "more than " + std::to_string(max_parameters_bytes) +
                           " bytes of parameters are not taken from a project";
        return question;
    }
    question.allowed =
        consents && consents->holds({all.project_file, question.address, "", question.parameters});
    if (question.allowed) question.verdict = trust_verdict::trusted;
    return question;
}

std::string shown_key(std::string_view key) {
    constexpr std::size_t longest = 300; // a command has arguments
    return cut_to_width(utf8::printable_line(key), longest);
}

std::string logged_key(std::string_view key) {
    constexpr std::string_view command = "the command [\"";
    if (!key.starts_with(command)) return shown_key(key);
    std::size_t end = command.size(); // of the first word, in which quotes are escaped
    while (end < key.size() && key[end] != '"') end += key[end] == '\\' ? 2 : 1;
    const std::string_view word = key.substr(command.size(), end - command.size());
    return "the command \"" + shown_key(word) + "\"";
}

error refusal(const trust_question& question) {
    const std::string where = shown_address(question.address);
    if (!question.parameters.empty()) {
        const std::string what =
            question.problem.empty()
                ? "the parameters " + utf8::printable_line(question.parameters) +
                      " sent with prompts to " + where + ", which you have not allowed"
                : "parameters sent with prompts: " + question.problem;
        return error(ports::make_error_code(ports::llm_errc::configuration),
                     question.place.shown() + ": provider '" + question.provider +
                         "': this project's file has " + what)
            .with_hint(
                "'heddle trust' shows what the file asks for, 'heddle trust --allow' allows it; "
                "nothing was sent")
            .with_payload(std::make_shared<consent_needed>());
    }
    if (!question.problem.empty()) {
        return error(ports::make_error_code(ports::llm_errc::configuration),
                     question.place.shown() + ": provider '" + question.provider + "': " + where +
                         " cannot be used: " + question.problem)
            .with_hint("a base URL looks like https://api.openai.com/v1; nothing was sent")
            .with_payload(std::make_shared<consent_needed>());
    }
    return error(
               ports::make_error_code(ports::llm_errc::configuration),
               question.place.shown() + ": provider '" + question.provider +
                   "': this project's file has " +
                   (question.key.empty() ? "prompts" : logged_key(question.key) + " and prompts") +
                   " sent to " + where + ", which you have not allowed")
        .with_hint(
            "'heddle trust' shows what the file asks for, 'heddle trust --allow' allows it; "
            "nothing was sent")
        .with_payload(std::make_shared<consent_needed>());
}

} // namespace heddle::setup
