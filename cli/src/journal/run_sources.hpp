// What a run depends on besides the world: its sources and settings.
#pragma once

#include <heddle/store/run_store.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// Entries of the manifest of a run, named for people: "the workflow w.heddle", "--model".
class run_sources {
public:
    /// With its text, for replays.
    void add_text(std::string name, std::string text);
    /// A file of templates.
    void add_templates(const std::string& file, std::string text);
    /// Only its digest is kept.
    void add_setting(std::string name, std::string_view content);
    [[nodiscard]] const std::vector<store::manifest_entry>& all() const noexcept { return all_; }

    /// What has changed since `before` was noted, "the inputs, --model"; empty: nothing.
    /// Imports are compared with the files as they are now.
    [[nodiscard]] std::string changes_since(const std::vector<store::manifest_entry>& before) const;

    /// What replaces the entries of files in a run that begins anew: it may not need them.
    [[nodiscard]] static std::vector<store::manifest_entry> forgotten(
        const std::vector<store::manifest_entry>& before);

    /// The entry of an imported file.
    [[nodiscard]] static store::manifest_entry import_of(const std::string& file,
                                                         const std::string& text);

private:
    std::vector<store::manifest_entry> all_;
};

/// "0123…": 32 hex digits.
[[nodiscard]] std::string digest_text(std::string_view content);
/// The text of the entry with that name; null: there is none.
[[nodiscard]] const std::string* text_of_entry(const std::vector<store::manifest_entry>& entries,
                                               std::string_view name);

} // namespace heddle::cli
