// `heddle trust`: what a project's heddle.toml asks for, and what the user allows it.
#include "command_line/command.hpp"
#include "missing_directory.hpp"
#include "report_error.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/setup/services/named_services.hpp>
#include <heddle/setup/services/service_trust.hpp>
#include <heddle/setup/trust/file_owner.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace heddle::cli {

namespace {

enum class trust_action : std::uint8_t { show, allow, revoke, list };

/// What a project's heddle.toml asks for, and what the user allows it.
struct trust_request {
    trust_action what = trust_action::show;
    std::string place = "."; ///< the folder, or its file
    bool json = false;
};

namespace json = boost::json;
namespace fs = std::filesystem;

/// What one project's file asks for.
struct project_asks {
    std::string file;                    ///< empty: there is none
    std::optional<std::string> stranger; ///< who else may change it, in words
    bool stranger_allowed = false;
    std::vector<setup::trust_question> questions; ///< those that the project has a hand in
};

bool is_open(const setup::trust_question& question) {
    return !question.allowed && question.verdict == setup::trust_verdict::refused;
}

/// A key that stays at home although prompts may go: nobody is stopped by that.
bool may_be_allowed(const setup::trust_question& question) {
    return !question.allowed && question.problem.empty() &&
           question.verdict != setup::trust_verdict::trusted &&
           (question.verdict == setup::trust_verdict::refused || !question.key.empty());
}

setup::consent consent_to(const std::string& file, const setup::trust_question& question) {
    return {file, question.address, question.key, question.parameters};
}

std::string folder_of(const std::string& place) {
    std::error_code failed;
    const fs::path path(place);
    if (fs::is_directory(path, failed)) return place;
    const fs::path parent = path.parent_path();
    return parent.empty() ? "." : parent.string();
}

result<project_asks> asks_of(const std::string& place, const setup::environment& variables,
                             const setup::consent_store& consents) {
    project_asks asks;
    setup::config_sources sources;
    sources.folder = folder_of(place);
    sources.user_folder = variables.config_folder();
    sources.consents = &consents;
    sources.whoever_owns = true;
    HEDDLE_TRY(const setup::configuration found, setup::find_config(sources));
    if (found.project_file.empty()) return asks;
    asks.file = found.project_file;
    if (const auto owned = setup::check_owners(asks.file); !owned) {
        asks.stranger = owned.error().message();
        asks.stranger_allowed = consents.holds({asks.file, "", ""});
    }
    const auto ask = [&](const setup::provider_config& each) {
        const auto type = setup::find_service_type(setup::type_of(each));
        if (!type) return; // a mistake that a run reports
        setup::trust_question question =
            setup::judge_service(each, *type, found, variables, &consents);
        const bool of_project =
            question.allowed || question.verdict != setup::trust_verdict::trusted;
        if (of_project) asks.questions.push_back(std::move(question));
        auto added = setup::judge_parameters(each, *type, found, variables, &consents);
        if (added) asks.questions.push_back(*std::move(added));
    };
    for (const setup::provider_config& each : found.providers) ask(each);
    // What the variable names does not show what the file asks for.
    const setup::named_services named(found, std::nullopt);
    std::set<std::string> others;
    for (const setup::usual_service& each : setup::usual_services()) others.emplace(each.name);
    for (std::string& each : named.known()) others.insert(std::move(each));
    for (const std::string& name : others) {
        setup::provider_config usual;
        usual.name = name;
        usual.place = named.place_of(name);
        if (!found.provider(name)) ask(usual);
    }
    return asks;
}

/// A name that a file chose, which can neither end its quotation nor fill the line.
std::string shown_name(std::string_view name) {
    constexpr std::size_t longest = 80;
    std::string text = setup::cut_to_width(utf8::printable_line(name), longest);
    std::replace(text.begin(), text.end(), '\'', '?');
    return text;
}

/// `parameters` is shown whole: what was cut from it could not be judged.
std::string what_goes(const std::string& key, const std::string& parameters) {
    if (!parameters.empty()) return "prompts with " + utf8::printable_line(parameters);
    return key.empty() ? "prompts" : setup::shown_key(key) + " and prompts";
}

/// What cannot be allowed may be long; what is wrong with it is named behind it.
std::string what_goes(const setup::trust_question& question) {
    if (!question.parameters.empty() && !question.problem.empty()) return "prompts with parameters";
    return what_goes(question.key, question.parameters);
}

std::string state_of(const setup::trust_question& question) {
    if (question.allowed) return "allowed";
    if (!question.problem.empty()) return "cannot be used: " + question.problem;
    if (question.verdict == setup::trust_verdict::refused) return "not allowed";
    return question.key.empty() ? "this machine" : "this machine: without the key";
}

std::string shown_file(const std::string& file) { return utf8::printable_line(file); }

std::string line_of(const setup::trust_question& question) {
    return utf8::printable_line(question.place.shown()) + ": provider '" +
           shown_name(question.provider) + "': " + what_goes(question) + " to " +
           setup::shown_address(question.address) + ": " + state_of(question) + "\n";
}

bool anything_open(const project_asks& asks) {
    return (asks.stranger && !asks.stranger_allowed) ||
           std::any_of(asks.questions.begin(), asks.questions.end(), is_open);
}

std::string text_of(const project_asks& asks) {
    if (asks.file.empty()) return "there is no project's heddle.toml here or above\n";
    std::string text;
    if (asks.stranger) {
        text += shown_file(asks.file) + ": " + utf8::printable_line(*asks.stranger) + ": " +
                (asks.stranger_allowed ? "read all the same, as allowed" : "not read") + "\n";
    }
    for (const setup::trust_question& each : asks.questions) text += line_of(each);
    if (text.empty()) return shown_file(asks.file) + " asks for nothing that has to be allowed\n";
    const bool something_to_allow = (asks.stranger && !asks.stranger_allowed) ||
                                    std::any_of(asks.questions.begin(), asks.questions.end(),
                                                [](const setup::trust_question& each) {
                                                    return is_open(each) && may_be_allowed(each);
                                                });
    if (something_to_allow) text += "'heddle trust --allow' allows it\n";
    return text;
}

json::object json_of(const project_asks& asks) {
    json::array questions;
    for (const setup::trust_question& each : asks.questions) {
        questions.push_back(json::object{{"provider", each.provider},
                                         {"file", each.place.file},
                                         {"line", each.place.line},
                                         {"address", setup::public_address(each.address)},
                                         {"key", each.key},
                                         {"parameters", each.parameters},
                                         {"allowed", each.allowed},
                                         {"needs_consent", is_open(each) && each.problem.empty()},
                                         {"problem", each.problem}});
    }
    json::object members{{"file", asks.file}, {"asks", std::move(questions)}};
    if (asks.stranger) {
        members["owner"] =
            json::object{{"problem", *asks.stranger}, {"allowed", asks.stranger_allowed}};
    }
    return members;
}

exit_code show(const project_asks& asks, bool as_json, console& output) {
    output.out(as_json ? setup::json_line(json_of(asks)) : text_of(asks));
    return anything_open(asks) ? exit_code::failed : exit_code::done;
}

exit_code allow(const project_asks& asks, setup::consent_store& consents,
                const trust_request& asked, console& output) {
    std::vector<setup::consent> more;
    std::string text;
    if (asks.stranger && !asks.stranger_allowed) {
        more.push_back({asks.file, "", ""});
        text += "allowed: " + shown_file(asks.file) + " is read, although " +
                utf8::printable_line(*asks.stranger) + "\n";
    }
    for (const setup::trust_question& each : asks.questions) {
        if (!may_be_allowed(each)) continue;
        more.push_back(consent_to(asks.file, each));
        text += "allowed: " + what_goes(each) + " to " + setup::shown_address(each.address) + "\n";
    }
    if (!more.empty()) {
        if (const auto done = consents.allow(more); !done) {
            return report_usage_error(done.error(), asked.json, output);
        }
    }
    if (asked.json) output.out_data(setup::json_line(json::object{{"allowed", more.size()}}));
    else output.out(text.empty() ? text_of(asks) : text);
    return exit_code::done;
}

exit_code report_missing(const trust_request& asked, console& output) {
    return report_usage_error(missing_directory(asked.place), asked.json, output);
}

/// The project's file that a place means: one that holds permissions, also when it is gone by now,
/// else the one that the place is in. Nothing: there is neither.
result<std::optional<std::string>> file_to_revoke(const std::string& place,
                                                  const setup::consent_store& consents) {
    std::error_code failed;
    const fs::path named = fs::absolute(place, failed).lexically_normal();
    const fs::path real = fs::weakly_canonical(named, failed); // folders are kept without links
    for (const fs::path& at : {real, named}) {
        for (const fs::path& file : {at, at / "heddle.toml"}) {
            const auto known = [&](const setup::consent& each) {
                return each.file == file.string();
            };
            const auto& all = consents.all();
            if (std::any_of(all.begin(), all.end(), known)) return std::optional(file.string());
        }
    }
    if (is_missing(place)) return std::optional<std::string>();
    return setup::find_project_file(folder_of(place));
}

exit_code revoke(setup::consent_store& consents, const trust_request& asked, console& output) {
    if (const auto& problem = consents.problem()) {
        return report_usage_error(*problem, asked.json, output);
    }
    const auto found = file_to_revoke(asked.place, consents);
    if (!found) return report_usage_error(found.error(), asked.json, output);
    const std::optional<std::string>& file = *found;
    if (!file && is_missing(asked.place)) return report_missing(asked, output);
    result<std::size_t> count = std::size_t{0};
    if (file) count = consents.revoke(*file);
    if (!count) return report_usage_error(count.error(), asked.json, output);
    if (asked.json) {
        output.out_data(
            setup::json_line(json::object{{"revoked", *count}, {"file", file.value_or("")}}));
    } else {
        output.out("took back " + setup::counted(*count, "permission") + " of " +
                   shown_file(file.value_or(asked.place)) + "\n");
    }
    return exit_code::done;
}

exit_code list(const setup::consent_store& consents, const trust_request& asked, console& output) {
    if (const auto& problem = consents.problem()) {
        return report_usage_error(*problem, asked.json, output);
    }
    json::array all;
    std::string text;
    for (const setup::consent& each : consents.all()) {
        const std::string what = each.address.empty()
                                     ? std::string("is read although others may change it")
                                     : what_goes(each.key, each.parameters) + " to " +
                                           setup::shown_address(each.address);
        text += shown_file(each.file) + ": " + what + "\n";
        all.push_back(json::object{{"file", each.file},
                                   {"address", setup::public_address(each.address)},
                                   {"key", each.key},
                                   {"parameters", each.parameters}});
    }
    if (text.empty()) text = "nothing is allowed\n";
    output.out(asked.json ? setup::json_line(json::object{{"allowed", std::move(all)}}) : text);
    return exit_code::done;
}

} // namespace

