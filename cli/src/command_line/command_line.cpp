#include "command_line/command_line.hpp"

#include "command_line/spread_values.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/lang/realm.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::string_view program_summary = "Run workflows of LLM calls";
constexpr std::string_view program_details = R"(Examples:
  heddle eval '(map (lambda (x) (* x x)) (list 1 2 3))'
  heddle run review.heddle --input root=src --model openai:gpt-4o-mini
  heddle call summarise text="A long story."
  heddle tasks list
  heddle check review.heddle
  heddle fmt *.heddle
  heddle model serve --rules rules.json

Environment:
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY
                   keys; they are never printed or logged
  OPENAI_BASE_URL  base URL of an OpenAI-compatible server
  OLLAMA_HOST      address of an Ollama server
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE
                   proxies and certificates for connections to services
  HEDDLE_MODEL     the model, in the form of --model
  NO_COLOR         no colours

Configuration: heddle.toml in this directory or the nearest one above it, then heddle/heddle.toml in $XDG_CONFIG_HOME or ~/.config. Options and
variables take precedence over both.)";

/// Of all commands; their own help has what differs.
std::string exit_codes_line() {
    std::string line;
    for (const exit_code_row& each : exit_code_rows) {
        line += line.empty() ? "Exit codes: " : ", ";
        line += std::to_string(static_cast<int>(each.code)) + " ";
        line += each.meaning;
    }
    return line + ".";
}

/// The words of the name of a command.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    while (!name.empty()) {
        const std::size_t space = name.find(' ');
        words.emplace_back(name.substr(0, space));
        name.remove_prefix(space == std::string_view::npos ? name.size() : space + 1);
    }
    return words;
}

option_help help_of(const CLI::Option& option) {
    option_help help;
    help.is_argument = option.get_positional();
    if (help.is_argument) {
        help.names.push_back(option.get_name(true));
    } else {
        for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
        if (option.get_items_expected_max() != 0) help.value = option.get_type_name();
    }
    help.description = option.get_description();
    help.group = option.get_group();
    if (help.group == "Options" && help.is_argument) help.group = "Arguments";
    help.default_value = option.get_default_str();
    help.required = option.get_required();
    help.repeatable = option.get_items_expected_max() > 1;
    return help;
}

} // namespace

/// A command with its place in CLI11's tree.
struct command_line::entry {
    const command_row* row = nullptr;
    std::unique_ptr<command> work; ///< null for a parent
    CLI::App* app = nullptr;
    std::vector<std::string> many_valued; ///< of its options
};

class command_line::state {
public:
    explicit state(std::span<const command_row* const> rows)
        : app_(std::string(program_summary), "heddle") {
        set_up(app_);
        app_.require_subcommand(1);
        for (const command_row* row : rows) add(*row);
    }

    std::variant<command*, early_end> parse(std::vector<std::string> arguments, unsigned columns) {
        arguments_ = arguments;
        if (arguments.empty())
            return early_end{exit_code::usage, help_of_app(app_, columns), {}, {}};
        if (asks_for_version(arguments)) return version(arguments);
        if (auto unknown = unknown_command(arguments)) return *std::move(unknown);
        spread(arguments);
        std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants them
        try {
            app_.parse(std::move(arguments));
        } catch (const CLI::Success&) { // --help
            return early_end{exit_code::done, help_of_app(innermost(), columns), {}, {}};
        } catch (const CLI::ExtrasError&) {
            return mistake(about_extras());
        } catch (const CLI::RequiredError& wrong) {
            return mistake(app_.remaining(true).empty() ? wrong.what() : about_extras());
        } catch (const CLI::ConversionError& wrong) {
            return mistake(about_conversion(wrong.what()));
        } catch (const CLI::ValidationError& wrong) {
            return mistake(about_check(wrong.what()));
        } catch (const CLI::ParseError& wrong) {
            return mistake(wrong.what());
        }
        CLI::App* const asked = &innermost();
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const entry& each) { return each.app == asked; });
        if (auto wrong = found->work->mistake()) return mistake(*std::move(wrong));
        return found->work.get();
    }

    [[nodiscard]] std::vector<command_help> help() const {
        std::vector<command_help> all;
        command_help program;
        program.name = "heddle";
        program.summary = program_summary;
        program.details = std::string(program_details) + "\n\n" + exit_codes_line() +
                          "\n\n'heddle help COMMAND' describes a command.";
        take_options(program, app_);
        option_help version; // read before CLI11 sees the arguments
        version.names = {"--version"};
        version.description = "Print the version and exit; with --json as a JSON object";
        version.group = "Options";
        program.options.push_back(std::move(version));
        all.push_back(std::move(program));
        for (const entry& each : entries_) {
            command_help one;
            one.name = "heddle " + std::string(each.row->name);
            one.summary = each.row->summary;
            one.details = each.row->details;
            one.group = each.row->group;
            take_options(one, *each.app);
            all.push_back(std::move(one));
        }
        return all;
    }

    [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }

