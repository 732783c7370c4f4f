#include "rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace heddle::checks {
namespace {

using names = std::set<std::string, std::less<>>;

// The layers. An area of async_core and a library outside of it may include the public headers of
// those on its right, and its own. The same arrows stand in the CMakeLists.txt files.
const std::map<std::string, names, std::less<>> may_include{
    {"base", {}},
    {"lang", {"base"}},
    {"coro", {"base"}},
    {"ports", {"base", "coro"}},
    {"memory", {"base", "coro", "ports"}},
    {"host", {"base", "lang", "coro", "ports"}},
    {"tasks", {"base", "lang", "coro", "ports", "host", "memory"}},
    {"io", {"base", "coro", "ports"}},
    {"providers", {"base", "coro", "ports"}},
    {"scripted", {"base", "coro", "ports", "io", "providers"}},
    {"embed",
     {"base", "lang", "coro", "ports", "memory", "host", "tasks", "io", "providers", "scripted",
      "setup"}},
    {"setup",
     {"base", "lang", "coro", "ports", "memory", "host", "tasks", "io", "providers", "scripted"}},
    {"cli",
     {"base", "lang", "coro", "ports", "memory", "host", "tasks", "io", "providers", "scripted",
      "setup", "embed"}},
};

// Third-party headers by the beginning of their path, and the folders that may include them.
// Tests and examples may include all of them.
struct third_party {
    std::string_view prefix;
    std::vector<std::string_view> folders;
    std::string_view how_to_mend;
};
const std::vector<third_party> third_parties{
    {"boost/asio.hpp", {}, "include the headers of Asio that are used, one by one"},
    {"boost/asio/experimental/", {"async_core/src/coro/"}, "use a nursery"},
    {"boost/asio/ssl", {"io/src/"}, "go through heddle/ports/http_port.hpp"},
    {"boost/asio/",
     {"async_core/include/heddle/coro/", "async_core/src/coro/", "async_core/include/heddle/ports/",
      "async_core/src/ports/", "async_core/include/heddle/host/", "async_core/src/host/",
      "async_core/include/heddle/tasks/", "async_core/src/tasks/", "io/", "providers/", "setup/",
      "embed/", "cli/"},
     "base and lang know nothing of waiting: return an effect and let host perform it"},
    {"boost/beast", {"io/src/"}, "go through heddle/ports/http_port.hpp"},
    {"openssl/", {"io/src/"}, "keep it behind an interface of io"},
    {"zlib.h", {"io/src/"}, "keep it behind an interface of io"},
    {"zstd.h", {"io/src/"}, "keep it behind an interface of io"},
    {"pugixml", {"async_core/src/tasks/"}, "XML is read in one .cpp of tasks"},
    {"sqlite3", {"io/src/store/"}, "the store is one .cpp of io"},
    {"spdlog/", {"cli/src/"}, "write to heddle/base/log.hpp"},
    {"fmt/", {"cli/src/"}, "append to a std::string"},
    {"CLI/", {"cli/src/"}, "options are parsed in cli"},
    {"re2/",
     {"async_core/src/", "providers/src/", "providers/scripted/src/", "io/src/"},
     "keep it out of public headers"},
    {"boost/json/fwd.hpp",
     {"async_core/", "providers/", "setup/", "cli/", "io/"},
     "keep it out of this folder"},
    {"boost/json",
     {"async_core/src/", "providers/src/", "providers/scripted/src/", "setup/src/", "embed/src/",
      "cli/src/", "io/src/rows/"},
     "keep it out of public headers: pass bytes or values"},
};

// What a public header may show of others.
const std::vector<std::string_view> public_third_party{
    "boost/system/",
    "boost/smart_ptr/",
    "boost/asio/any_completion_executor.hpp",
    "boost/asio/any_completion_handler.hpp",
    "boost/asio/any_io_executor.hpp",
    "boost/asio/associated_executor.hpp",
    "boost/asio/async_result.hpp",
    "boost/asio/awaitable.hpp",
    "boost/asio/cancellation_signal.hpp",
    "boost/asio/execution/",
    "boost/asio/io_context.hpp",
    "boost/asio/require.hpp",
    "boost/asio/use_awaitable.hpp",
    "boost/describe/",
    "boost/json/fwd.hpp",
    "boost/mp11/",
};

const names single_file_headers{"pugixml.hpp", "sqlite3.h"};

template <class Range>
bool any_prefix(std::string_view text, const Range& prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return text.starts_with(prefix); });
}

