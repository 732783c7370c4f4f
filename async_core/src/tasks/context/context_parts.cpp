#include "tasks/context/context_parts.hpp"

#include "tasks/output/xml_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/memory/ignore_rules.hpp>
#include <heddle/memory/tokens.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace heddle::tasks {

namespace {

constexpr double k1 = 1.2;
constexpr double b = 0.75;
constexpr double min_share_of_best = 0.25;
constexpr std::size_t max_terms = 256;      ///< of a question
constexpr std::size_t max_words = 200'000;  ///< of a part that are looked at
constexpr std::size_t max_named_paths = 10; ///< paths in the note on what was left out
constexpr std::size_t note_room = 1024;
constexpr std::string_view opening = "<context>\n";
constexpr std::string_view closing = "</context>";

/// Ordered, so that sums are made in the same order every time.
using term_weights = std::map<std::string, double, std::less<>>;

void add_terms(term_weights& terms, std::string_view text, double weight) {
    memory::token_list tokens;
    memory::append_tokens(text, tokens, max_terms);
    for (std::size_t i = 0; i < tokens.size() && terms.size() < max_terms; ++i) {
        double& known = terms[std::string(tokens[i])];
        known = std::max(known, weight);
    }
}

/// How often the terms of a question occur in one part.
struct term_hits {
    std::map<std::string_view, double> counts; ///< keys are the question's
    double length = 0;
};

[[nodiscard]] term_hits count_hits(const context_part& part, const term_weights& terms) {
    term_hits hits;
    memory::token_list words;
    memory::append_tokens(*part.text, words, max_words);
    // A name identifies a file better than a word in it.
    for (int i = 0; i < 2; ++i) memory::append_tokens(part.path, words, SIZE_MAX);
    hits.length = static_cast<double>(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto found = terms.find(words[i]);
        if (found != terms.end()) ++hits.counts[found->first];
    }
    return hits;
}

[[nodiscard]] bool matches(const std::string& pattern, const std::string& path) {
    if (pattern == path) return true;
    const auto compiled = memory::ignore_pattern::parse(pattern);
    if (!compiled) return false;
    std::string_view relative = path;
    while (relative.starts_with('/')) relative.remove_prefix(1);
    // A pattern that names a folder means all that is below it.
    for (std::size_t slash = relative.find('/'); slash != std::string_view::npos;
         slash = relative.find('/', slash + 1)) {
        if (compiled->matches(relative.substr(0, slash), true)) return true;
    }
    return compiled->matches(relative, false);
}

/// The place of the first pattern that matches; nothing when none does.
[[nodiscard]] std::optional<std::size_t> first_match(const std::vector<std::string>& patterns,
                                                     const std::string& path) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (matches(patterns[i], path)) return i;
    }
    return std::nullopt;
}

/// A tag whose end does not stand in the text, so that no document can end itself early.
[[nodiscard]] std::string tag_for(std::string_view text) {
    constexpr std::string_view end = "</file";
    std::size_t next = 0; // the number that is free; 0: none is needed
    for (std::size_t at = text.find(end); at != std::string_view::npos;
         at = text.find(end, at + end.size())) {
        std::size_t number = 0;
        std::size_t digit = at + end.size();
        if (digit < text.size() && text[digit] == '-') ++digit;
        for (int i = 0; i < 9 && digit < text.size() && ascii::is_digit(text[digit]);
             ++i, ++digit) {
            number = number * 10 + static_cast<std::size_t>(text[digit] - '0');
        }
        next = std::max(next, number + 1);
    }
    return next == 0 ? "file" : "file-" + std::to_string(next);
}

[[nodiscard]] std::string written(const context_part& part) {
    const std::string tag = tag_for(*part.text);
    std::string out;
    out.reserve(part.text->size() + part.path.size() + 64);
    out += "<" + tag + " path=\"";
    out += xml_escaped(utf8::printable_line(part.path));
    out += "\">\n";
    out += *part.text;
    if (!out.ends_with('\n')) out += '\n';
    out += "</" + tag + ">\n";
    return out;
}

