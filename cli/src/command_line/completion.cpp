// Scripts that complete commands and options in a shell.
#include "command_line/command_help.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

bool is_visible(const command_help& of) { return of.group != command_group::hidden; }

/// The words behind `of` in a script: its commands, or its options.
std::string words_of(const command_help& of, const std::vector<command_help>& all) {
    std::string words;
    for (const std::string& child : of.children) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const command_help& each) {
            return each.name == of.name + " " + child;
        });
        if (found != all.end() && is_visible(*found)) words += child + " ";
    }
    for (const option_help& option : of.options) {
        if (option.is_argument) continue;
        for (const std::string& name : option.names) words += name + " ";
    }
    if (!words.empty()) words.pop_back();
    return words;
}

/// A text in single quotes of a shell; `escape` is what stands for a quote in it.
std::string quoted(std::string_view text, std::string_view escape) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') out += escape;
        else if (c != '\n') out += c;
    }
    return out + "'";
}

std::string for_bash(const std::vector<command_help>& all) {
    std::string out =
        "# bash completion for heddle\n_heddle() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} path=heddle word words\n"
        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
        "        case \"$path $word\" in\n";
    for (const command_help& each : all) {
        if (is_visible(each) && &each != &all.front())
            out += "            '" + each.name + "') path='" + each.name + "' ;;\n";
    }
    out += "        esac\n    done\n    case $path in\n";
    for (const command_help& each : all) {
        if (is_visible(each))
            out += "        '" + each.name + "') words='" + words_of(each, all) + "' ;;\n";
    }
    out +=
        "    esac\n"
        "    COMPREPLY=()\n"
        "    if [[ $current == -* || $path == heddle ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "    else\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"${words%%-*}\" -- \"$current\"; "
        "compgen -f -- \"$current\")\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _heddle heddle\n";
    return out;
}

std::string for_zsh(const std::vector<command_help>& all) {
    std::string out =
        "#compdef heddle\n# zsh completion for heddle\n_heddle() {\n"
        "    local at=heddle word\n" // path would be the PATH of the shell
        "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
        "        case \"$at $word\" in\n";
    for (const command_help& each : all) {
        if (is_visible(each) && &each != &all.front())
            out += "            '" + each.name + "') at='" + each.name + "' ;;\n";
    }
    out += "        esac\n    done\n    local -a found\n    case $at in\n";
    for (const command_help& each : all) {
        if (!is_visible(each)) continue;
        out += "        '" + each.name + "') found=(";
        for (const std::string& child : each.children) {
            const auto row = std::find_if(all.begin(), all.end(), [&](const command_help& other) {
                return other.name == each.name + " " + child;
            });
            if (row != all.end() && is_visible(*row))
                out += quoted(child + ":" + row->summary, "'\\''") + " ";
        }
        for (const option_help& option : each.options) {
            if (option.is_argument) continue;
            for (const std::string& name : option.names)
                out += quoted(name + ":" + option.description, "'\\''") + " ";
        }
        out += ") ;;\n";
    }
    out +=
        "    esac\n    _describe 'heddle' found\n    [[ $at == heddle ]] || _files\n}\n"
        "_heddle \"$@\"\n";
    return out;
}

std::string for_fish(const std::vector<command_help>& all) {
    // Which command the whole words before the one that is typed name, the program by any name.
    std::string out =
        "# fish completion for heddle\n"
        "function __heddle_at\n"
        "    set -l at heddle\n"
        "    set -l typed (commandline -opc)\n"
        "    set -e typed[1]\n"
        "    for word in $typed\n"
        "        switch \"$at $word\"\n"
        "            case";
    for (const command_help& each : all) {
        if (is_visible(each) && &each != &all.front()) out += " " + quoted(each.name, "\\'");
    }
    out +=
        "\n                set at \"$at $word\"\n"
        "        end\n"
        "    end\n"
        "    test \"$at\" = \"$argv\"\n"
        "end\n"
        "complete -c heddle -f -n '__heddle_at heddle'\n";
    for (const command_help& each : all) {
        if (!is_visible(each)) continue;
        const std::string condition = "__heddle_at " + each.name;
        for (const std::string& child : each.children) {
            const auto row = std::find_if(all.begin(), all.end(), [&](const command_help& other) {
                return other.name == each.name + " " + child;
            });
            if (row != all.end() && is_visible(*row))
                out += "complete -c heddle -n " + quoted(condition, "\\'") + " -a " + child +
                       " -d " + quoted(row->summary, "\\'") + "\n";
        }
        for (const option_help& option : each.options) {
            if (option.is_argument) continue;
            out += "complete -c heddle -n " + quoted(condition, "\\'");
            for (const std::string& name : option.names)
                out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            if (!option.value.empty()) out += " -r";
            out += " -d " + quoted(option.description, "\\'") + "\n";
        }
    }
    return out;
}

} // namespace

std::string completion_script(std::string_view shell, const std::vector<command_help>& all) {
    if (shell == "bash") return for_bash(all);
    if (shell == "zsh") return for_zsh(all);
    if (shell == "fish") return for_fish(all);
    return {};
}

} // namespace heddle::cli
