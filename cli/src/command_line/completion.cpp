// Scripts that complete commands, options and arguments in a shell.
#include "command_line/command_help.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::cli {

namespace {

/// What may come behind the words that name a command.
struct position {
    struct candidate {
        std::string word;
        std::string summary;
    };
    std::string words; ///< "heddle tasks", "heddle help tasks"
    std::vector<candidate> candidates;
    std::vector<option_help> options; ///< without arguments
    bool takes_files = false;
};

bool is_visible(const command_help& of) { return of.group != command_group::hidden; }

/// A text in single quotes of a shell; `escape` is what replaces a quote in it.
std::string quoted(std::string_view text, std::string_view escape) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') out += escape;
        else if (c != '\n') out += c;
    }
    return out + "'";
}

/// Sets a variable of the script to the options whose values are files.
std::string file_options(const position& of) {
    std::string names;
    for (const option_help& option : of.options) {
        if (option.value != "FILE" && option.value != "DIR" && option.value != "PATH") continue;
        for (const std::string& name : option.names) names += name + " ";
    }
    return names.empty() ? names : " file_options=' " + names + "'";
}

/// The case of a `case` in bash and zsh for each position but the first: it is reached by its
/// words.
std::string ways(const std::vector<position>& all) {
    std::string out;
    for (const position& each : all) {
        if (&each != &all.front())
            out += "            '" + each.words + "') at='" + each.words + "' ;;\n";
    }
    return out;
}

std::string for_bash(const std::vector<position>& all) {
    std::string out =
        "# bash completion for heddle\n_heddle() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} at=heddle word words options files= file_options=\n"
        "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case \"$at $word\" in\n" +
        ways(all) + "        esac\n    done\n    case $at in\n";
    for (const position& each : all) {
        std::string words;
        for (const auto& [word, summary] : each.candidates)
            words += (words.empty() ? "" : " ") + word;
        std::string options;
        for (const option_help& option : each.options) {
            for (const std::string& name : option.names)
                options += (options.empty() ? "" : " ") + name;
        }
        out += "        '" + each.words + "') words='" + words + "' options='" + options + "'" +
               file_options(each) + (each.takes_files ? " files=1" : "") + " ;;\n";
    }
    out +=
        "    esac\n"
        "    COMPREPLY=()\n"
        "    [[ $current == -* || $at == heddle ]] && words+=\" $options\"\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "    [[ $file_options == *\" $before \"* ]] && files=1\n"
        "    if [[ $files && $current != -* ]]; then\n"
        "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$current\")\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _heddle heddle\n";
    return out;
}

std::string for_zsh(const std::vector<position>& all) {
    std::string out =
        "#compdef heddle\n# zsh completion for heddle\n_heddle() {\n"
        "    local at=heddle word files= file_options=\n" // path would be the PATH of the shell
        "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
        "        case \"$at $word\" in\n" +
        ways(all) + "        esac\n    done\n    local -a found\n    case $at in\n";
    for (const position& each : all) {
        out += "        '" + each.words + "') found=(";
        for (const auto& [word, summary] : each.candidates)
            out += quoted(summary.empty() ? word : word + ":" + summary, "'\\''") + " ";
        for (const option_help& option : each.options) {
            for (const std::string& name : option.names)
                out += quoted(name + ":" + option.description, "'\\''") + " ";
        }
        out += ")" + file_options(each) + (each.takes_files ? " files=1" : "") + " ;;\n";
    }
    out +=
        "    esac\n    _describe 'heddle' found\n"
        "    [[ -z $files && $file_options != *\" ${words[CURRENT-1]} \"* ]] || _files\n}\n"
        "_heddle \"$@\"\n";
    return out;
}

std::string for_fish(const std::vector<position>& all) {
    // Where the whole words before the one that is typed lead, the program by any name.
    std::string out =
        "# fish completion for heddle\n"
        "function __heddle_at\n"
        "    set -l at heddle\n"
        "    set -l typed (commandline -opc)\n"
        "    set -e typed[1]\n"
        "    for word in $typed\n"
        "        switch \"$at $word\"\n"
        "            case";
    for (const position& each : all) {
        if (&each != &all.front()) out += " " + quoted(each.words, "\\'");
    }
    out +=
        "\n                set at \"$at $word\"\n"
        "        end\n"
        "    end\n"
        "    test \"$at\" = \"$argv\"\n"
        "end\n";
    for (const position& each : all) {
        const std::string line = "complete -c heddle -n '__heddle_at " + each.words + "'";
        if (!each.takes_files) out += line + " -f\n";
        for (const auto& [word, summary] : each.candidates) {
            out += line + " -a " + word;
            if (!summary.empty()) out += " -d " + quoted(summary, "\\'");
            out += "\n";
        }
        for (const option_help& option : each.options) {
            out += line;
            for (const std::string& name : option.names)
                out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.value.empty()) out += " -r -F"; // most values are files
            out += " -d " + quoted(option.description, "\\'") + "\n";
        }
    }
    return out;
}

using script_maker = std::string (*)(const std::vector<position>&);
constexpr std::array<std::pair<std::string_view, script_maker>, 3> shells{
    {{"bash", &for_bash}, {"zsh", &for_zsh}, {"fish", &for_fish}}};

/// The commands of `of`, without hidden ones.
std::vector<position::candidate> commands_of(const command_help& of,
                                             const std::vector<command_help>& all) {
    std::vector<position::candidate> candidates;
    for (const std::string& child : of.children) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const command_help& each) {
            return each.name == of.name + " " + child;
        });
        if (found != all.end() && is_visible(*found)) candidates.push_back({child, found->summary});
    }
    return candidates;
}