[[nodiscard]] std::string note_on(const std::vector<std::string>& left_out) {
    std::string text = "<left_out>";
    text += std::to_string(left_out.size()) + (left_out.size() == 1 ? " file" : " files") +
            " did not fit:";
    for (std::size_t i = 0; i < left_out.size(); ++i) {
        // A path that is cut would name another file.
        if (i == max_named_paths || text.size() + left_out[i].size() + 40 > note_room) {
            text += " and " + std::to_string(left_out.size() - i) + " more";
            break;
        }
        text += ' ';
        text += xml_escaped(utf8::printable_line(left_out[i]));
    }
    return text + "</left_out>\n";
}

} // namespace

std::string_view to_string(context_source source) noexcept {
    switch (source) {
    case context_source::explicit_request: return "explicit_request";
    case context_source::task_template: return "template";
    case context_source::automatic_lookup: return "automatic_lookup";
    case context_source::inherited: return "inherited";
    case context_source::none: break;
    }
    return "none";
}

std::vector<context_part> matching_parts(const std::vector<context_part>& parts,
                                         const context_question& question) {
    term_weights terms;
    add_terms(terms, question.description, 1);
    for (const ports::memory_input& input : question.inputs) {
        add_terms(terms, input.text, 1);
        add_terms(terms, input.name, 0.25);
    }
    std::vector<term_hits> hits;
    std::map<std::string_view, double> spread; // in how many parts a term is
    double length = 0;
    for (const context_part& part : parts) {
        hits.push_back(count_hits(part, terms));
        length += hits.back().length;
        for (const auto& [term, count] : hits.back().counts) ++spread[term];
    }
    const auto all = static_cast<double>(parts.size());
    const double average = std::max(1.0, length / std::max(1.0, all));
    std::vector<double> scores(parts.size(), 0);
    std::vector<std::size_t> order;
    double best = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const auto& [term, weight] : terms) {
            const auto found = hits[i].counts.find(term);
            if (found == hits[i].counts.end()) continue;
            const double with = spread[term];
            const double rarity = std::log(1 + (all - with + 0.5) / (with + 0.5));
            const double count = found->second;
            scores[i] += weight * rarity * count * (k1 + 1) /
                         (count + k1 * (1 - b + b * hits[i].length / average));
        }
        best = std::max(best, scores[i]);
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return scores[left] > scores[right];
    });
    std::vector<context_part> list;
    for (const std::size_t i : order) {
        if (scores[i] > 0 && scores[i] >= min_share_of_best * best) list.push_back(parts[i]);
    }
    return list;
}

void arrange(std::vector<context_part>& parts, const context_assembly& assembly) {
    if (assembly.primary.empty() && assembly.secondary.empty() && assembly.excluded.empty()) return;
    std::erase_if(parts, [&](const context_part& part) {
        return first_match(assembly.excluded, part.path).has_value();
    });
    const std::size_t middle = assembly.primary.size();
    std::vector<std::pair<std::size_t, context_part>> placed;
    placed.reserve(parts.size());
    for (context_part& part : parts) {
        std::size_t place = middle;
        if (const auto first = first_match(assembly.primary, part.path)) place = *first;
        else if (const auto last = first_match(assembly.secondary, part.path)) {
            place = middle + 1 + *last;
        }
        placed.emplace_back(place, std::move(part));
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    parts.clear();
    for (auto& [place, part] : placed) parts.push_back(std::move(part));
}

void write_context(std::vector<context_part> parts, std::size_t max_bytes,
                   assembled_context& context) {
    if (parts.empty() && context.left_out.empty()) return;
    std::vector<std::string> documents;
    documents.reserve(parts.size());
    std::size_t bytes = opening.size() + closing.size();
    for (const context_part& part : parts) {
        documents.push_back(written(part));
        bytes += documents.back().size();
    }
    // Room for the note is kept only when something has to be left out.
    const bool noted = bytes > max_bytes || !context.left_out.empty();
    const std::size_t frame = opening.size() + closing.size() + (noted ? note_room : 0);
    std::size_t room = max_bytes > frame ? max_bytes - frame : 0;
    context.text = opening;
    context.text.reserve(std::min(bytes, max_bytes) + note_room);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (documents[i].size() > room) {
            context.left_out.push_back(std::move(parts[i].path));
            continue;
        }
        room -= documents[i].size();
        context.text += documents[i];
        context.parts.push_back(std::move(parts[i]));
    }
    if (!context.left_out.empty()) context.text += note_on(context.left_out);
    context.text += closing;
    if (context.text.size() > max_bytes) context.text.clear(); // not even the note fits
}

} // namespace heddle::tasks
