// Regular expressions. RE2 takes linear time and bounded memory for a match, whatever the pattern,
// and match_feed lets others have their turn meanwhile: a pattern that a model wrote cannot stop a
// run.
#include <heddle/lang/builtin.hpp>

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/match_feed.hpp"
#include "lang/builtins/regex_pattern.hpp"
#include "lang/builtins/support.hpp"
#include "lang/text/text_builder.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] re2::StringPiece piece_of(std::string_view text) {
    return {text.data(), text.size()};
}

/// One match after the other, each search beginning where the last match ended.
class searching {
public:
    searching(native_call& call, std::shared_ptr<const RE2> pattern, std::string_view text,
              std::size_t wanted = value::max_length)
        : call_(call), text_(text), feed_(std::move(pattern), text, call.work(), wanted) {}

    /// False: there is no further one, or the call has to stop.
    [[nodiscard]] bool next() {
        found_ = feed_.next();
        if (!found_.empty()) return call_.spend(2);
        if (feed_.failure()) static_cast<void>(call_.fail(*std::move(feed_.failure())));
        return false;
    }
    /// Where the groups of the match stand; group 0 is the whole.
    [[nodiscard]] std::span<const match_range> found() const noexcept { return found_; }
    [[nodiscard]] std::string_view text(std::size_t group) const noexcept {
        const match_range range = found_[group];
        return range.took_part() ? text_.substr(range.begin, range.end - range.begin)
                                 : std::string_view();
    }

private:
    native_call& call_;
    std::string_view text_;
    match_feed feed_;
    std::span<const match_range> found_;
};

/// A group as a string; nil when it took no part.
[[nodiscard]] value group_value(const value& text, match_range group) {
    return group.took_part() ? string_window(text, group.begin, group.end) : value();
}

[[nodiscard]] value match_list(native_call& call, const value& text,
                               std::span<const match_range> found) {
    value list = make_list_with_capacity(call.memory(), found.size());
    for (const match_range& group : found) {
        list = list_push_back(call.memory(), std::move(list), group_value(text, group));
    }
    return list;
}

value match(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    searching search(call, pattern, string_bytes(a[1]), 1);
    if (!search.next()) return {};
    return match_list(call, a[1], search.found());
}

value match_all(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    searching search(call, pattern, string_bytes(a[1]));
    value matches = value::empty_list();
    while (search.next()) {
        const auto found = search.found();
        if (!reserve_elements(call, matches.length() + found.size() + 1)) return {};
        value one = found.size() == 1 ? group_value(a[1], found[0]) : match_list(call, a[1], found);
        if (!append_element(call, matches, std::move(one))) return {};
    }
    return matches;
}

/// A replacement with what the groups of a match are.
[[nodiscard]] bool append_rewritten(native_call& call, text_builder& out, const searching& search,
                                    std::string_view replacement) {
    // Before it is written: a short replacement may repeat a long match many times.
    const auto append = [&](std::string_view part) {
        return reserve_text(call, out.size() + part.size()) && out.append(part);
    };
    for (std::size_t at = 0; at < replacement.size(); ++at) {
        const std::size_t backslash = std::min(replacement.find('\\', at), replacement.size());
        if (!append(replacement.substr(at, backslash - at)) || !out.settle()) return false;
        if (backslash + 1 >= replacement.size()) break;
        at = backslash + 1;
        const char c = replacement[at];
        const std::string_view part =
            c == '\\' ? std::string_view("\\") : search.text(static_cast<std::size_t>(c - '0'));
        if (!append(part)) return false;
    }
    return true;
}

value replace(native_call& call, arguments_span a) {
    const auto pattern = compiled_pattern(call, a);
    if (!pattern || !string_argument(call, a, 1)) return {};
    const auto given = string_argument(call, a, 2);
    if (!given) return {};
    const bool refers = given->find('\\') != std::string_view::npos;
    if (std::string problem; refers && !pattern->CheckRewriteString(piece_of(*given), &problem)) {
        return call.fail_evaluation("bad replacement " + shown(a[2]) + ": " + problem);
    }
    const std::string_view text = string_bytes(a[1]);
    searching search(call, pattern, text);
    text_builder out(call.work());
    std::size_t copied = 0;
    while (search.next()) {
        const match_range whole = search.found()[0];
        if (!out.append(text.substr(copied, whole.begin - copied))) return {};
        copied = whole.end;
        if (!append_rewritten(call, out, search, *given)) return {};
    }
    if (call.work().stopped() || call.failure() || !out.append(text.substr(copied))) return {};
    return made_text(call, std::move(out));
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t arguments,
                      native_function run, std::string_view summary, std::string_view example) {
    return pure_row(name, parameters, arguments, arguments, run, summary, example, "regex");
}

constexpr builtin rows[] = {
    row("regex-match", "pattern s", 2, match,
        "The first match in s: a list of the whole match and its groups (nil for a group that "
        "did not match), or nil. RE2 syntax: linear time, no back references, no look-around.",
        "(regex-match \"([a-z]+)=([0-9]+)\" \"x: ab=12\") => '(\"ab=12\" \"ab\" \"12\")\n"
        "(regex-match \"z\" \"abc\") => nil"),
    row("regex-match-all", "pattern s", 2, match_all,
        "All matches in s: strings when the pattern has no groups, else lists as from "
        "regex-match. Linear for each match: a pattern such as a.*b|a may read to the end of s "
        "for each. If the matches together take 60 s of processor time, a LimitError is raised.",
        "(regex-match-all \"[0-9]+\" \"a1b22\") => '(\"1\" \"22\")\n"
        "(regex-match-all \"([a-z])([0-9])\" \"a1b2\") => '((\"a1\" \"a\" \"1\") (\"b2\" \"b\" "
        "\"2\"))"),
    row("regex-replace", "pattern s replacement", 3, replace,
        "s with every match replaced; \\\\1 to \\\\9 in the replacement refer to the groups, "
        "\\\\0 to the whole match.",
        "(regex-replace \"([a-z])([0-9])\" \"a1 b2\" \"\\\\2\\\\1\") => \"1a 2b\""),
};

} // namespace

std::span<const builtin> regex_builtins() noexcept { return rows; }

} // namespace heddle::lang
