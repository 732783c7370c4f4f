// The drawings of ARCHITECTURE.md show what includes what, and no arrow runs back up.
#include "rules.hpp"

#include <algorithm>
#include <filesystem>
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

/// Names of boxes, by stems or paths of files.
using boxes = std::map<std::string, std::string, std::less<>>;

/// A folder of code, with the folders in it.
struct code_folder {
    std::string path;     ///< "async_core/src/memory/"
    std::string included; ///< how an #include of its files begins: "memory/"
    std::string box;      ///< its place in the drawing; empty: boxes are named from here on
};

/// A library, or an area of async_core. Each folder in it is a box, whose name is its path, also
/// one that lies in another: `batch/rows`.
struct component {
    std::string name;
    std::vector<code_folder> folders;
    /// Of files that lie beside the folders. A public header that is not here belongs to the box
    /// of its source.
    boxes beside;
    std::string rest = "shared"; ///< the box of other files beside the folders
};

/// An area of async_core. Its public headers lie in one folder, or in the folders of its sources.
component area_of_core(const std::string& name, boxes beside = {}, std::string rest = "shared") {
    return {name,
            {{"async_core/src/" + name + "/", name + "/", ""},
             {"async_core/include/heddle/" + name + "/", "heddle/" + name + "/", ""}},
            std::move(beside),
            std::move(rest)};
}

/// A library of one name, whose public headers lie below a folder of that name.
component library_of(const std::string& name, boxes beside = {}) {
    return {name,
            {{name + "/src/", "", ""},
             {name + "/include/heddle/" + name + "/", "heddle/" + name + "/", ""}},
            std::move(beside)};
}

/// Every part of the product. Without folders in it a component is one box, and has no drawing.
std::vector<component> components() {
    return {
        area_of_core("base"),
        // A header without a source declares data, and is a part of `value`.
        area_of_core("lang",
                     {{"check", "check"},
                      {"dump", "dump"},
                      {"frame_stack", "machine"},
                      {"layout", "layout"},
                      {"machine", "machine"},
                      {"json_bridge", "json"}},
                     "value"),
        area_of_core("coro"),
        area_of_core("ports"),
        area_of_core("memory", {{"index_options", "walk"}}, "memory"),
        area_of_core("host"),
        area_of_core("tasks"),
        {"io", {{"io/src/", "", ""}, {"io/include/heddle/", "heddle/", ""}}, {}},
        // The scripted model is a library of its own, which reads formats with the codecs' helpers.
        {"providers",
         {{"providers/src/", "", ""},
          {"providers/include/heddle/providers/", "heddle/providers/", ""},
          {"providers/scripted/src/scripted/", "scripted/", "scripted"},
          {"providers/scripted/include/heddle/scripted/", "heddle/scripted/", "scripted"}},
         {}},
        library_of("setup", {{"model_setup", "service_set"},
                             {"remote_models", "service_set"},
                             {"remote_processes", "service_set"},
                             {"service_set", "service_set"}}),
        {"embed", {{"embed/src/", "", ""}, {"embed/include/heddle/", "heddle/", ""}}, {}},
        library_of("cli", {{"main", "main"}}),
    };
}

/// The files of a component, by their boxes.
class box_table {
public:
    box_table(const component& of, const std::vector<source_file>& files) {
        for (const source_file& file : files) {
            if (file.path.ends_with(".cpp")) add(of, file);
        }
        for (const source_file& file : files) {
            if (file.has_code() && !file.path.ends_with(".cpp")) add(of, file);
        }
    }

    /// Empty: the file is not of the component.
    [[nodiscard]] std::string box_of(const source_file& file) const {
        const auto found = boxes_.find(file.path);
        return found == boxes_.end() ? std::string() : found->second;
    }
    /// Of what a line of `file` includes. As for the compiler, the folder of the file comes first.
    [[nodiscard]] std::string box_of(const source_file& file, const include_line& include) const {
        if (include.quoted) {
            const auto path = std::filesystem::path(file.path).parent_path() / include.path;
            const auto near = boxes_.find(path.lexically_normal().generic_string());
            if (near != boxes_.end()) return near->second;
        }
        const auto found = included_.find(include.path);
        return found == included_.end() ? std::string() : found->second;
    }

private:
    /// Sources come first.
    void add(const component& of, const source_file& file) {
        for (const code_folder& folder : of.folders) {
            if (!file.path.starts_with(folder.path)) continue;
            const std::string path = file.path.substr(folder.path.size());
            const std::string box = choose(of, folder, file, path);
            if (file.path.ends_with(".cpp"))
                of_sources_.emplace(folder.box + ":" + stem_of(path), box);
            boxes_.emplace(file.path, box);
            included_.emplace(folder.included + path, box);
        }
    }

