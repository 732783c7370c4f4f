#include "batch/request/run_manifest.hpp"

#include <heddle/base/hex.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

namespace json = boost::json;
namespace paths = std::filesystem;

error damaged(const std::string& file, std::string what) {
    return error(errc::invalid_argument, file + ": " + std::move(what))
        .with_hint("use another --run folder, or remove this one if its results are not needed");
}

/// A string; what is not UTF-8, as the name of a file may be, is kept as {"hex": "…"}.
json::value value_of(const std::string& text) {
    if (utf8::is_valid(text)) return json::value(text);
    std::string digits;
    append_hex(digits, text);
    return json::object{{"hex", std::move(digits)}};
}

std::optional<std::string> text_of(const json::value* found) {
    if (!found) return std::nullopt;
    if (found->is_string()) return std::string(found->get_string());
    const json::value* digits =
        found->is_object() ? found->get_object().if_contains("hex") : nullptr;
    return digits && digits->is_string() ? bytes_of_hex(digits->get_string()) : std::nullopt;
}

std::string text_in(const json::object& members, std::string_view name) {
    return text_of(members.if_contains(name)).value_or("");
}

json::array array_of(const std::vector<std::string>& texts) {
    json::array all;
    for (const std::string& each : texts) all.push_back(value_of(each));
    return all;
}

std::vector<std::string> texts_in(const json::object& members, std::string_view name) {
    std::vector<std::string> texts;
    const json::value* found = members.if_contains(name);
    if (!found || !found->is_array()) return texts;
    for (const json::value& each : found->get_array()) {
        if (auto text = text_of(&each)) texts.push_back(*std::move(text));
    }
    return texts;
}

json::object object_of(const run_limits& limits) {
    json::object members;
    for (const auto& [name, value] : limits) {
        if (value == no_limit) members[name] = nullptr;
        else members[name] = value;
    }
    return members;
}

json::value value_of(const std::optional<std::uint64_t>& count) {
    return count ? json::value(*count) : json::value();
}

std::optional<std::uint64_t> count_in(const json::object& members, std::string_view name) {
    const json::value* found = members.if_contains(name);
    if (!found || !found->is_number()) return std::nullopt;
    boost::system::error_code wrong;
    const auto count = found->to_number<std::uint64_t>(wrong);
    return wrong ? std::nullopt : std::optional(count);
}

json::value value_of(const std::optional<batch_end>& end) {
    if (!end) return nullptr;
    return json::object{{"state", end->state},
                        {"stopped_by", end->stopped_by},
                        {"total", value_of(end->total)},
                        {"left", value_of(end->left)},
                        {"left_is_estimate", end->left_is_estimate}};
}

std::optional<batch_end> end_in(const json::value& found) {
    if (!found.is_object()) return std::nullopt;
    const json::object& members = found.get_object();
    batch_end end;
    end.state = text_in(members, "state");
    end.stopped_by = text_in(members, "stopped_by");
    end.total = count_in(members, "total");
    end.left = count_in(members, "left");
    const json::value* estimated = members.if_contains("left_is_estimate");
    end.left_is_estimate = estimated && estimated->is_bool() && estimated->get_bool();
    return end;
}

run_limits limits_in(const json::object& members, std::string_view name) {
    run_limits limits;
    const json::value* found = members.if_contains(name);
    if (!found || !found->is_object()) return limits;
    for (const auto& each : found->get_object()) {
        if (each.value().is_number()) limits.emplace(each.key(), each.value().to_number<double>());
        else if (each.value().is_null()) limits.emplace(each.key(), no_limit);
    }
    return limits;
}

constexpr std::size_t max_manifest = 16U << 20;
constexpr std::string_view open_end = R"("end":null})";
constexpr std::size_t room_for_end = 256;

/// Whether the file is the lock of a run: the number of a process, or nothing yet.
bool is_lock(const paths::path& file) {
    constexpr std::uint64_t max_bytes = 21;
    const auto text = setup::read_input_file(file.string(), max_bytes);
    return text && text->find_first_not_of("0123456789\n") == std::string::npos;
}

