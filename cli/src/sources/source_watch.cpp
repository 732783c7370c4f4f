#include "sources/source_watch.hpp"

#include "sources/digest_text.hpp"
#include "sources/packed_bytes.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/rows/row.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

namespace heddle::cli {

namespace {

using kind = program_source::kind;

std::string digest_of(std::string_view text) { return hex_of(rows::digest_of_content(text)); }

/// Its message names directories, which a project may leave.
std::string digest_of_failure(const error& failure) {
    return "error " + std::string(lang::error_kind_name(failure)) + ' ' +
           std::to_string(failure.code().value());
}

std::string last_part(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return std::filesystem::path(path).filename().string();
}

std::filesystem::path normal(const std::string& folder) {
    std::string text = std::filesystem::path(folder.empty() ? "." : folder).lexically_normal();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

std::filesystem::path folder_of(const std::string& file) {
    return normal(std::filesystem::path(file).lexically_normal().parent_path().string());
}

void add(packed_bytes& all, const std::optional<std::string>& text) {
    all.add(std::uint64_t{text.has_value()});
    if (text) all.add(std::string_view(*text));
}

std::optional<std::string> optional_text(unpacked_bytes& all) {
    if (all.number() == 0) return std::nullopt;
    return all.text();
}

std::string text_of(const ports::memory_request& request) {
    packed_bytes all;
    all.add(std::string_view(request.query));
    all.add(std::uint64_t{request.inputs.has_value()});
    if (request.inputs) {
        all.add(std::uint64_t{request.inputs->size()});
        for (const ports::memory_input& each : *request.inputs) {
            all.add(std::string_view(each.name));
            all.add(std::string_view(each.text));
        }
    }
    all.add(request.strategy ? std::uint64_t{1} + static_cast<std::uint64_t>(*request.strategy)
                             : std::uint64_t{0});
    for (const auto* each : {&request.history, &request.inherited_context,
                             &request.previous_outputs, &request.template_description})
        add(all, *each);
    all.add(request.limit ? std::uint64_t{1} + *request.limit : std::uint64_t{0});
    all.add(std::uint64_t{request.include_content});
    return all.take();
}

std::optional<ports::memory_request> request_in(std::string_view text) {
    unpacked_bytes all(text);
    ports::memory_request request;
    request.query = all.text();
    if (all.number() != 0) {
        request.inputs.emplace();
        for (std::size_t left = all.count(); left > 0; --left) {
            std::string name = all.text();
            request.inputs->push_back({std::move(name), all.text()});
        }
    }
    if (const std::uint64_t strategy = all.number(); strategy != 0)
        request.strategy = static_cast<ports::matching_strategy>(strategy - 1);
    for (auto* each : {&request.history, &request.inherited_context, &request.previous_outputs,
                       &request.template_description})
        *each = optional_text(all);
    if (const std::uint64_t limit = all.number(); limit != 0) request.limit = limit - 1;
    request.include_content = all.number() != 0;
    if (!all.is_whole()) return std::nullopt;
    return request;
}

} // namespace

class source_watch::watched_files final : public ports::file_port {
public:
    watched_files(source_watch& owner, ports::file_port& behind) : owner_(owner), behind_(behind) {}

    coro::task<result<std::string>> read(std::string path, coro::call_context context) override {
        result<std::string> text = co_await behind_.read(path, context);
        if (text) owner_.note(kind::text, std::move(path), digest_of(*text));
        else owner_.note_failure(kind::text, std::move(path), text.error());
        co_return text;
    }
    coro::task<result<void>> write(std::string path, std::string text,
                                   coro::call_context context) override {
        if (owner_.is_noting_) owner_.note_written(path, text);
        if (!owner_.performs_) co_return result<void>();
        result<void> written = co_await behind_.write(std::move(path), std::move(text), context);
        co_return written;
    }
    coro::task<result<bool>> exists(std::string path, coro::call_context context) override {
        result<bool> found = co_await behind_.exists(path, context);
        if (found) owner_.note(kind::presence, std::move(path), *found ? "yes" : "no");
        else owner_.note_failure(kind::presence, std::move(path), found.error());
        co_return found;
    }
    coro::task<result<std::vector<std::string>>> list(std::string path,
                                                      coro::call_context context) override {
        result<std::vector<std::string>> names = co_await behind_.list(path, context);
        if (names) owner_.note_names(std::move(path), *names);
        else owner_.note_failure(kind::names, std::move(path), names.error());
        co_return names;
    }
    // For contexts of tasks, whose files are not noted.
    coro::task<result<std::vector<std::string>>> names_of(std::vector<std::string> paths,
                                                          coro::call_context context) override {
        return behind_.names_of(std::move(paths), context);
    }

private:
    source_watch& owner_;
    ports::file_port& behind_;
};

class source_watch::watched_memory final : public ports::memory_port {
public:
    watched_memory(source_watch& owner, ports::memory_port& behind)
        : owner_(owner), behind_(behind) {}

