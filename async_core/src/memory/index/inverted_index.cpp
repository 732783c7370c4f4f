#include "memory/index/inverted_index.hpp"

#include <algorithm>
#include <utility>

namespace heddle::memory {

namespace {

// A name identifies a file better than a sentence in it.
constexpr double path_weight = 2;
constexpr double metadata_weight = 1.5;
constexpr double content_weight = 1;
// A file below both has a word of the question by chance, and is not a match.
constexpr double min_relevance = 0.01;
constexpr double min_share_of_best = 0.1;
// Places that one query looks at: what can be done in about 10 ms.
constexpr std::size_t query_budget = 2'000'000;

} // namespace

std::uint32_t inverted_index::number_of(const std::string& path) {
    const auto [place, fresh] = numbers_.try_emplace(path, 0);
    if (!fresh) return place->second;
    if (free_.empty()) {
        place->second = static_cast<std::uint32_t>(files_.size());
        files_.emplace_back();
    } else {
        place->second = free_.back();
        free_.pop_back();
    }
    files_[place->second].path = path;
    return place->second;
}

void inverted_index::drop(field_index& field, std::uint32_t& slot) {
    if (slot != field_index::no_slot) field.remove(slot);
    slot = field_index::no_slot;
}

void inverted_index::replace(field_index& field, std::uint32_t& slot, std::uint32_t file,
                             const term_counts& text) {
    drop(field, slot);
    if (!text.terms().empty()) slot = field.add(file, text);
}

void inverted_index::put(prepared_file prepared) {
    const std::uint32_t number = number_of(prepared.path);
    indexed_file& file = files_[number];
    file.stamp = prepared.stamp;
    // What was only described so far has the words of its name alone.
    if (!std::exchange(file.has_content, true)) drop(path_, file.path_slot);
    if (file.path_slot == field_index::no_slot) {
        replace(path_, file.path_slot, number, prepared.path_terms);
    }
    if (!file.given_metadata) {
        file.metadata = std::move(prepared.metadata);
        replace(metadata_, file.metadata_slot, number, prepared.metadata_terms);
    }
    replace(content_, file.content_slot, number, prepared.content_terms);
    compact_if_wanted();
}

void inverted_index::set_metadata(std::string path, std::string metadata) {
    const std::uint32_t number = number_of(path);
    indexed_file& file = files_[number];
    if (file.path_slot == field_index::no_slot) {
        // No root is known, and folders above one are not words about the file.
        const auto name = std::string_view(path).substr(path.rfind('/') + 1);
        replace(path_, file.path_slot, number, count_terms(name, max_tokens));
    }
    replace(metadata_, file.metadata_slot, number, count_terms(metadata, max_tokens));
    file.metadata = std::move(metadata);
    file.given_metadata = true;
    compact_if_wanted();
}

bool inverted_index::remove(std::string_view path) {
    const auto found = numbers_.find(std::string(path));
    if (found == numbers_.end()) return false;
    indexed_file& file = files_[found->second];
    drop(path_, file.path_slot);
    drop(metadata_, file.metadata_slot);
    drop(content_, file.content_slot);
    file = indexed_file();
    free_.push_back(found->second);
    numbers_.erase(found);
    compact_if_wanted();
    return true;
}

void inverted_index::compact_if_wanted() {
    if (path_.wants_compaction() || metadata_.wants_compaction() || content_.wants_compaction()) {
        compact();
    }
}

void inverted_index::compact() {
    path_.compact([&](std::uint32_t file, std::uint32_t at) { files_[file].path_slot = at; });
    metadata_.compact(
        [&](std::uint32_t file, std::uint32_t at) { files_[file].metadata_slot = at; });
    content_.compact([&](std::uint32_t file, std::uint32_t at) { files_[file].content_slot = at; });
}

const indexed_file* inverted_index::find(std::string_view path) const {
    const auto found = numbers_.find(std::string(path));
    return found == numbers_.end() ? nullptr : &files_[found->second];
}

std::vector<std::string> inverted_index::paths_below(std::string_view prefix) const {
    std::vector<std::string> found;
    for (const indexed_file& file : files_) {
        if (!file.path.empty() && file.path.starts_with(prefix)) found.push_back(file.path);
    }
    return found;
}

std::vector<ranked_file> inverted_index::query(const index_query& wanted) const {
    score_board board;
    board.scores.assign(files_.size(), 0.0);
    board.postings_left = query_budget;
    path_.score(wanted.terms, path_weight, board);
    metadata_.score(wanted.terms, metadata_weight, board);
    if (wanted.strategy == ports::matching_strategy::content) {
        content_.score(wanted.terms, content_weight, board);
    }
    const auto better = [&](const ranked_file& left, const ranked_file& right) {
        if (left.score != right.score) return left.score > right.score;
        return files_[left.file].path < files_[right.file].path;
    };
    std::vector<ranked_file> best; // a heap with the worst on top
    for (std::uint32_t number = 0; number < board.scores.size(); ++number) {
        const ranked_file one{number, board.scores[number]};
        if (!(one.score > 0) || wanted.limit == 0) continue;
        if (best.size() == wanted.limit) {
            if (!better(one, best.front())) continue;
            std::pop_heap(best.begin(), best.end(), better);
            best.pop_back();
        }
        best.push_back(one);
        std::push_heap(best.begin(), best.end(), better);
    }
    std::sort_heap(best.begin(), best.end(), better);
    for (ranked_file& one : best) one.score = std::min(1.0, one.score / board.best_possible);
    if (!best.empty()) {
        const double least = std::max(min_relevance, min_share_of_best * best.front().score);
        std::erase_if(best, [&](const ranked_file& one) { return one.score < least; });
    }
    return best;
}

std::size_t inverted_index::memory_bytes() const noexcept {
    std::size_t bytes = path_.memory_bytes() + metadata_.memory_bytes() + content_.memory_bytes() +
                        files_.capacity() * sizeof(indexed_file) + numbers_.bucket_count() * 8;
    for (const indexed_file& file : files_) {
        // The path is kept twice, and a node of the map takes 48 bytes.
        bytes += 2 * file.path.capacity() + file.metadata.capacity() + 48;
    }
    return bytes;
}

/// Numbers the files from 0 without gaps.
void inverted_index::close_gaps() {
    if (free_.empty()) return;
    std::vector<std::uint32_t> moved(files_.size(), 0);
    std::vector<indexed_file> files;
    for (std::uint32_t number = 0; number < files_.size(); ++number) {
        if (files_[number].path.empty()) continue;
        moved[number] = static_cast<std::uint32_t>(files.size());
        numbers_[files_[number].path] = moved[number];
        files.push_back(std::move(files_[number]));
    }
    files_ = std::move(files);
    free_.clear();
    for (field_index* field : {&path_, &metadata_, &content_}) field->renumber(moved);
}

void inverted_index::save(std::string& out) {
    compact();
    byte_writer to(out);
    close_gaps();
    to.varint(files_.size());
    for (const indexed_file& file : files_) {
        to.text(file.path);
        to.text(file.metadata);
        to.fixed64(static_cast<std::uint64_t>(file.stamp.modified_ns));
        to.varint(file.stamp.bytes);
        to.varint((file.has_content ? 1U : 0U) + (file.given_metadata ? 2U : 0U));
    }
    path_.save(to);
    metadata_.save(to);
    content_.save(to);
}

std::optional<inverted_index> inverted_index::load(std::string_view bytes) {
    byte_reader in(bytes);
    inverted_index index;
    const auto count = in.varint();
    // A file takes at least 12 bytes.
    if (!count || *count > in.left() / 12) return std::nullopt;
    for (std::uint32_t number = 0; number < *count; ++number) {
        const auto path = in.text();
        const auto metadata = in.text();
        const auto modified = in.fixed64();
        const auto size = in.varint64();
        const auto flags = in.varint();
        if (!path || !metadata || !modified || !size || !flags) return std::nullopt;
        if (!path->starts_with('/') || *flags > 3) return std::nullopt;
        indexed_file& file = index.files_.emplace_back();
        file.path = *path;
        file.metadata = *metadata;
        file.stamp = {static_cast<std::int64_t>(*modified), *size};
        file.has_content = (*flags & 1) != 0;
        file.given_metadata = (*flags & 2) != 0;
        if (!index.numbers_.try_emplace(file.path, number).second) return std::nullopt;
    }
    const auto adopt = [&](field_index& field, std::uint32_t indexed_file::*slot) {
        if (!field.load(in, *count)) return false;
        const auto owners = field.owners();
        for (std::uint32_t at = 0; at < owners.size(); ++at) index.files_[owners[at]].*slot = at;
        return true;
    };
    if (!adopt(index.path_, &indexed_file::path_slot) ||
        !adopt(index.metadata_, &indexed_file::metadata_slot) ||
        !adopt(index.content_, &indexed_file::content_slot) || !in.at_end()) {
        return std::nullopt;
    }
    return index;
}

} // namespace heddle::memory
