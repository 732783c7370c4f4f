#include "memory/shared_index.hpp"

#include <heddle/base/utf8.hpp>

#include "memory/query_terms.hpp"
#include "memory/snapshot.hpp"
#include "memory/walk/file_text.hpp"

#include <algorithm>
#include <unordered_set>

namespace heddle::memory {

namespace {

constexpr std::size_t max_index_file = std::size_t{4} * 1024 * 1024 * 1024;
constexpr std::size_t max_content_bytes = 1024 * 1024; ///< of memory_match::content

[[nodiscard]] std::string summary_of(const ports::memory_response& response, std::size_t all) {
    const std::string of = " of " + std::to_string(all) + " indexed files";
    if (response.matches.empty()) return "none" + of + " matches";
    std::string text = "the best " + std::to_string(response.matches.size()) + of + ":";
    const std::size_t named = std::min<std::size_t>(response.matches.size(), 5);
    for (std::size_t i = 0; i < named; ++i) {
        const std::string& path = response.matches[i].path;
        text += (i == 0 ? " " : ", ") + path.substr(path.rfind('/') + 1);
    }
    return named < response.matches.size() ? text + ", …" : text;
}

/// What the paths of files in a directory begin with.
[[nodiscard]] std::string with_slash(const std::string& folder) {
    return folder == "/" ? folder : folder + "/";
}

/// Whether no part of the absolute path is "..", "." or empty, as in all paths that an indexing
/// adds. An index file of unknown origin may hold others.
[[nodiscard]] bool stays_below(std::string_view path) noexcept {
    while (!path.empty()) {
        path.remove_prefix(1); // the slash
        const std::string_view part = path.substr(0, path.find('/'));
        if (part.empty() || part == "." || part == "..") return false;
        path.remove_prefix(part.size());
    }
    return true;
}

/// The path inside of a root: the place of the root is irrelevant to the file.
[[nodiscard]] std::string_view below(std::string_view root, std::string_view path) noexcept {
    if (root != "/" && path.starts_with(root) && path.size() > root.size()) {
        path.remove_prefix(root.size());
    }
    return path;
}

} // namespace

result<shared_index::plan> shared_index::make_plan(index_options options, bool repository,
                                                   const std::atomic<bool>& abandoned) const {
    if (!options.root.starts_with('/')) {
        return error(
            errc::invalid_argument,
            "the directory to index must be an absolute path, not \"" + options.root + "\"");
    }
    plan created;
    created.options = std::move(options);
    HEDDLE_TRY(created.options.root, tree_->resolve(created.options.root));
    if (repository) {
        HEDDLE_TRY(created.options.root, repository_of(*tree_, created.options.root));
    }
    created.report.root = created.options.root;
    HEDDLE_TRY(walk_outcome walked, walk_tree(*tree_, created.options, repository, abandoned));
    created.report.complete = walked.complete;
    created.report.skipped_large = walked.skipped_large;
    created.report.warnings = std::move(walked.warnings);

    std::unordered_set<std::string_view> present;
    const std::shared_lock reading(lock_);
    for (found_file& file : walked.files) {
        const indexed_file* known = index_.find(file.path);
        if (known && known->has_content && known->stamp == file.stamp) ++created.report.unchanged;
        else created.to_read.push_back(file);
        present.insert(file.path);
    }
    // A walk that did not finish does not show what is gone.
    if (!walked.complete) return created;
    for (std::string& path : index_.paths_below(with_slash(created.options.root))) {
        if (!present.contains(path) && index_.find(path)->has_content) {
            created.gone.push_back(std::move(path));
        }
    }
    return created;
}

shared_index::outcome shared_index::prepare(const found_file& file, const index_options& options,
                                            prepared_file& prepared,
                                            std::vector<std::string>& warnings) const {
    auto text = tree_->read(file.path, options.max_file_bytes);
    if (!text) {
        if (text.error().code() == make_error_code(errc::not_found)) return outcome::gone;
        if (text.error().code() == make_error_code(errc::limit_exceeded)) return outcome::large;
        add_warning(warnings, text.error().message());
        return outcome::unreadable;
    }
    if (is_binary(*text)) return outcome::binary;
    prepared.path = file.path;
    prepared.stamp = file.stamp;
    prepared.metadata = describe_text(file.path, *text);
    prepared.path_terms = count_terms(below(options.root, file.path), max_tokens);
    prepared.metadata_terms = count_terms(prepared.metadata, max_tokens);
    prepared.content_terms = count_terms(*text, max_tokens);
    return outcome::read;
}

void shared_index::read_files(const plan& from_plan, std::size_t from, std::size_t to,
                              index_report& report, const std::atomic<bool>& abandoned) {
    std::vector<prepared_file> ready;
    std::vector<std::string_view> unfit; // known before, and no longer what is indexed
    for (std::size_t i = from; i < to; ++i) {
        if (abandoned.load(std::memory_order_relaxed)) return;
        const found_file& file = from_plan.to_read[i];
        prepared_file prepared;
        switch (prepare(file, from_plan.options, prepared, report.warnings)) {
        case outcome::read: ready.push_back(std::move(prepared)); continue;
        case outcome::binary: ++report.skipped_binary; break;
        case outcome::large: ++report.skipped_large; break;
        case outcome::gone: break;
        case outcome::unreadable: report.complete = false; break;
        }
        unfit.push_back(file.path);
    }
    const std::unique_lock writing(lock_);
    if (abandoned.load(std::memory_order_relaxed)) return;
    for (const std::string_view path : unfit) {
        const indexed_file* known = index_.find(path);
        if (known && known->has_content && index_.remove(path)) ++report.removed;
    }
    for (prepared_file& prepared : ready) {
        const indexed_file* known = index_.find(prepared.path);
        ++(known && known->has_content ? report.updated : report.added);
        index_.put(std::move(prepared));
    }
}

void shared_index::remove(const std::vector<std::string>& paths) {
    const std::unique_lock writing(lock_);
    for (const std::string& path : paths) (void)index_.remove(path);
}

result<std::size_t> shared_index::keep_below(const std::vector<std::string>& roots) {
    std::vector<std::string> inside;
    for (const std::string& root : roots) {
        HEDDLE_TRY(const std::string resolved, tree_->resolve(root));
        inside.push_back(with_slash(resolved));
    }
    const auto is_kept = [&](const std::string& path) {
        return stays_below(path) &&
               std::any_of(inside.begin(), inside.end(),
                           [&](const std::string& folder) { return path.starts_with(folder); });
    };
    const std::unique_lock writing(lock_);
    std::size_t dropped = 0;
    for (const std::string& path : index_.paths_below("")) {
        if (!is_kept(path) && index_.remove(path)) ++dropped;
    }
    return dropped;
}

void shared_index::describe(std::vector<described_file> files) {
    const std::unique_lock writing(lock_);
    for (described_file& one : files) {
        index_.set_metadata(std::move(one.path), std::move(one.metadata));
    }
}

ports::memory_response shared_index::answer(const ports::memory_request& request,
                                            std::size_t default_limit) const {
    const index_query wanted = query_of(request, default_limit);
    ports::memory_response found;
    {
        const std::shared_lock reading(lock_);
        for (const ranked_file& ranked : index_.query(wanted)) {
            const indexed_file& file = index_.file(ranked.file);
            ports::memory_match& match = found.matches.emplace_back();
            match.id = file.path;
            match.path = file.path;
            match.relevance = ranked.score;
            match.content_type = content_type_of(file.path);
            match.metadata = file.metadata;
        }
        found.context_summary = summary_of(found, index_.size());
    }
    if (!request.include_content) return found;
    for (ports::memory_match& match : found.matches) {
        auto text = tree_->read(match.path, max_content_bytes);
        if (text && utf8::is_valid(*text)) match.content = *std::move(text);
    }
    return found;
}

result<void> shared_index::save(const std::string& file) {
    std::string bytes;
    {
        const std::unique_lock writing(lock_);
        bytes = write_snapshot(index_);
    }
    const auto there = tree_->beginning(file, snapshot_mark_bytes);
    if (!there && there.error().code() != make_error_code(errc::not_found)) return there.error();
    if (there && !there->empty() && !begins_snapshot(*there)) return not_an_index(file);
    return tree_->replace(file, bytes);
}

result<void> shared_index::load(const std::string& file) {
    HEDDLE_TRY(const std::string beginning, tree_->beginning(file, snapshot_mark_bytes));
    if (!beginning.empty() && !begins_snapshot(beginning)) return not_an_index(file);
    HEDDLE_TRY(const std::string bytes, tree_->read(file, max_index_file));
    auto outcome = read_snapshot(bytes);
    if (!outcome) {
        return std::move(outcome).error().with_trace("while opening " + file);
    }
    const std::unique_lock writing(lock_);
    index_ = *std::move(outcome);
    return {};
}

std::size_t shared_index::size() const {
    const std::shared_lock reading(lock_);
    return index_.size();
}

std::size_t shared_index::memory_bytes() const {
    const std::shared_lock reading(lock_);
    return index_.memory_bytes();
}

} // namespace heddle::memory
