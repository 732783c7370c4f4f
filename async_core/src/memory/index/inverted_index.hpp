// All files, and how to find them.
#pragma once

#include "memory/index/field_index.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/keyed_hash.hpp>
#include <heddle/ports/memory_port.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::memory {

/// How a file looked when it was read; another stamp means that it has changed.
struct file_stamp {
    std::int64_t modified_ns = 0;
    std::uint64_t bytes = 0;
    friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// A file made ready off the lock.
struct prepared_file {
    std::string path; ///< absolute
    std::string metadata;
    file_stamp stamp;
    term_counts path_terms;
    term_counts metadata_terms;
    term_counts content_terms;
};

/// A file as the index knows it.
struct indexed_file {
    std::string path; ///< empty: the number is free
    std::string metadata;
    file_stamp stamp;
    bool has_content = false;    ///< its text was read
    bool given_metadata = false; ///< set_metadata was called: a later put keeps it
    std::uint32_t path_slot = field_index::no_slot;
    std::uint32_t metadata_slot = field_index::no_slot;
    std::uint32_t content_slot = field_index::no_slot;
};

struct ranked_file {
    std::uint32_t file = 0;
    double score = 0; ///< 0 to 1
};

struct index_query {
    std::vector<weighted_term> terms;
    ports::matching_strategy strategy = ports::matching_strategy::content;
    std::size_t limit = 20;
};

/// Files by path, with three fields: path, metadata, content. The strategy `metadata` looks at the
/// first two, `content` at all. Incremental: the result of a query depends on the files that are
/// there, not on how they came. Throws bad_alloc. Threads: one writer or many readers.
class inverted_index {
public:
    /// Adds the file, or takes the place of what was known of it.
    void put(prepared_file file);
    /// Sets the metadata alone; a file that is not known is added without content.
    void set_metadata(std::string path, std::string metadata);
    /// False when there is no such file.
    bool remove(std::string_view path);

    [[nodiscard]] const indexed_file* find(std::string_view path) const;
    [[nodiscard]] const indexed_file& file(std::uint32_t number) const { return files_[number]; }
    [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
    [[nodiscard]] std::size_t memory_bytes() const noexcept;
    /// Paths that begin with `prefix`.
    [[nodiscard]] std::vector<std::string> paths_below(std::string_view prefix) const;

    /// The best files, best first, equal ones by path; none with score 0. Linear in the places of
    /// the terms and the number of files.
    [[nodiscard]] std::vector<ranked_file> query(const index_query& wanted) const;

    /// What is kept, without a header. Compacts.
    void save(std::string& out);
    /// Nothing when the bytes are not an index.
    [[nodiscard]] static std::optional<inverted_index> load(std::string_view bytes);

private:
    [[nodiscard]] std::uint32_t number_of(const std::string& path);
    static void replace(field_index& field, std::uint32_t& slot, std::uint32_t file,
                        const term_counts& text);
    static void drop(field_index& field, std::uint32_t& slot);
    void compact_if_wanted();
    void compact();
    void close_gaps();

    std::vector<indexed_file> files_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::string, std::uint32_t, keyed_hash> numbers_{
        16, keyed_hash{random_hash_key()}};
    field_index path_;
    field_index metadata_;
    field_index content_;
};

/// Most tokens of one text that are indexed.
inline constexpr std::size_t max_tokens = 100'000;
/// Most bytes of metadata that are kept.
inline constexpr std::size_t max_metadata_bytes = 64 * 1024;

} // namespace heddle::memory
