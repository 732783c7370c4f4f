// Finds the tasks whose description matches a text.
#pragma once

#include <heddle/base/keyed_hash.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::tasks {

/// The words of a text in lower case, each once, without stop words ("the", "of"). A word is a run
/// of letters and digits; all characters beyond ASCII count as letters.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// Numbered texts, matched by the Jaccard index of their sets of words: common words divided by
/// words of either. A search visits only texts that share a word with the query. Texts can be added
/// and removed. Threads: one at a time.
class task_matcher {
public:
    struct match {
        std::uint32_t number = 0;
        double score = 0; ///< above 0, at most 1
    };

    /// Replaces an earlier text of that number.
    void put(std::uint32_t number, std::string_view text);
    void remove(std::uint32_t number);
    /// Matches with a score of at least `threshold`, in the order of their numbers. Complexity:
    /// linear in the number of texts that contain each word of `text`.
    [[nodiscard]] std::vector<match> find(std::string_view text, double threshold) const;

private:
    struct entry {
        std::uint32_t number = 0;
        std::uint32_t words = 0;
        bool alive = false;
    };
    void compact();

    std::unordered_map<std::string, std::uint32_t, name_hash> word_ids_;
    std::vector<std::vector<std::uint32_t>> holders_; ///< slots of the texts with a word, by its id
    std::vector<entry> slots_;
    std::unordered_map<std::uint32_t, std::uint32_t> slot_of_; ///< number to slot
    std::vector<std::vector<std::uint32_t>> words_;            ///< ids, by slot
    std::size_t dead_ = 0;
};

} // namespace heddle::tasks