/// What follows `all.front().name` in the name of each other command.
std::vector<std::pair<std::string, const command_help*>> names_of_commands(
    const std::vector<command_help>& all) {
    std::vector<std::pair<std::string, const command_help*>> pairs;
    const std::size_t begin = all.front().name.size();
    for (const command_help& each : all) {
        if (is_visible(each) && &each != &all.front()) {
            pairs.emplace_back(each.name.substr(begin), &each);
        }
    }
    return pairs;
}

/// Adds where the words of one command lead. The names of its arguments have the same meaning in
/// all commands: COMMAND is a command of the program, word by word; SHELL is one that has a script.
void add_positions(const command_help& of, const std::vector<command_help>& all,
                   std::vector<position>& into) {
    position result;
    result.words = of.name;
    result.candidates = commands_of(of, all);
    bool has_argument = false;
    bool names_command = false;
    bool names_shell = false;
    for (const option_help& option : of.options) {
        if (!option.is_argument) {
            result.options.push_back(option);
            continue;
        }
        has_argument = true;
        names_command = names_command || option.names.front() == "COMMAND";
        names_shell = names_shell || option.names.front() == "SHELL";
    }
    result.takes_files = has_argument && !names_command && !names_shell;
    if (names_command) result.candidates = commands_of(all.front(), all);
    if (names_shell) {
        for (const auto& [name, maker] : shells)
            result.candidates.push_back({std::string(name), ""});
    }
    into.push_back(std::move(result));
    if (!names_command) return;
    for (const auto& [name, command] : names_of_commands(all)) {
        into.push_back({of.name + name, commands_of(*command, all), {}, false});
    }
}

} // namespace

std::string completion_script(std::string_view shell, const std::vector<command_help>& all) {
    const auto found = std::find_if(shells.begin(), shells.end(),
                                    [&](const auto& each) { return each.first == shell; });
    if (found == shells.end() || all.empty()) return {};
    std::vector<position> positions;
    for (const command_help& each : all) {
        if (is_visible(each)) add_positions(each, all, positions);
    }
    return found->second(positions);
}

} // namespace heddle::cli
