#include "journal/run_sources.hpp"

#include "sources/digest_text.hpp"

#include <heddle/rows/row.hpp>
#include <heddle/setup/input_files.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::string_view import_prefix = "the imported file ";
constexpr std::string_view template_prefix = "the templates of ";

const store::manifest_entry* find_entry(const std::vector<store::manifest_entry>& entries,
                                        std::string_view name) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& each) { return each.name == name; });
    return found == entries.end() ? nullptr : &*found;
}

bool is_file(const store::manifest_entry& entry) {
    return entry.name.starts_with(import_prefix) || entry.name.starts_with(template_prefix);
}

bool is_forgotten(const store::manifest_entry& entry) { return entry.digest.empty(); }

bool import_has_changed(const store::manifest_entry& entry) {
    const auto text = setup::read_input_file(entry.name.substr(import_prefix.size()));
    return !text || digest_text(*text) != entry.digest;
}

} // namespace

std::string digest_text(std::string_view content) {
    return hex_of(rows::digest_of_content(content));
}

const std::string* text_of_entry(const std::vector<store::manifest_entry>& entries,
                                 std::string_view name) {
    const store::manifest_entry* found = find_entry(entries, name);
    return found ? &found->text : nullptr;
}

void run_sources::add_text(std::string name, std::string text) {
    std::string digest = digest_text(text);
    all_.push_back({std::move(name), std::move(digest), std::move(text)});
}

void run_sources::add_templates(const std::string& file, std::string text) {
    add_text(std::string(template_prefix) + file, std::move(text));
}

void run_sources::add_setting(std::string name, std::string_view content) {
    all_.push_back({std::move(name), digest_text(content), {}});
}

store::manifest_entry run_sources::import_of(const std::string& file, const std::string& text) {
    return {std::string(import_prefix) + file, digest_text(text), text};
}

std::vector<store::manifest_entry> run_sources::forgotten(
    const std::vector<store::manifest_entry>& before) {
    std::vector<store::manifest_entry> all;
    for (const store::manifest_entry& each : before) {
        if (is_file(each)) all.push_back({each.name, {}, {}});
    }
    return all;
}

std::string run_sources::changes_since(const std::vector<store::manifest_entry>& before) const {
    std::vector<std::string> changed;
    for (const store::manifest_entry& each : all_) {
        const store::manifest_entry* earlier = find_entry(before, each.name);
        if (!earlier || earlier->digest != each.digest) changed.push_back(each.name);
    }
    for (const store::manifest_entry& each : before) {
        if (is_forgotten(each)) continue;
        const bool is_gone = each.name.starts_with(template_prefix) && !find_entry(all_, each.name);
        const bool differs = each.name.starts_with(import_prefix) && import_has_changed(each);
        if (is_gone || differs) changed.push_back(each.name);
    }
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, changed.size()); ++i) {
        text += (i == 0 ? "" : ", ") + changed[i];
    }
    if (changed.size() > most) text += " and " + std::to_string(changed.size() - most) + " more";
    return text;
}

} // namespace heddle::cli
