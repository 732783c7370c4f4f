// `heddle help`
#include "command_line/command.hpp"
#include "command_line/command_line.hpp"
#include "offline_session.hpp"
#include "report_error.hpp"

#include <heddle/lang/help.hpp>
#include <heddle/lang/realm.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

class help_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("COMMAND", words_,
                    "Command to describe, such as run or model serve, or name of the language");
        to.flag("--man", man_, "Print the manual page of all commands, for man -l -");
    }
    std::optional<std::string> mistake() override {
        if (man_ && !words_.empty()) return "--man describes all commands; give none";
        return std::nullopt;
    }
    exit_code run(command_context context) override {
        const std::vector<command_help> all = context.program.help();
        if (man_) {
            context.output.out_data(man_page(all));
            return exit_code::done;
        }
        std::string name = "heddle";
        for (const std::string& word : words_) name += " " + word;
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const command_help& each) { return each.name == name; });
        if (found == all.end()) {
            if (report_name(context.output)) return exit_code::done;
            return report_unknown(name, all, context.output);
        }
        const console_traits& traits = context.output.traits();
        context.output.out(help_text(*found, all, traits.out_is_terminal ? traits.columns : 100));
        return exit_code::done;
    }

private:
    /// Prints the help of a form, builtin or function of the language. False: it has no such name.
    [[nodiscard]] bool report_name(console& output) const {
        if (words_.size() != 1) return false;
        const auto language = offline_session::create();
        if (!language) return false;
        lang::realm& realm = (*language)->realm();
        const auto entry = lang::describe(realm, words_[0]);
        if (entry) output.out(lang::help_text(realm, *entry));
        return entry.has_value();
    }

    [[nodiscard]] exit_code report_unknown(const std::string& name,
                                           const std::vector<command_help>& all,
                                           console& output) const {
        // Without the name of the program, which would make short names near to one another.
        const std::size_t begin = all.front().name.size() + 1;
        std::vector<std::string> known;
        for (const command_help& each : all) {
            if (&each != &all.front()) known.push_back(each.name.substr(begin));
        }
        std::string hint = lang::suggest_names(name.substr(begin), known);
        if (hint.empty()) hint = "see: heddle help";
        return report_usage_error(
            error(errc::invalid_argument, "there is no command or name '" + name + "'")
                .with_hint(hint),
            false, output);
    }

    std::vector<std::string> words_;
    bool man_ = false;
};

constexpr command_row rows[] = {{
    .name = "help",
    .summary = "Describe a command or a name of the language",
    .details =
        R"(Without a command, describes the program. Commands take precedence over names of the language.

Examples:
  heddle help run
  heddle help model serve
  heddle help map
  heddle help --man | man -l -)",
    .group = command_group::other,
    .make = &make_command<help_work>,
}};

} // namespace

std::span<const command_row> help_commands() noexcept { return rows; }

} // namespace heddle::cli
