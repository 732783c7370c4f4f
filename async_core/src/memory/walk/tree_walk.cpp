#include "memory/walk/tree_walk.hpp"

#include "memory/walk/file_text.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/memory/ignore_rules.hpp>

#include <algorithm>

namespace heddle::memory {

namespace {

using ports::entry_kind;
using ports::tree_entry;

constexpr std::size_t max_warnings = 20;
constexpr std::size_t max_ignore_file_bytes = 1024 * 1024;
constexpr std::size_t max_path_length = 4096;

/// A .gitignore file and the folder (relative, "" or ending in "/") that it speaks of.
struct ignore_level {
    std::string folder;
    std::shared_ptr<const ignore_list> rules;
    std::shared_ptr<const ignore_level> above;
};
using levels = std::shared_ptr<const ignore_level>;

struct pending_folder {
    std::string relative; ///< "" or ending in "/"
    std::size_t depth = 0;
    levels rules;
};

[[nodiscard]] ignore_list list_of(const std::vector<std::string>& patterns) {
    std::string text;
    for (const std::string& pattern : patterns) text += pattern + '\n';
    return ignore_list(text);
}

class walker {
public:
    walker(const ports::tree_port& tree, const index_options& options, bool repository,
           const std::atomic<bool>& abandoned)
        : tree_(tree), options_(options), repository_(repository), abandoned_(abandoned),
          include_(list_of(options.include)), exclude_(list_of(options.exclude)),
          root_(options.root == "/" ? "/" : options.root + "/") {}

    result<walk_outcome> run() {
        std::vector<pending_folder> open;
        open.push_back({"", 0, outer_rules()});
        while (!open.empty()) {
            if (abandoned_.load(std::memory_order_relaxed)) {
                return error::cancelled(cancel_reason::user);
            }
            const pending_folder folder = std::move(open.back());
            open.pop_back();
            auto entries =
                tree_.list(without_slash(root_ + folder.relative), options_.max_folder_entries);
            if (!entries) {
                if (folder.relative.empty()) return std::move(entries).error();
                leave_out(entries.error().message(),
                          entries.error().code() != make_error_code(errc::not_found));
                continue;
            }
            const std::size_t first = open.size();
            if (!look_at(folder, *entries, open)) break;
            // The first folder is the next to be walked.
            std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
        }
        return std::move(outcome_);
    }

private:
    [[nodiscard]] static std::string without_slash(std::string path) {
        if (path.size() > 1 && path.ends_with('/')) path.pop_back();
        return path;
    }

    void leave_out(std::string why, bool incomplete = true) {
        outcome_.complete = outcome_.complete && !incomplete;
        add_warning(outcome_.warnings, std::move(why));
    }

    [[nodiscard]] levels outer_rules() const {
        if (!repository_) return nullptr;
        const auto text = tree_.read(root_ + ".git/info/exclude", max_ignore_file_bytes);
        if (!text) return nullptr;
        return std::make_shared<ignore_level>(
            ignore_level{"", std::make_shared<ignore_list>(*text), nullptr});
    }

    [[nodiscard]] levels rules_in(const pending_folder& folder,
                                  const std::vector<tree_entry>& entries) {
        if (!options_.honour_gitignore) return folder.rules;
        const auto found = std::lower_bound(
            entries.begin(), entries.end(), std::string_view(".gitignore"),
            [](const tree_entry& one, std::string_view name) { return one.name < name; });
        if (found == entries.end() || found->name != ".gitignore" ||
            found->kind != entry_kind::file) {
            return folder.rules;
        }
        const auto text = tree_.read(root_ + folder.relative + ".gitignore", max_ignore_file_bytes);
        if (!text) {
            leave_out(text.error().message(), false);
            return folder.rules;
        }
        auto rules = std::make_shared<ignore_list>(*text);
        if (rules->empty()) return folder.rules;
        return std::make_shared<ignore_level>(
            ignore_level{folder.relative, std::move(rules), folder.rules});
    }

    /// The innermost file that has something to say decides.
    [[nodiscard]] static bool ignored(const levels& rules, std::string_view relative,
                                      bool is_folder) {
        for (const ignore_level* one = rules.get(); one; one = one->above.get()) {
            const auto found = one->rules->look_up(relative.substr(one->folder.size()), is_folder);
            if (found != ignore_list::verdict::none) {
                return found == ignore_list::verdict::ignored;
            }
        }
        return false;
    }