/// Whether the folder holds nothing but what a start leaves that is killed before it has written
/// run.json: the lock, the journal, and parts of both.
bool holds_only_a_beginning(const std::string& folder) {
    std::error_code failed;
    paths::directory_iterator at(folder, failed);
    for (const paths::directory_iterator end; !failed && at != end; at.increment(failed)) {
        const std::string name = at->path().filename().string();
        if (!paths::is_regular_file(at->symlink_status(failed))) return false;
        const bool is_ours = name == "lock" ? is_lock(at->path())
                                            : name == "run.db" || name.starts_with("run.db-") ||
                                                  name.starts_with(".run.json.part-") ||
                                                  name.starts_with("run.json.part-");
        if (!is_ours) return false;
    }
    return !failed;
}

} // namespace

std::string run_manifest::to_json() const {
    json::object members{{"version", current_version},
                         {"run_id", run_id},
                         {"program", value_of(program)},
                         {"program_digest", program_digest},
                         {"begun_digest", begun_digest},
                         {"model", value_of(model)},
                         {"mixed", is_mixed},
                         {"output", value_of(output)},
                         {"dead_letters", value_of(dead_letters)},
                         {"id_field", value_of(id_field)},
                         {"seed", std::to_string(seed)},
                         {"strict", strict},
                         {"errors_in_output", errors_in_output},
                         {"folder", value_of(folder)},
                         {"directory", value_of(directory)},
                         {"arguments", array_of(arguments)},
                         {"withheld", array_of(withheld)},
                         {"started", started},
                         {"heddle", heddle_version},
                         {"limits_set", object_of(limits.set)},
                         {"limits", object_of(limits.of_command)},
                         {"parks", parks},
                         {"parked", has_parked}};
    if (notes_end) members["end"] = value_of(end);
    std::string text = setup::json_line(members);
    if (notes_end && !end) text.insert(text.size() - 1, room_for_end, ' ');
    return text;
}

result<run_manifest> run_manifest::from_json(const std::string& text, const std::string& file) {
    boost::system::error_code wrong;
    const json::value parsed = parse_json(text, wrong);
    if (wrong || !parsed.is_object()) return damaged(file, "is damaged: it holds no JSON object");
    const json::object& members = parsed.get_object();
    const json::value* version = members.if_contains("version");
    if (!version || !version->is_int64()) return damaged(file, "is damaged: it has no version");
    if (version->get_int64() != current_version) {
        return damaged(file, "is of version " + std::to_string(version->get_int64()) +
                                 ", and this heddle knows version " +
                                 std::to_string(current_version));
    }
    run_manifest content;
    content.run_id = text_in(members, "run_id");
    content.program = text_in(members, "program");
    content.program_digest = text_in(members, "program_digest");
    content.begun_digest = text_in(members, "begun_digest");
    content.model = text_in(members, "model");
    const json::value* mixed = members.if_contains("mixed");
    content.is_mixed = mixed && mixed->is_bool() && mixed->get_bool();
    content.output = text_in(members, "output");
    content.dead_letters = text_in(members, "dead_letters");
    content.id_field = text_in(members, "id_field");
    content.seed = std::strtoull(text_in(members, "seed").c_str(), nullptr, 10);
    content.directory = text_in(members, "directory");
    content.started = text_in(members, "started");
    content.heddle_version = text_in(members, "heddle");
    const json::value* was_strict = members.if_contains("strict");
    content.strict = was_strict && was_strict->is_bool() && was_strict->get_bool();
    const json::value* with_errors = members.if_contains("errors_in_output");
    content.errors_in_output = with_errors && with_errors->is_bool() && with_errors->get_bool();
    content.folder = text_in(members, "folder");
    content.arguments = texts_in(members, "arguments");
    content.withheld = texts_in(members, "withheld");
    content.limits.set = limits_in(members, "limits_set");
    content.limits.of_command = limits_in(members, "limits");
    const json::value* parks = members.if_contains("parks");
    content.parks = parks && parks->is_bool() && parks->get_bool();
    const json::value* parked = members.if_contains("parked");
    content.has_parked = parked && parked->is_bool() ? parked->get_bool() : content.parks;
    if (const json::value* noted = members.if_contains("end")) {
        content.notes_end = true;
        content.end = end_in(*noted);
    }
    return content;
}

std::string manifest_file(const std::string& folder) { return folder + "/run.json"; }