    coro::task<result<ports::memory_response>> relevant_files(ports::memory_request request,
                                                              coro::call_context context) override {
        std::string asked = owner_.is_noting_ ? text_of(request) : std::string();
        result<ports::memory_response> response =
            co_await behind_.relevant_files(std::move(request), context);
        if (response) owner_.note(kind::files, std::move(asked), owner_.digest_of_files(*response));
        else owner_.note_failure(kind::files, std::move(asked), response.error());
        co_return response;
    }

private:
    source_watch& owner_;
    ports::memory_port& behind_;
};

class source_watch::watched_processes final : public ports::process_port {
public:
    watched_processes(source_watch& owner, ports::process_port& behind)
        : owner_(owner), behind_(behind) {}

    coro::task<result<ports::process_result>> run(ports::process_request request,
                                                  coro::call_context context) override {
        if (!owner_.performs_) {
            co_return error(lang::errc::permission, "no program is started to look at a batch")
                .with_hint(
                    "call it in main; or start the batch first: what its top level got is "
                    "kept, and used again here");
        }
        result<ports::process_result> ended = co_await behind_.run(std::move(request), context);
        co_return ended;
    }

private:
    source_watch& owner_;
    ports::process_port& behind_;
};

source_watch::source_watch() = default;
source_watch::~source_watch() = default;

ports::file_port* source_watch::watch(ports::file_port* behind) {
    if (!behind) return nullptr;
    files_ = behind;
    watched_files_ = std::make_unique<watched_files>(*this, *behind);
    return watched_files_.get();
}

ports::memory_port* source_watch::watch(ports::memory_port* behind) {
    if (!behind) return nullptr;
    memory_ = behind;
    watched_memory_ = std::make_unique<watched_memory>(*this, *behind);
    return watched_memory_.get();
}

ports::process_port* source_watch::watch(ports::process_port* behind) {
    if (!behind) return nullptr;
    watched_processes_ = std::make_unique<watched_processes>(*this, *behind);
    return watched_processes_.get();
}

void source_watch::set_own(const std::vector<std::string>& files) {
    own_.clear();
    for (const std::string& each : files) {
        if (std::string name = last_part(each); !name.empty()) own_.push_back(std::move(name));
    }
}

void source_watch::begin() {
    noted_.clear();
    listed_.clear();
    is_noting_ = true;
}

std::vector<program_source> source_watch::end() {
    is_noting_ = false;
    std::vector<program_source> all;
    for (auto& [key, digest] : noted_) all.push_back({key.first, key.second, std::move(digest)});
    noted_.clear();
    listed_.clear();
    return all;
}

void source_watch::note(kind what, std::string asked, std::string digest) {
    if (!is_noting_ || (what != kind::files && is_own(asked))) return;
    noted_[{what, std::move(asked)}] = std::move(digest);
}

void source_watch::note_names(std::string path, const std::vector<std::string>& names) {
    if (is_noting_) listed_[path] = names;
    note(kind::names, std::move(path), digest_of_names(names));
}

void source_watch::note_failure(kind what, std::string asked, const error& failure) {
    if (!failure.is_cancelled()) note(what, std::move(asked), digest_of_failure(failure));
}

void source_watch::note_written(const std::string& path, const std::string& text) {
    const auto replace = [&](kind what, std::string digest) {
        const auto found = noted_.find({what, path});
        if (found != noted_.end()) found->second = std::move(digest);
    };
    replace(kind::text, digest_of(text));
    replace(kind::presence, "yes");
    for (auto& [folder, names] : listed_) {
        if (normal(folder) != folder_of(path)) continue;
        const std::string name = last_part(path);
        const auto at = std::lower_bound(names.begin(), names.end(), name);
        if (at != names.end() && *at == name) continue;
        names.insert(at, name);
        const auto noted = noted_.find({kind::names, folder});
        if (noted != noted_.end()) noted->second = digest_of_names(names);
    }
}

bool source_watch::is_own(const std::string& path) const {
    const std::string name = last_part(path);
    return std::any_of(own_.begin(), own_.end(), [&](const std::string& each) {
        // With what SQLite lays beside a database.
        return name.starts_with(each) && (name.size() == each.size() || name[each.size()] == '-');
    });
}

std::string source_watch::digest_of_names(const std::vector<std::string>& names) const {
    std::string all;
    for (const std::string& each : names) {
        if (!is_own(each)) all += each + '\n';
    }
    return digest_of(all);
}

/// Without what depends on the other files of the index: the scores and, with them, the order.
std::string source_watch::digest_of_files(const ports::memory_response& response) const {
    if (response.error) return digest_of(*response.error);
    std::set<std::string> files;
    for (const ports::memory_match& each : response.matches) {
        if (is_own(each.path)) continue;
        packed_bytes one;
        for (const std::string& text : {each.path, each.content_type, each.metadata})
            one.add(std::string_view(text));
        add(one, each.content);
        files.insert(one.take());
    }
    std::string all;
    for (const std::string& each : files) all += each;
    return digest_of(all);
}

coro::task<result<std::string>> source_watch::ask(program_source source,
                                                  coro::call_context context) {
    std::optional<error> failure;
    std::string digest;
    switch (source.what) {
    case kind::text: {
        result<std::string> text = co_await files_->read(std::move(source.asked), context);
        if (text) digest = digest_of(*text);
        else failure = std::move(text).error();
        break;
    }
    case kind::presence: {
        const result<bool> found = co_await files_->exists(std::move(source.asked), context);
        if (found) digest = *found ? "yes" : "no";
        else failure = found.error();
        break;
    }
    case kind::names: {
        result<std::vector<std::string>> names =
            co_await files_->list(std::move(source.asked), context);
        if (names) digest = digest_of_names(*names);
        else failure = std::move(names).error();
        break;
    }
    case kind::files: {
        auto request = request_in(source.asked);
        if (!request || !memory_) co_return std::string();
        result<ports::memory_response> response =
            co_await memory_->relevant_files(*std::move(request), context);
        if (response) digest = digest_of_files(*response);
        else failure = std::move(response).error();
        break;
    }
    default: co_return std::string(); // of a later version
    }
    if (!failure) co_return digest;
    if (failure->is_cancelled()) co_return *std::move(failure);
    co_return digest_of_failure(*failure);
}

coro::task<result<std::optional<program_source>>> source_watch::first_changed(
    std::vector<program_source> sources, coro::call_context context) {
    if (!files_ && !sources.empty()) co_return std::optional<program_source>(sources.front());
    for (program_source& each : sources) {
        result<std::string> now = co_await ask(each, context);
        if (!now) co_return std::move(now).error();
        if (*now != each.digest) co_return std::optional<program_source>(std::move(each));
    }
    co_return std::optional<program_source>();
}

std::string change_of(const program_source& source) {
    const std::string name = source.asked.empty() ? "." : utf8::printable_line(source.asked);
    switch (source.what) {
    case kind::text: return name + ", which its top level reads, is another file";
    case kind::presence: return "its top level looks for " + name + ", which is there or not";
    case kind::names:
        return "its top level lists the directory " + name +
               ", which has other files now; what programs and rows write there counts";
    case kind::files: break;
    }
    return "its top level asks for context, which has other files now";
}

} // namespace heddle::cli