private:
    static void set_up(CLI::App& app) {
        app.set_help_flag("-h,--help", "Print this help and exit");
        app.option_defaults()->group("Options");
    }

    void add(const command_row& row) {
        const std::vector<std::string> words = words_of(row.name);
        CLI::App* parent = &app_;
        for (std::size_t i = 0; i + 1 < words.size(); ++i)
            parent = parent->get_subcommand(words[i]);
        CLI::App* app = parent->add_subcommand(words.back(), std::string(row.summary));
        set_up(*app);
        entry added{&row, row.make ? row.make() : nullptr, app, {}};
        if (added.work) {
            option_list options(*app);
            added.work->add_options(options);
            added.many_valued = options.many_valued();
        } else {
            app->require_subcommand(1);
        }
        entries_.push_back(std::move(added));
    }

    static void take_options(command_help& into, const CLI::App& app) {
        for (const bool arguments : {true, false}) {
            for (const CLI::Option* option : app.get_options()) {
                if (option->get_positional() == arguments && !option->get_group().empty())
                    into.options.push_back(help_of(*option));
            }
        }
        for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; }))
            into.children.push_back(child->get_name());
    }

    [[nodiscard]] std::string help_of_app(const CLI::App& app, unsigned columns) const {
        const std::vector<command_help> all = help();
        const std::string name = full_name(&app);
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const command_help& each) { return each.name == name; });
        return help_text(*found, all, columns);
    }

    static bool asks_for_version(const std::vector<std::string>& arguments) {
        for (const std::string& each : arguments) {
            if (each == "--version") return true;
            if (each != "--json") return false;
        }
        return false;
    }

    static early_end version(const std::vector<std::string>& arguments) {
        if (!wants_json(arguments)) return {exit_code::done, "heddle " HEDDLE_VERSION "\n", {}, {}};
        std::string text = R"({"name":"heddle","version":)";
        append_json_string(text, HEDDLE_VERSION);
        return {exit_code::done, text + "}\n", {}, {}};
    }

    /// A word where a command must stand that is none is an error, whatever follows: CLI11 would
    /// take a --help behind it first.
    [[nodiscard]] std::optional<early_end> unknown_command(
        const std::vector<std::string>& arguments) const {
        const CLI::App* at = &app_;
        for (const std::string& word : arguments) {
            const auto children = at->get_subcommands([](const CLI::App*) { return true; });
            if (children.empty() || word.starts_with("-")) return std::nullopt;
            const auto child =
                std::find_if(children.begin(), children.end(),
                             [&](const CLI::App* each) { return each->get_name() == word; });
            if (child == children.end()) {
                std::vector<std::string> known;
                known.reserve(children.size());
                for (const CLI::App* each : children) known.push_back(each->get_name());
                const std::string near = lang::suggest_names(word, known);
                return mistake_of(*at,
                                  "unknown command " + word + (near.empty() ? "" : "; " + near));
            }
            at = *child;
        }
        return std::nullopt;
    }

    /// Of the command that the first words name.
    void spread(std::vector<std::string>& arguments) const {
        for (const entry& each : entries_) {
            if (each.many_valued.empty()) continue;
            const std::vector<std::string> words = words_of(each.row->name);
            if (arguments.size() < words.size() ||
                !std::equal(words.begin(), words.end(), arguments.begin()))
                continue;
            const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(words.size());
            std::vector<std::string> own =
                spread_values(*each.app, each.many_valued, {first, arguments.end()});
            arguments.erase(first, arguments.end());
            arguments.insert(arguments.end(), own.begin(), own.end());
            return;
        }
    }

    /// The command that the arguments have reached.
    [[nodiscard]] CLI::App& innermost() {
        CLI::App* at = &app_;
        while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
        return *at;
    }

    /// "heddle model serve"
    [[nodiscard]] static std::string full_name(const CLI::App* app) {
        std::string name;
        for (; app; app = app->get_parent()) {
            if (!name.empty()) name.insert(0, " ");
            name.insert(0, app->get_name());
        }
        return name;
    }

    [[nodiscard]] static early_end mistake_of(const CLI::App& app, std::string what) {
        std::string hint = "see: " + full_name(&app) + " --help";
        std::string text = "heddle: " + what + "\n" + hint + "\n";
        return {exit_code::usage, std::move(text), std::move(what), std::move(hint)};
    }
    [[nodiscard]] early_end mistake(std::string what) {
        return mistake_of(innermost(), std::move(what));
    }

    [[nodiscard]] std::string about_extras() {
        const std::vector<std::string> left = app_.remaining(true);
        const std::string first = left.empty() ? std::string() : left.front();
        if (!first.starts_with("-")) return "unexpected argument " + first;
        std::vector<std::string> known;
        for (const CLI::Option* option : innermost().get_options()) {
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
        }
        const std::string near = lang::suggest_names(first, known);
        return "unknown option " + first + (near.empty() ? "" : "; " + near);
    }

    /// CLI11 reports "Could not convert: --timeout = abc".
    [[nodiscard]] std::string about_conversion(std::string_view what) {
        constexpr std::string_view before = "Could not convert: ";
        constexpr std::string_view between = " = ";
        const std::size_t at = what.find(between);
        if (!what.starts_with(before) || at == std::string_view::npos) return std::string(what);
        const std::string name(what.substr(before.size(), at - before.size()));
        const std::string value(what.substr(at + between.size()));
        std::string text = "invalid value '" + value + "' for " + name;
        const CLI::Option* option = innermost().get_option_no_throw(name);
        if (option && !option->get_description().empty())
            text += " (" + option->get_description() + ")";
        return text;
    }

    /// CLI11 reports "--width: must be …".
    [[nodiscard]] static std::string about_check(std::string what) {
        const std::size_t colon = what.find(": ");
        if (colon != std::string::npos) what.erase(colon, 1);
        return what;
    }

    CLI::App app_;
    std::vector<entry> entries_;
    std::vector<std::string> arguments_;
};

command_line::command_line(std::span<const command_row* const> rows)
    : state_(std::make_unique<state>(rows)) {}

command_line::~command_line() = default;

std::variant<command*, early_end> command_line::parse(std::vector<std::string> arguments,
                                                      unsigned columns) {
    return state_->parse(std::move(arguments), columns);
}

const std::vector<std::string>& command_line::arguments() const noexcept {
    return state_->arguments();
}

std::vector<command_help> command_line::help() const { return state_->help(); }

bool wants_json(const std::vector<std::string>& arguments) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    return std::find(arguments.begin(), end, "--json") != end;
}

} // namespace heddle::cli
