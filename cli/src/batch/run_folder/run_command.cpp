#include "batch/run_folder/run_command.hpp"

#include "batch/request/batch_files.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/trust/file_owner.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

namespace heddle::cli {

namespace {

namespace paths = std::filesystem;

constexpr std::size_t max_noted_bytes = 16U << 20;

/// Where the user's note of a run is; empty: nowhere.
std::string note_file(const run_manifest& manifest, const setup::environment& variables) {
    const auto state = variables.state_folder();
    const std::string& id = manifest.run_id;
    const bool is_id =
        id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
    return state && is_id ? *state + "/runs/" + id + ".json" : std::string();
}

/// What the note holds: what the command does depends on nothing else of the manifest.
std::string note_of(const run_manifest& manifest) {
    run_manifest note;
    note.run_id = manifest.run_id;
    note.folder = manifest.folder;
    note.directory = manifest.directory;
    note.arguments = manifest.arguments;
    note.withheld = manifest.withheld;
    return note.to_json();
}

/// Drops notes of runs that are gone.
void tidy_notes(const paths::path& folder) {
    constexpr int most = 1000; // of them at a time
    int seen = 0;
    std::error_code failed;
    for (const auto& each : paths::directory_iterator(folder, failed)) {
        if (++seen > most) break;
        const auto text = setup::read_own_file(each.path().string(), max_noted_bytes);
        const auto note = text ? run_manifest::from_json(*text, each.path().string())
                               : result<run_manifest>(text.error());
        if (!note || !paths::exists(note->folder, failed)) paths::remove(each.path(), failed);
    }
}

/// The words of a name: "apiKey" and "api_key" have two.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    bool was_lower = false;
    for (const char c : name) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_letter = is_upper || (c >= 'a' && c <= 'z');
        if (!is_letter || (is_upper && was_lower)) words.emplace_back();
        if (is_letter) words.back() += static_cast<char>(is_upper ? c - 'A' + 'a' : c);
        was_lower = is_letter && !is_upper;
    }
    std::erase(words, "");
    return words;
}

/// Whether an argument, or its end, is that input: `input` as it is, -i and --input before it.
bool is_input(const std::string& argument, const std::string& input) {
    if (!argument.ends_with(input)) return false;
    const std::string before = argument.substr(0, argument.size() - input.size());
    const bool is_short = before.size() > 1 && before[0] == '-' && before[1] != '-';
    return before.empty() || before == "--input=" || (is_short && before.back() == 'i');
}

std::string shown_command(const std::vector<std::string>& arguments) {
    std::string text = "heddle";
    for (const std::string& each : arguments) text += ' ' + each;
    return utf8::printable_line(text);
}

} // namespace

std::string name_of_input(const std::string& input) {
    std::string name = input.substr(0, input.find('='));
    if (name.ends_with(':')) name.pop_back();
    return name;
}

bool is_name_of_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 18> alone{
        "token",  "secret",     "password", "passwd",      "pwd",           "passphrase",
        "apikey", "credential", "pat",      "credentials", "authorization", "bearer",
        "jwt",    "cookie",     "dsn",      "key",         "auth",          "pass"};
    const std::vector<std::string> words = words_of(name);
    if (words.empty()) return false;
    // "api_key", "auth_token_2"; "key" and "token" only at the end: "key_points" hides nothing.
    for (const std::string& each : words) {
        const bool is_known = std::find(alone.begin(), alone.end(), each) != alone.end();
        const bool only_last = each == "key" || each == "token" || each == "pat";
        if (is_known && (!only_last || &each == &words.back())) return true;
    }
    return false;
}

void note_command(run_manifest& manifest, given_command given,
                  const setup::environment& variables) {
    std::error_code failed;
    manifest.folder = absolute_path(given.folder);
    manifest.heddle_version = HEDDLE_VERSION;
    manifest.directory = paths::current_path(failed).string();
    manifest.withheld.clear();
    for (const std::string& input : given.inputs) {
        const std::string name = name_of_input(input);
        if (!is_name_of_secret(name)) continue;
        // However it was written: -i NAME=VALUE, --input=NAME=VALUE.
        for (std::string& each : given.arguments) {
            if (!is_input(each, input)) continue;
            each.resize(each.size() - input.size() + input.find('=') + 1);
        }
        manifest.withheld.push_back(input.substr(0, input.find('=') + 1));
    }
    manifest.arguments = std::move(given.arguments);
    const std::string note = note_file(manifest, variables);
    if (note.empty()) return;
    const paths::path notes = paths::path(note).parent_path();
    paths::create_directories(notes, failed);
    if (paths::exists(note, failed)) {
        const auto before = setup::read_own_file(note, max_noted_bytes);
        if (before && *before == note_of(manifest)) return;
    } else {
        tidy_notes(notes);
    }
    (void)setup::write_private_file(note, note_of(manifest));
}

bool is_run_of_user(const run_manifest& manifest, const std::string& folder,
                    const setup::environment& variables) {
    const std::string file = note_file(manifest, variables);
    if (file.empty() || !is_same_path(manifest.folder, folder)) return false;
    const auto note = setup::read_own_file(file, max_noted_bytes);
    return note && *note == note_of(manifest);
}

result<std::vector<std::string>> command_of_run(const run_manifest& manifest,
                                                const std::string& folder,
                                                const command_request& asked,
                                                const setup::environment& variables) {
    if (!asked.allow) {
        const std::string file = note_file(manifest, variables);
        const auto note = file.empty()
                              ? result<std::string>(error(errc::not_found, "there is none"))
                              : setup::read_own_file(file, max_noted_bytes);
        if (!note || *note != note_of(manifest)) {
            return error(errc::invalid_argument,
                         folder +
                             ": there is no record that you started this run; its command is: " +
                             shown_command(manifest.arguments) + ", in " +
                             utf8::printable_line(manifest.directory))
                .with_hint("run that command yourself, or add --allow if you trust it");
        }
    }
    if (!manifest.folder.empty() && !is_same_path(manifest.folder, folder)) {
        return error(errc::invalid_argument,
                     "the run was moved from " + manifest.folder + " to " + absolute_path(folder))
            .with_hint("run its command once where its files are now");
    }
    std::vector<std::string> arguments = manifest.arguments;
    std::string missing;
    for (const std::string& withheld : manifest.withheld) {
        const auto value =
            std::find_if(asked.inputs.begin(), asked.inputs.end(),
                         [&](const std::string& each) { return each.starts_with(withheld); });
        if (value == asked.inputs.end()) {
            missing += (missing.empty() ? "" : ", ") + name_of_input(withheld);
            continue;
        }
        for (std::string& each : arguments) {
            if (is_input(each, withheld))
                each.replace(each.size() - withheld.size(), withheld.size(), *value);
        }
    }
    if (missing.empty()) return arguments;
    return error(errc::invalid_argument, "the run does not keep the value of the input " + missing +
                                             ", whose name is that of a secret")
        .with_hint("add it: --input " + name_of_input(manifest.withheld.front()) + "=…");
}

} // namespace heddle::cli
