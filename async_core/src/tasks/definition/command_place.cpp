#include "tasks/definition/command_place.hpp"

#include <heddle/tasks/definition/template_validation.hpp>

namespace heddle::tasks {

std::optional<std::string_view> place_in_command(std::string_view command) {
    constexpr std::string_view blank = " \t\n";
    for (std::size_t at = command.find("{{"); at != command.npos; at = command.find("{{", at + 2)) {
        const std::size_t close = command.find("}}", at);
        if (close == command.npos) return std::nullopt;
        std::string_view inside = command.substr(at + 2, close - at - 2);
        const std::size_t first = inside.find_first_not_of(blank);
        if (first == inside.npos) continue;
        inside = inside.substr(first, inside.find_last_not_of(blank) + 1 - first);
        // Programs have places of their own: {{.Names}}, {{json .}}.
        if (is_input_name(inside.substr(0, inside.find_first_of(".["))) &&
            inside.find_first_of(blank) == inside.npos)
            return command.substr(at, close + 2 - at);
    }
    return std::nullopt;
}

} // namespace heddle::tasks