    /// `path`: of the file, from the folder on.
    [[nodiscard]] std::string choose(const component& of, const code_folder& folder,
                                     const source_file& file, const std::string& path) const {
        if (const std::size_t end = path.rfind('/'); end != std::string::npos)
            return (folder.box.empty() ? "" : folder.box + "/") + path.substr(0, end);
        const std::string stem = stem_of(path);
        if (const auto named = of.beside.find(stem); named != of.beside.end()) return named->second;
        if (file.is_public_header()) {
            const auto source = of_sources_.find(folder.box + ":" + stem);
            if (source != of_sources_.end()) return source->second;
        }
        return folder.box.empty() ? of.rest : folder.box;
    }

    boxes boxes_;      ///< by the paths of files
    boxes included_;   ///< by the paths in an #include
    boxes of_sources_; ///< by the stems of sources, after the box of the folder and a colon
};

graph folders_of(const component& of, const std::vector<source_file>& files) {
    const box_table table(of, files);
    graph found;
    for (const source_file& file : files) {
        const std::string box = table.box_of(file);
        if (box.empty()) continue;
        for (const include_line& include : file.includes) {
            const std::string other = table.box_of(file, include);
            if (!other.empty() && other != box) found[box].insert(other);
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

/// The boxes as they are drawn: Mermaid reads some names as words of its own, and shows nothing
/// of a drawing that has one. Such a box is named from the component on: `tasks/call`.
graph as_drawn(const graph& arrows, const std::string& name) {
    static const std::set<std::string> words{"call",        "class",     "classDef", "click",
                                             "end",         "flowchart", "graph",    "href",
                                             "interpolate", "linkStyle", "style",    "subgraph"};
    const auto drawn_name = [&](const std::string& box) {
        return words.contains(box) ? name + "/" + box : box;
    };
    graph drawn;
    for (const auto& [node, targets] : arrows) {
        for (const std::string& target : targets)
            drawn[drawn_name(node)].insert(drawn_name(target));
    }
    return drawn;
}

/// The arrows of the drawing that begins with the comment `%% title`, and the line of that comment,
/// which may go on after a space.
graph drawn_in(const source_file& page, const std::string& title, int& line) {
    const std::string begin = "%% " + title;
    graph drawn;
    line = 0;
    int number = 0;
    std::string_view rest = page.text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
        const std::string_view row = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        ++number;
        if (row == begin || row.starts_with(begin + ' ')) line = number;
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

void compare(const source_file& page, const std::string& name, const graph& real,
             std::vector<finding>& findings) {
    const std::string title = name == "layers" ? name : "folders of " + name;
    int line = 0;
    const graph drawn = drawn_in(page, title, line);
    const auto add = [&](std::string what, std::string how) {
        findings.push_back(
            {page.path, std::max(line, 1), "drawing", std::move(what), std::move(how)});
    };
    if (const std::string circle = circle_in(real); !circle.empty()) {
        add("the includes of " + title + " run in a circle: " + circle,
            "move the code down, or put an interface below both");
        return;
    }
    const graph wanted = as_drawn(reduced(real), name);
    if (drawn != wanted)
        add("the drawing '" + title + "' is not what the includes are",
            "the arrows are:" + text_of(wanted));
}

} // namespace

void check_drawings(const std::vector<source_file>& files, std::vector<finding>& findings) {
    const auto page = std::find_if(files.begin(), files.end(), [](const source_file& file) {
        return file.path == "ARCHITECTURE.md";
    });
    if (page == files.end()) return;
    compare(*page, "layers", layers_of(files), findings);
    for (const component& each : components())
        compare(*page, each.name, folders_of(each, files), findings);
}

} // namespace heddle::checks
