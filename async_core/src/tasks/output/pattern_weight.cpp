#include "tasks/output/pattern_weight.hpp"

#include <heddle/base/ascii.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::tasks {

namespace {

// Instructions, as RE2 makes them of UTF-8.
constexpr double of_unicode_class = 1'400; ///< \pL alone is 1200; the union of all is no more
constexpr double of_more_in_a_class = 100; ///< to read a class takes time, too
constexpr double of_any_character = 9;     ///< also \D and [^a]
constexpr double of_folded = 4;            ///< (?i)k is k, K and the Kelvin sign
constexpr double of_item = 2;              ///< of a class
constexpr double of_group = 2;

constexpr double units_of_an_instruction = 100;
constexpr double units_of_a_square = 0.6;

[[nodiscard]] bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

/// Walks over a pattern by the rules of RE2, as far as its size depends on them.
class pattern_walk {
public:
    explicit pattern_walk(std::string_view pattern) : text_(pattern), folds_(may_fold(pattern)) {}

    [[nodiscard]] pattern_weight whole() {
        open_.emplace_back();
        while (at_ < text_.size()) step();
        while (open_.size() > 1) close();
        open_.back().end_atom();
        return {open_.back().instructions, open_.back().all_squares()};
    }

private:
    /// What may be repeated.
    struct atom {
        double instructions = 0;
        double squares = 0;
    };
    /// What is between two parentheses.
    struct sequence {
        double instructions = 0;
        double squares = 0;
        double repeated = 0; ///< the sum of the repetitions: RE2 joins x?x? as x{0,2}
        atom last;

        void begin_atom(atom next) {
            end_atom();
            last = next;
        }
        void end_atom() {
            instructions += last.instructions;
            squares += last.squares;
            last = {};
        }
        void repeat(double times) {
            last.instructions = last.instructions * times + 1;
            last.squares *= times;
            repeated += times;
        }
        [[nodiscard]] double all_squares() const { return squares + repeated * repeated; }
    };

    /// Whether the flag i is set anywhere; it then counts for all of the pattern.
    [[nodiscard]] static bool may_fold(std::string_view pattern) {
        for (std::size_t at = pattern.find("(?"); at != pattern.npos;
             at = pattern.find("(?", at + 2)) {
            const std::string_view flags = pattern.substr(at + 2);
            if (flags.substr(0, flags.find_first_not_of("imsU-")).find('i') != flags.npos)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
    [[nodiscard]] double of_literal() const { return folds_ ? of_folded : 1; }

    void step() {
        sequence& in = open_.back();
        switch (text_[at_]) {
        case '(': return open();
        case ')': ++at_; return close();
        case '[': return character_class();
        case '\\': return escape();
        case '.': in.begin_atom({of_any_character, 0}); break;
        case '|': in.begin_atom({1, 0}); break;
        case '?':
        case '*':
        case '+': in.repeat(1); break;
        case '{':
            if (counted()) return;
            [[fallthrough]];
        default: in.begin_atom({of_literal(), 0});
        }
        ++at_;
    }

    void open() {
        ++at_;
        if (rest().starts_with("?P<") || rest().starts_with("?<")) {
            at_ = std::min(text_.find('>', at_), text_.size() - 1) + 1;
        } else if (rest().starts_with('?')) {
            at_ = std::min(text_.find_first_not_of("imsU-", at_ + 1), text_.size());
            if (rest().starts_with(')')) { // flags for what follows
                ++at_;
                return;
            }
            if (rest().starts_with(':')) ++at_;
        }
        open_.emplace_back();
    }

    void close() {
        if (open_.size() == 1) return; // no pattern
        sequence inner = open_.back();
        open_.pop_back();
        inner.end_atom();
        open_.back().begin_atom({inner.instructions + of_group, inner.all_squares()});
    }

    /// {n}, {n,} or {n,m}; otherwise the brace means itself.
    [[nodiscard]] bool counted() {
        constexpr double most = 1'001; // RE2 refuses more
        double greatest = 0;
        double count = 0;
        bool digits = false;
        bool comma = false;
        for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
            const char c = text_[i];
            if (ascii::is_digit(c)) {
                count = std::min(count * 10 + (c - '0'), most);
                greatest = std::max(greatest, count);
                digits = true;
            } else if (c == ',' && digits && !comma) {
                comma = true;
                count = 0;
            } else if (c == '}' && digits) {
                open_.back().repeat(std::max(greatest, 1.0) + (comma ? 1 : 0));
                at_ = i + 1;
                return true;
            } else {
                return false;
            }
        }
        return false;
    }

    /// The length of the escape at the place.
    [[nodiscard]] std::size_t escape_size() const {
        const std::string_view from = rest();
        if (from.size() < 3) return from.size();
        const bool has_braces = from[1] == 'p' || from[1] == 'P' || from[1] == 'x';
        if (!has_braces) return 2;
        if (from[2] != '{') return from[1] == 'x' ? 2 : 3;
        return std::min(from.find('}'), from.size() - 1) + 1;
    }
    [[nodiscard]] bool at_unicode_class() const {
        return rest().starts_with("\\p") || rest().starts_with("\\P");
    }

    void escape() {
        sequence& in = open_.back();
        const std::string_view from = rest();
        const char what = from.size() > 1 ? from[1] : '\0';
        if (what == 'Q') {
            const std::size_t end = std::min(from.find("\\E"), from.size());
            in.begin_atom({static_cast<double>(end) * of_literal(), 0});
            at_ += std::min(end + 2, from.size());
            return;
        }
        if (at_unicode_class()) in.begin_atom({of_unicode_class, 0});
        else in.begin_atom({folds_ ? 2 * of_any_character : of_any_character, 0});
        at_ += escape_size();
    }

    void character_class() {
        double unicode = 0;
        double others = of_item;
        ++at_;
        if (rest().starts_with('^')) {
            others += of_any_character;
            ++at_;
        }
        for (bool first = true; at_ < text_.size(); first = false) {
            const std::string_view from = rest();
            if (from.front() == ']' && !first) break;
            if (at_unicode_class()) {
                unicode += unicode == 0 ? of_unicode_class : of_more_in_a_class;
                at_ += escape_size();
            } else if (from.starts_with("[:") && from.find(":]") != from.npos) {
                others += 2 * of_item;
                at_ += from.find(":]") + 2;
            } else if (from.front() == '\\') {
                others += of_any_character;
                at_ += escape_size();
            } else {
                if (from.front() != '-') others += is_ascii(from.front()) ? of_item / 2 : of_item;
                ++at_;
            }
        }
        if (at_ < text_.size()) ++at_;
        open_.back().begin_atom({unicode + (folds_ ? 2 * others : others), 0});
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool folds_;
    std::vector<sequence> open_;
};

/// RE2 matches a pattern that is bound to the end of a text alone from there, with one more
/// program.
[[nodiscard]] bool runs_backwards(std::string_view pattern) {
    const std::size_t last = pattern.find_last_not_of(')');
    if (last == pattern.npos) return false;
    const std::string_view body = pattern.substr(0, last + 1);
    return (body.ends_with('$') || body.ends_with("\\z")) &&
           !(pattern.starts_with('^') && pattern.find('|') == pattern.npos);
}

} // namespace

pattern_weight pattern_weight::of(std::string_view pattern) {
    pattern_weight weight = pattern_walk(pattern).whole();
    if (!runs_backwards(pattern)) return weight;
    weight.instructions *= 2;
    weight.squares *= 2;
    return weight;
}

double pattern_weight::units() const noexcept {
    return instructions * units_of_an_instruction + squares * units_of_a_square;
}

} // namespace heddle::tasks