static exit_code manage_trust(const trust_request& asked, const setup::environment& variables,
                              console& output) {
    setup::consent_store consents = setup::consents_of(variables);
    if (asked.what == trust_action::list) return list(consents, asked, output);
    if (asked.what == trust_action::revoke) return revoke(consents, asked, output);
    if (const auto& problem = consents.problem()) {
        return report_usage_error(*problem, asked.json, output);
    }
    if (is_missing(asked.place)) return report_missing(asked, output);
    const auto asks = asks_of(asked.place, variables, consents);
    if (!asks) return report_usage_error(asks.error(), asked.json, output);
    return asked.what == trust_action::allow ? allow(*asks, consents, asked, output)
                                             : show(*asks, asked.json, output);
}

namespace {

class trust_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("DIR", asked_.place, "Directory of the project; default: the current one")
            .value("");
        const option_ref allow =
            add_action(to, "--allow", trust_action::allow, "Allow everything that it requests now");
        const option_ref revoke =
            add_action(to, "--revoke", trust_action::revoke, "Revoke all its permissions");
        const option_ref list =
            add_action(to, "--list", trust_action::list, "List what is allowed, for all projects");
        allow.excludes(revoke).excludes(list);
        revoke.excludes(list);
        to.flag("--json", asked_.json, "Print one JSON object on standard output");
    }
    exit_code run(command_context context) override {
        return manage_trust(asked_, context.variables, context.output);
    }

private:
    option_ref add_action(option_list& to, const char* flag, trust_action what, const char* help) {
        return to.action(
            flag, [this, what] { asked_.what = what; }, help);
    }
    trust_request asked_;
};

constexpr command_row rows[] = {{
    .name = "trust",
    .summary = "Show and allow what a project's heddle.toml requests",
    .details =
        R"(A heddle.toml in the current directory or above it may come with somebody else's repository. If it
determines the address to which your keys or prompts go, nothing is sent until you allow it; a service on
this machine receives prompts, but no key. The same holds if it adds request parameters other than those
of sampling, because a service may forward prompts to an address in them. A permission is valid only for
that file, address, key and parameters. See docs/reference/configuration.md. The exit code is 1 if
something is not allowed.

Examples:
  heddle trust
  heddle trust --allow
  heddle trust --revoke ../other)",
    .group = command_group::models,
    .make = &make_command<trust_work>,
}};

} // namespace

std::span<const command_row> trust_commands() noexcept { return rows; }

} // namespace heddle::cli