std::string joined(const names& list) {
    std::string text;
    for (const auto& name : list) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "nothing" : text;
}

// The layer that a file belongs to: the area in async_core, else the library.
std::string_view layer_of(const source_file& file) {
    if (file.path.starts_with("providers/scripted/")) return "scripted";
    return file.library() == "async_core" ? file.area() : file.library();
}

class include_check {
public:
    include_check(const std::vector<source_file>& files, std::vector<finding>& findings)
        : findings_(findings) {
        // heddle/<folder>/ belongs to the layer that has such a folder of public headers.
        for (const auto& file : files) {
            if (file.is_public_header()) folder_owner_[std::string(file.area())] = layer_of(file);
        }
    }

    void check(const source_file& file) {
        const bool ours = may_include.contains(layer_of(file));
        if (file.library() == "async_core" && file.is_cpp() && !ours) {
            findings_.push_back(
                {file.path, 1, "layers", "an area without a row in the table of layers",
                 "add it to may_include in tests/checks/source_check/include_rules.cpp"});
            return;
        }
        for (const auto& include : file.includes) {
            if (!ours) continue;
            check_layer(file, include);
            check_third_party(file, include);
        }
        for (const auto& include : file.includes) check_single(file, include);
    }

private:
    void add(const source_file& file, const include_line& include, std::string rule,
             std::string what, std::string how) {
        findings_.push_back({file.path, include.line, std::move(rule),
                             "#include of " + include.path + ": " + std::move(what),
                             std::move(how)});
    }

    void check_layer(const source_file& file, const include_line& include) {
        const std::string_view layer = layer_of(file);
        std::string_view path = include.path;
        const bool public_path = path.starts_with("heddle/");
        if (public_path) path.remove_prefix(7);
        const auto slash = path.find('/');
        if (slash == std::string_view::npos && !public_path) return;
        // heddle/runtime.hpp: the door of embed has no folder.
        const std::string folder(slash == std::string_view::npos ? "embed" : path.substr(0, slash));

        if (!public_path) {
            // "lang/machine/interpreter.hpp": a private header, which only its own area may see.
            if (include.quoted && file.library() == "async_core" && may_include.contains(folder) &&
                folder != layer) {
                add(file, include, "private-header", "it is private to " + folder,
                    "use or add a public header in include/heddle/" + folder);
            }
            return;
        }
        const auto owner = folder_owner_.find(folder);
        const std::string target(owner == folder_owner_.end() ? folder : owner->second);
        const auto& allowed = may_include.find(layer)->second;
        if (target == layer || allowed.contains(target)) return;
        add(file, include, "layers", std::string(layer) + " may include " + joined(allowed),
            "move the code to a layer that may, or put an interface into ports");
    }

    void check_third_party(const source_file& file, const include_line& include) {
        for (const auto& party : third_parties) {
            if (!include.path.starts_with(party.prefix)) continue;
            if (!any_prefix(file.path, party.folders)) {
                add(file, include, "third-party", "not in this folder",
                    std::string(party.how_to_mend));
                return;
            }
            break; // the first row that fits holds
        }
        const bool third = include.path.find('/') != std::string::npos &&
                           !include.path.starts_with("heddle/") && !include.quoted;
        if (third && file.is_public_header() && !include.path.starts_with("sys/") &&
            !any_prefix(include.path, public_third_party)) {
            add(file, include, "public-header", "public headers do not show it",
                "include it in a .cpp and hide the type (pimpl or an interface)");
        }
    }

    void check_single(const source_file& file, const include_line& include) {
        if (!single_file_headers.contains(include.path)) return;
        const auto [seen, first] = single_.try_emplace(include.path, file.path);
        if (file.is_header()) {
            add(file, include, "single-file", "it belongs into one .cpp",
                "declare what you need yourself");
        } else if (!first && seen->second != file.path) {
            add(file, include, "single-file", "already in " + seen->second,
                "call that file's functions");
        }
    }

    std::vector<finding>& findings_;
    std::map<std::string, std::string, std::less<>> folder_owner_;
    std::map<std::string, std::string, std::less<>> single_;
};

} // namespace

void check_includes(const std::vector<source_file>& files, std::vector<finding>& findings) {
    include_check check(files, findings);
    for (const auto& file : files) check.check(file);
}

} // namespace heddle::checks
