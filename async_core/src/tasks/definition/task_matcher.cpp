#include <heddle/tasks/definition/task_matcher.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_text_bytes =
    64 * 1024; ///< of a description or question that is looked at

/// Words of English that say nothing about what a task is for. Sorted.
constexpr std::array<std::string_view, 73> stop_words{
    "a",      "about", "after",  "all",  "also",  "an",   "and",  "any",  "are", "as",    "at",
    "be",     "been",  "by",     "can",  "could", "did",  "do",   "does", "for", "from",  "had",
    "has",    "have",  "he",     "her",  "his",   "how",  "i",    "if",   "in",  "into",  "is",
    "it",     "its",   "just",   "me",   "my",    "no",   "not",  "of",   "on",  "or",    "our",
    "please", "she",   "should", "so",   "some",  "such", "than", "that", "the", "their", "them",
    "then",   "there", "these",  "they", "this",  "to",   "up",   "us",   "was", "we",    "were",
    "what",   "when",  "which",  "will", "with",  "you",  "your"};

[[nodiscard]] bool is_word_byte(char c) noexcept {
    return ascii::is_letter(c) || ascii::is_digit(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

} // namespace

std::vector<std::string> words_of(std::string_view text) {
    static_assert(std::is_sorted(stop_words.begin(), stop_words.end()));
    std::vector<std::string> strings;
    text = utf8::prefix(text, max_text_bytes);
    for (std::size_t at = 0; at < text.size();) {
        if (!is_word_byte(text[at])) {
            ++at;
            continue;
        }
        std::string word;
        for (; at < text.size() && is_word_byte(text[at]); ++at) {
            const char c = text[at];
            word += ascii::to_lower(c);
        }
        if (!std::binary_search(stop_words.begin(), stop_words.end(), word)) {
            strings.push_back(std::move(word));
        }
    }
    std::sort(strings.begin(), strings.end());
    strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
    return strings;
}

void task_matcher::put(std::uint32_t number, std::string_view text) {
    remove(number);
    const auto slot = static_cast<std::uint32_t>(slots_.size());
    std::vector<std::uint32_t> ids;
    for (std::string& word : words_of(text)) {
        const auto fresh = static_cast<std::uint32_t>(holders_.size());
        const auto [place, added] = word_ids_.try_emplace(std::move(word), fresh);
        if (added) holders_.emplace_back();
        holders_[place->second].push_back(slot);
        ids.push_back(place->second);
    }
    slots_.push_back({number, static_cast<std::uint32_t>(ids.size()), true});
    words_.push_back(std::move(ids));
    slot_of_[number] = slot;
}

void task_matcher::remove(std::uint32_t number) {
    const auto found = slot_of_.find(number);
    if (found == slot_of_.end()) return;
    slots_[found->second].alive = false;
    slot_of_.erase(found);
    if (++dead_ > 64 && dead_ > slots_.size() / 2) compact();
}

/// Forgets what was taken out, words too.
void task_matcher::compact() {
    std::vector<std::string> names(holders_.size());
    for (const auto& [word, id] : word_ids_) names[id] = word;
    task_matcher fresh;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        if (!slots_[slot].alive) continue;
        const auto next = static_cast<std::uint32_t>(fresh.slots_.size());
        std::vector<std::uint32_t> ids;
        for (const std::uint32_t id : words_[slot]) {
            const auto count = static_cast<std::uint32_t>(fresh.holders_.size());
            const auto [place, added] = fresh.word_ids_.try_emplace(names[id], count);
            if (added) fresh.holders_.emplace_back();
            fresh.holders_[place->second].push_back(next);
            ids.push_back(place->second);
        }
        fresh.slots_.push_back(slots_[slot]);
        fresh.words_.push_back(std::move(ids));
        fresh.slot_of_[slots_[slot].number] = next;
    }
    *this = std::move(fresh);
}

std::vector<task_matcher::match> task_matcher::find(std::string_view text, double threshold) const {
    const std::vector<std::string> asked = words_of(text);
    std::vector<std::uint32_t> common(slots_.size());
    std::vector<std::uint32_t> touched;
    for (const std::string& word : asked) {
        const auto id = word_ids_.find(word);
        if (id == word_ids_.end()) continue;
        for (const std::uint32_t slot : holders_[id->second]) {
            if (common[slot]++ == 0) touched.push_back(slot);
        }
    }
    std::vector<match> matchs;
    for (const std::uint32_t slot : touched) {
        const entry& one = slots_[slot];
        if (!one.alive) continue;
        const auto either = static_cast<double>(asked.size() + one.words - common[slot]);
        const double score = static_cast<double>(common[slot]) / either;
        if (score >= threshold) matchs.push_back({one.number, score});
    }
    std::sort(matchs.begin(), matchs.end(),
              [](const match& left, const match& right) { return left.number < right.number; });
    return matchs;
}

} // namespace heddle::tasks
