// Regular expressions. RE2 takes linear time and bounded memory whatever the pattern, so a pattern
// that a model wrote cannot stop a run.
#include <heddle/lang/builtin.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/support.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

/// Compiled patterns, the last used first. One per thread, so that nothing is shared; it holds a
/// bounded number of patterns of bounded size, and none of them depends on a session.
class pattern_cache {
public:
    [[nodiscard]] std::shared_ptr<const RE2> find(std::string_view pattern) {
        const auto found = std::find_if(
            patterns_.begin(), patterns_.end(),
            [&](const auto& compiled) { return std::string_view(compiled->pattern()) == pattern; });
        if (found == patterns_.end()) return nullptr;
        std::rotate(patterns_.begin(), found, found + 1);
        return patterns_.front();
    }
    void add(std::shared_ptr<const RE2> compiled) {
        if (compiled->pattern().size() > longest) return;
        if (patterns_.size() == most) patterns_.pop_back();
        patterns_.insert(patterns_.begin(), std::move(compiled));
    }

private:
    static constexpr std::size_t most = 16;
    static constexpr std::size_t longest = 1000;
    std::vector<std::shared_ptr<const RE2>> patterns_;
};

[[nodiscard]] re2::StringPiece piece_of(std::string_view text) {
    return {text.data(), text.size()};
}

/// True for a pattern with \C, which matches one byte of a character: half a character would come
/// out of it.
[[nodiscard]] bool matches_bytes(std::string_view pattern) noexcept {
    for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
        if (pattern[at] != '\\') continue;
        const char escaped = pattern[++at];
        if (escaped == 'C') return true;
        if (escaped == 'Q') at = std::min(pattern.find("\\E", at), pattern.size());
    }
    return false;
}

/// The compiled pattern of argument 1, or null with the error noted.
[[nodiscard]] std::shared_ptr<const RE2> compiled_pattern(native_call& call,
                                                          arguments_span arguments) {
    const auto pattern = string_argument(call, arguments, 0);
    if (!pattern) return nullptr;
    thread_local pattern_cache cache;
    if (auto known = cache.find(*pattern)) return known;
    if (matches_bytes(*pattern)) {
        static_cast<void>(call.fail_evaluation(
            "bad pattern " + shown(arguments[0]) +
            ": \\C is not supported, because strings are made of characters, not of bytes"));
        return nullptr;
    }
    RE2::Options options;
    options.set_log_errors(false);
    auto compiled = std::make_shared<const RE2>(piece_of(*pattern), options);
    if (!compiled->ok()) {
        static_cast<void>(
            call.fail_evaluation("bad pattern " + shown(arguments[0]) + ": " + compiled->error()));
        return nullptr;
    }
    cache.add(compiled);
    return compiled;
}

/// The groups of one match; group 0 is the whole.
using groups = std::vector<re2::StringPiece>;

/// One match after the other, each search beginning where the last match ended.
class searching {
public:
    searching(const RE2& pattern, std::string_view text)
        : pattern_(pattern),
          text_(text.data() ? text : std::string_view("")), // null would read as "no match"
          found_(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1) {}

    [[nodiscard]] bool next() {
        if (at_ > text_.size()) return false;
        if (!pattern_.Match(piece_of(text_), at_, text_.size(), RE2::UNANCHORED, found_.data(),
                            static_cast<int>(found_.size()))) {
            return false;
        }
        const std::size_t begin = offset(0);
        at_ = begin + found_[0].size();
        // After an empty match the search goes on behind the next code point.
        if (found_[0].empty()) at_ += begin < text_.size() ? utf8::decode(text_, begin).bytes : 1;
        return true;
    }
    [[nodiscard]] const groups& found() const noexcept { return found_; }
    [[nodiscard]] std::size_t offset(std::size_t group) const noexcept {
        return static_cast<std::size_t>(found_[group].data() - text_.data());
    }

private:
    const RE2& pattern_;
    std::string_view text_;
    std::size_t at_ = 0;
    groups found_;
};

/// A group as a string that shares the storage of `text`; nil when it took no part.
[[nodiscard]] value group_value(const value& text, const re2::StringPiece& group) {
    if (group.data() == nullptr) return {};
    if (group.empty()) return value::empty_string();
    const auto offset = static_cast<std::size_t>(group.data() - string_bytes(text).data());
    return text.window(text.offset() + offset, group.size());
}

[[nodiscard]] value match_list(native_call& call, const value& text, const groups& found) {
    value list = make_list_with_capacity(call.memory(), found.size());
    for (const re2::StringPiece& group : found) {
        list = list_push_back(call.memory(), std::move(list), group_value(text, group));
    }
    return list;
}

value match(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    searching search(*pattern, string_bytes(a[1]));
    if (!search.next()) return {};
    return match_list(call, a[1], search.found());
}

value match_all(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    searching search(*pattern, string_bytes(a[1]));
    value matches = value::empty_list();
    while (search.next()) {
        const groups& found = search.found();
        if (!reserve_elements(call, matches.length() + found.size() + 1)) return {};
        value one = found.size() == 1 ? group_value(a[1], found[0]) : match_list(call, a[1], found);
        matches = list_push_back(call.memory(), std::move(matches), std::move(one));
    }
    return matches;
}

value replace(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    const auto given = string_argument(call, a, 2);
    if (!given) return {};
    const re2::StringPiece replacement = piece_of(*given);
    if (std::string problem; !pattern->CheckRewriteString(replacement, &problem)) {
        return call.fail_evaluation("bad replacement " + shown(a[2]) + ": " + problem);
    }
    const std::string_view text = string_bytes(a[1]);
    searching search(*pattern, text);
    std::string out;
    std::size_t copied = 0;
    while (search.next()) {
        const std::size_t begin = search.offset(0);
        out.append(text, copied, begin - copied);
        copied = begin + search.found()[0].size();
        pattern->Rewrite(&out, replacement, search.found().data(),
                         static_cast<int>(search.found().size()));
        if (out.size() >= value::max_length) return make_text(call, out);
        if (!call.reserve(out.size())) return {};
    }
    out.append(text, copied);
    return make_text(call, out);
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t arguments,
                      native_function run, std::string_view summary, std::string_view example) {
    return pure_row(name, parameters, arguments, arguments, run, summary, example, "regex");
}

constexpr builtin rows[] = {
    row("regex-match", "pattern s", 2, match,
        "The first match in s: a list of the whole match and its groups (nil for a group that took "
        "no part), or nil. RE2 syntax: linear time, no back references, no look-around.",
        "(regex-match \"([a-z]+)=([0-9]+)\" \"x: ab=12\") => '(\"ab=12\" \"ab\" \"12\")\n"
        "(regex-match \"z\" \"abc\") => nil"),
    row("regex-match-all", "pattern s", 2, match_all,
        "All matches in s: strings when the pattern has no groups, else lists as regex-match gives "
        "them.",
        "(regex-match-all \"[0-9]+\" \"a1b22\") => '(\"1\" \"22\")\n"
        "(regex-match-all \"([a-z])([0-9])\" \"a1b2\") => '((\"a1\" \"a\" \"1\") (\"b2\" \"b\" "
        "\"2\"))"),
    row("regex-replace", "pattern s replacement", 3, replace,
        "s with every match replaced; \\\\1 to \\\\9 in the replacement stand for the groups, "
        "\\\\0 for the whole match.",
        "(regex-replace \"([a-z])([0-9])\" \"a1 b2\" \"\\\\2\\\\1\") => \"1a 2b\""),
};

} // namespace

std::span<const builtin> regex_builtins() noexcept { return rows; }

} // namespace heddle::lang