result<run_manifest> read_manifest(const std::string& folder) {
    HEDDLE_TRY(const std::string text, setup::read_input_file(manifest_file(folder), max_manifest));
    return run_manifest::from_json(text, manifest_file(folder));
}

result<void> write_manifest(const std::string& folder, const run_manifest& content) {
    return setup::write_private_file(manifest_file(folder), content.to_json());
}

result<void> write_manifest_end(const std::string& folder, const run_manifest& content) {
    result<void> wrote = write_manifest(folder, content);
    if (wrote) return wrote;
    const std::string file = manifest_file(folder);
    const result<std::string> there = setup::read_input_file(file, max_manifest);
    if (!there) return wrote;
    const std::size_t at = there->rfind(open_end);
    // Behind it are spaces and the end of the line.
    if (at == std::string::npos ||
        there->find_first_not_of(" \n", at + open_end.size()) != std::string::npos)
        return wrote;
    const std::string end =
        setup::json_line(json::object{{"end", value_of(content.end)}}).substr(1);
    if (at + end.size() > there->size()) return wrote;
    // A part of the file that has its blocks: what was in them is replaced.
    const fs::descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    const std::string text = end.substr(0, end.size() - 1);
    const bool noted =
        opened.open() && ::pwrite(opened.get(), text.data(), text.size(), static_cast<off_t>(at)) ==
                             static_cast<ssize_t>(text.size());
    return noted ? result<void>() : wrote;
}

result<std::string> find_run(const std::string& name) {
    for (const std::string& folder : {name, name + ".run"}) {
        std::error_code failed;
        if (paths::exists(manifest_file(folder), failed)) return folder;
        // A file is not a directory, and has its run next to it.
        if (failed == std::errc::permission_denied) {
            return error(errc::io_error, folder + ": " + failed.message())
                .with_hint("only the owner of a run can read it");
        }
    }
    return error(errc::not_found, "there is no run \"" + name + "\"")
        .with_hint(
            "name the folder of a run, or its output file; 'heddle runs list' lists those "
            "of a directory");
}

result<std::vector<std::string>> runs_below(const std::string& folder) {
    std::error_code failed;
    std::vector<std::string> found;
    if (paths::exists(manifest_file(folder), failed)) found.push_back(folder);
    paths::directory_iterator at(folder, failed);
    if (failed) return error(errc::not_found, folder + ": " + failed.message());
    for (const paths::directory_iterator end; at != end; at.increment(failed)) {
        if (failed) break;
        std::string below = at->path().string();
        if (below.starts_with("./") && folder == ".") below.erase(0, 2);
        // One that may not be read is listed with that.
        const bool is_run = paths::exists(manifest_file(below), failed) ||
                            (failed == std::errc::permission_denied && below.ends_with(".run"));
        if (is_run) found.push_back(std::move(below));
    }
    std::sort(found.begin(), found.end());
    return found;
}

result<void> make_run_folder(const std::string& folder, const std::string& option) {
    if (::mkdir(folder.c_str(), 0700) == 0) return {};
    const int why = errno;
    if (why != EEXIST) {
        error failure(why == ENOENT ? errc::not_found : errc::io_error,
                      option + ": " + folder + ": " + std::strerror(why));
        if (why == ENOENT) return std::move(failure).with_hint("its parent directory must exist");
        return failure;
    }
    std::error_code failed;
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
        return error(errc::invalid_argument, option + ": " + folder + " is not a directory");
    // A journal alone is left by a start that met a mistake before the first row.
    bool is_ours = holds_only_a_beginning(folder);
    for (const std::string& ours : {manifest_file(folder), folder + "/run.db"})
        is_ours = is_ours || paths::exists(ours, failed);
    if (is_ours) {
        // What the rows hold is nobody else's business, and what steers the run neither.
        const bool is_open = (about.st_mode & 077) != 0;
        if (!is_open || ::chmod(folder.c_str(), about.st_mode & 0700) == 0) return {};
        return error(errc::io_error, option + ": " + folder + " can be used by others")
            .with_hint("name a directory of your own with --run");
    }
    return error(errc::invalid_argument,
                 option + ": " + folder + " holds files and is not the folder of a run")
        .with_hint("name a new or an empty directory with --run");
}

} // namespace heddle::cli
