// The drawings of ARCHITECTURE.md show what includes what, and no arrow runs back up.
#include "rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::checks {
namespace {

using graph = std::map<std::string, std::set<std::string>>;

/// The first component of a path.
std::string head_of(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

std::string stem_of(std::string_view path) {
    path.remove_prefix(path.rfind('/') + 1);
    return std::string(path.substr(0, path.find('.')));
}

/// Layers: the areas of async_core, and the libraries beside it.
graph layers_of(const std::vector<source_file>& files) {
    const auto layer_of = [](const source_file& file) {
        if (file.path.starts_with("providers/scripted/")) return std::string("scripted");
        return std::string(file.library() == "async_core" ? file.area() : file.library());
    };
    const std::set<std::string, std::less<>> libraries{"async_core", "io",    "providers",
                                                       "setup",      "embed", "cli"};
    std::map<std::string, std::string, std::less<>> owners; // of folders below include/heddle
    for (const source_file& file : files) {
        if (file.is_public_header()) owners.emplace(file.area(), layer_of(file));
    }
    graph found;
    for (const source_file& file : files) {
        if (!file.is_cpp() || !libraries.contains(file.library())) continue;
        const std::string layer = layer_of(file);
        for (const include_line& include : file.includes) {
            if (!include.path.starts_with("heddle/")) continue;
            const std::string head = head_of(include.path.substr(7));
            // heddle/runtime.hpp: the door of embed has no folder.
            const auto owner = owners.find(head.ends_with(".hpp") ? "" : head);
            if (owner != owners.end() && owner->second != layer) found[layer].insert(owner->second);
        }
    }
    return found;
}

/// The folders of async_core/src/lang. A public header belongs to the folder of its source; one
/// without a source declares data, and is a part of `value`, unless it is named here.
graph folders_of_lang(const std::vector<source_file>& files) {
    constexpr std::string_view sources = "async_core/src/lang/";
    constexpr std::string_view headers = "async_core/include/heddle/lang/";
    std::map<std::string, std::string> folder_of{
        {"check", "check"},   {"dump", "dump"},       {"frame_stack", "machine"},
        {"layout", "layout"}, {"machine", "machine"}, {"json_bridge", "json"}};
    for (const source_file& file : files) {
        if (file.path.starts_with(sources) && file.path.ends_with(".cpp"))
            folder_of.emplace(stem_of(file.path), head_of(file.path.substr(sources.size())));
    }
    const auto home_of = [&](const std::string& header) {
        const auto found = folder_of.find(stem_of(header));
        return found == folder_of.end() ? std::string("value") : found->second;
    };
    graph found;
    for (const source_file& file : files) {
        const bool is_source = file.path.starts_with(sources);
        if (!is_source && !file.path.starts_with(headers)) continue;
        const std::string folder =
            is_source ? head_of(file.path.substr(sources.size())) : home_of(file.path);
        for (const include_line& include : file.includes) {
            std::string target;
            if (include.path.starts_with("heddle/lang/")) target = home_of(include.path);
            else if (include.path.starts_with("lang/")) target = head_of(include.path.substr(5));
            if (!target.empty() && target != folder) found[folder].insert(target);
        }
    }
    return found;
}

/// The folders of tasks, which are the same under include and src.
graph folders_of_tasks(const std::vector<source_file>& files) {
    graph found;
    for (const source_file& file : files) {
        for (const std::string_view root :
             {"async_core/src/tasks/", "async_core/include/heddle/tasks/"}) {
            if (!file.path.starts_with(root)) continue;
            const std::string folder = head_of(file.path.substr(root.size()));
            for (const include_line& include : file.includes) {
                std::string_view target = include.path;
                if (target.starts_with("heddle/")) target.remove_prefix(7);
                if (!target.starts_with("tasks/")) continue;
                const std::string other = head_of(target.substr(6));
                if (other != folder) found[folder].insert(other);
            }
        }
    }
    return found;
}

/// Files that lie beside the folders of a component, by their stems, and the box that they belong
/// to; all others are `shared`.
using boxes = std::map<std::string, std::string, std::less<>>;

/// The box of `path`, which is relative to `include/heddle/<component>` or `src`.
std::string box_of(std::string_view path, const boxes& beside) {
    if (path.find('/') != std::string_view::npos) return head_of(path);
    const auto found = beside.find(stem_of(path));
    return found == beside.end() ? std::string("shared") : found->second;
}

/// The folders of a component, and what lies beside them. A private header is included by its path
/// below `src`, a public one by `heddle/<component>/` and its path.
graph folders_of(std::string_view component, const std::vector<source_file>& files,
                 const boxes& beside) {
    const std::string sources = std::string(component) + "/src/";
    const std::string prefix = "heddle/" + std::string(component) + "/";
    const std::string headers = std::string(component) + "/include/" + prefix;
    std::set<std::string, std::less<>> private_headers;
    for (const source_file& file : files) {
        if (file.path.starts_with(sources)) private_headers.insert(file.path);
    }
    graph found;
    for (const source_file& file : files) {
        const bool is_source = file.path.starts_with(sources);
        if (!file.is_cpp() || (!is_source && !file.path.starts_with(headers))) continue;
        const std::string box =
            box_of(std::string_view(file.path).substr(is_source ? sources.size() : headers.size()),
                   beside);
        for (const include_line& include : file.includes) {
            std::string_view target = include.path;
            if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
            else if (!private_headers.contains(sources + include.path)) continue;
            std::string other = box_of(target, beside);
            if (other != box) found[box].insert(std::move(other));
        }
    }
    return found;
}

/// One circle, as "a -> b -> a"; empty: there is none.
std::string circle_in(const graph& arrows) {
    std::vector<std::string> path;
    std::set<std::string> done;
    std::string circle;
    const std::function<void(const std::string&)> visit = [&](const std::string& node) {
        if (!circle.empty()) return;
        const auto seen = std::find(path.begin(), path.end(), node);
        if (seen != path.end()) {
            for (auto at = seen; at != path.end(); ++at) circle += *at + " -> ";
            circle += node;
            return;
        }
        if (done.contains(node)) return;
        path.push_back(node);
        if (const auto at = arrows.find(node); at != arrows.end()) {
            for (const std::string& next : at->second) visit(next);
        }
        path.pop_back();
        done.insert(node);
    };
    for (const auto& [node, targets] : arrows) visit(node);
    return circle;
}

/// Without the arrows that follow from others. Only for a graph without circles.
graph reduced(const graph& arrows) {
    std::map<std::string, std::set<std::string>> reach;
    const std::function<const std::set<std::string>&(const std::string&)> reach_of =
        [&](const std::string& node) -> const std::set<std::string>& {
        if (const auto known = reach.find(node); known != reach.end()) return known->second;
        std::set<std::string> all;
        if (const auto at = arrows.find(node); at != arrows.end()) {
            for (const std::string& next : at->second) {
                all.insert(next);
                const std::set<std::string>& further = reach_of(next);
                all.insert(further.begin(), further.end());
            }
        }
        return reach.emplace(node, std::move(all)).first->second;
    };
    graph kept;
    for (const auto& [node, targets] : arrows) {
        for (const std::string& target : targets) {
            const bool follows =
                std::any_of(targets.begin(), targets.end(), [&](const std::string& other) {
                    return other != target && reach_of(other).contains(target);
                });
            if (!follows) kept[node].insert(target);
        }
    }
    return kept;
}

/// The arrows of the drawing that begins with the comment `%% title`, and the line of that comment.
graph drawn_in(const source_file& page, const std::string& title, int& line) {
    graph drawn;
    line = 0;
    int number = 0;
    std::string_view rest = page.text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
        const std::string_view row = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        ++number;
        if (row == "%% " + title) line = number;
        if (line == 0) continue;
        if (row.starts_with("```")) break;
        const std::size_t arrow = row.find(" --> ");
        if (arrow == std::string_view::npos) continue;
        const std::size_t from = row.find_first_not_of(' ');
        drawn[std::string(row.substr(from, arrow - from))].insert(
            std::string(row.substr(arrow + 5)));
    }
    return drawn;
}

std::string text_of(const graph& arrows) {
    std::string text;
    for (const auto& [node, targets] : arrows) {
        for (const std::string& target : targets) text += "\n        " + node + " --> " + target;
    }
    return text;
}

void compare(const source_file& page, const std::string& title, const graph& real,
             std::vector<finding>& findings) {
    int line = 0;
    const graph drawn = drawn_in(page, title, line);
    const auto add = [&](std::string what, std::string how) {
        findings.push_back(
            {page.path, std::max(line, 1), "drawing", std::move(what), std::move(how)});
    };
    if (const std::string circle = circle_in(real); !circle.empty()) {
        add("includes run in a circle: " + circle,
            "move the code down, or put an interface below both");
        return;
    }
    const graph wanted = reduced(real);
    if (drawn != wanted)
        add("the drawing '" + title + "' is not what the includes are",
            "the arrows are:" + text_of(wanted));
}

} // namespace

void check_drawings(const std::vector<source_file>& files, std::vector<finding>& findings) {
    const auto page = std::find_if(files.begin(), files.end(), [](const source_file& file) {
        return file.path == "ARCHITECTURE.md";
    });
    if (page == files.end()) return; // the samples have none
    compare(*page, "layers", layers_of(files), findings);
    compare(*page, "folders of lang", folders_of_lang(files), findings);
    compare(*page, "folders of tasks", folders_of_tasks(files), findings);
    compare(*page, "folders of setup",
            folders_of("setup", files,
                       {{"model_setup", "service_set"},
                        {"remote_models", "service_set"},
                        {"remote_processes", "service_set"},
                        {"service_set", "service_set"}}),
            findings);
    compare(*page, "folders of cli", folders_of("cli", files, {{"main", "main"}}), findings);
}

} // namespace heddle::checks