    /// True when the file or a folder above it is named by options.include.
    [[nodiscard]] bool included(std::string_view relative) const {
        if (include_.empty()) return true;
        for (std::size_t slash = relative.find('/'); slash != std::string_view::npos;
             slash = relative.find('/', slash + 1)) {
            if (include_.look_up(relative.substr(0, slash), true) ==
                ignore_list::verdict::ignored) {
                return true;
            }
        }
        return include_.look_up(relative, false) == ignore_list::verdict::ignored;
    }

    [[nodiscard]] bool is_repository_inside(const pending_folder& folder,
                                            const std::vector<tree_entry>& entries) const {
        if (!repository_ || folder.relative.empty()) return false;
        return std::any_of(entries.begin(), entries.end(),
                           [](const tree_entry& one) { return one.name == ".git"; });
    }

    /// False when the walk has to end.
    bool look_at(const pending_folder& folder, const std::vector<tree_entry>& entries,
                 std::vector<pending_folder>& open) {
        if (is_repository_inside(folder, entries)) return true;
        const levels rules = rules_in(folder, entries);
        for (const tree_entry& entry : entries) {
            const bool is_folder = entry.kind == entry_kind::folder;
            if (!is_folder && entry.kind != entry_kind::file) continue;
            const std::string relative = folder.relative + entry.name;
            if (entry.name == ".git" || entry.name == ".hg" || entry.name == ".svn") continue;
            if (ignored(rules, relative, is_folder) ||
                exclude_.look_up(relative, is_folder) == ignore_list::verdict::ignored) {
                continue;
            }
            if (!utf8::is_valid(entry.name)) {
                leave_out("a name in \"" + without_slash(root_ + folder.relative) +
                              "\" is not UTF-8: left out",
                          false);
                continue;
            }
            if (is_folder) {
                add_folder(folder, relative, rules, open);
            } else if (included(relative)) {
                if (!add_file(relative, entry)) return false;
            }
        }
        return true;
    }

    void add_folder(const pending_folder& parent, const std::string& relative, const levels& rules,
                    std::vector<pending_folder>& open) {
        if (parent.depth >= options_.max_depth ||
            root_.size() + relative.size() > max_path_length) {
            leave_out("\"" + root_ + utf8::shortened(relative, 200) + "\" is too deep: left out");
            return;
        }
        if (++folders_ > options_.max_files) {
            if (folders_ == options_.max_files + 1) {
                leave_out("more than " + std::to_string(options_.max_files) +
                          " folders: the rest is left out");
            }
            return;
        }
        open.push_back({relative + "/", parent.depth + 1, rules});
    }

    bool add_file(const std::string& relative, const tree_entry& entry) {
        if (entry.bytes > options_.max_file_bytes) {
            ++outcome_.skipped_large;
            return true;
        }
        if (outcome_.files.size() >= options_.max_files) {
            leave_out("more than " + std::to_string(options_.max_files) +
                      " files: the rest is left out");
            return false;
        }
        outcome_.files.push_back({root_ + relative, {entry.modified_ns, entry.bytes}});
        return true;
    }

    const ports::tree_port& tree_;
    const index_options& options_;
    bool repository_;
    const std::atomic<bool>& abandoned_;
    ignore_list include_;
    ignore_list exclude_;
    std::string root_; ///< ends in "/"
    std::size_t folders_ = 0;
    walk_outcome outcome_;
};

} // namespace

void add_warning(std::vector<std::string>& warnings, std::string text) {
    if (warnings.size() < max_warnings) warnings.push_back(std::move(text));
}

result<walk_outcome> walk_tree(const ports::tree_port& tree, const index_options& options,
                               bool repository, const std::atomic<bool>& abandoned) {
    return walker(tree, options, repository, abandoned).run();
}

result<std::string> repository_of(const ports::tree_port& tree, std::string folder) {
    const std::string began = folder;
    for (;;) {
        if (tree.resolve((folder == "/" ? "" : folder) + "/.git")) return folder;
        if (folder == "/") {
            return error(errc::not_found, "\"" + began + "\" is in no Git repository")
                .with_hint("index it as a directory");
        }
        const std::size_t slash = folder.rfind('/');
        folder.resize(slash == 0 ? 1 : slash);
    }
}

} // namespace heddle::memory
