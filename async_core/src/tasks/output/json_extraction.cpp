#include "tasks/output/json_extraction.hpp"

#include "tasks/output/json_string_scan.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_candidates = 64;
constexpr std::size_t max_depth = 128;
constexpr std::size_t max_searched_bytes = 8 * 1024 * 1024;

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept {
    text = utf8::skip_byte_order_mark(text);
    return ascii::trim(text);
}

/// Counts a scan of a text, byte by byte.
class scan_pace {
public:
    explicit scan_pace(lang::work_meter& work) : work_(work) {}
    /// False: the scan is to stop.
    [[nodiscard]] bool next() {
        return ++bytes_ % bytes_of_a_look != 0 || work_.spend(units_of_a_look);
    }

private:
    static constexpr std::size_t bytes_of_a_look = 16 * 1024;
    static constexpr std::uint64_t units_of_a_look = bytes_of_a_look / 4; // some 2 ns a byte

    lang::work_meter& work_;
    std::size_t bytes_ = 0;
};

[[nodiscard]] result<lang::value> read(lang::heap& memory, std::string_view text,
                                       lang::work_meter& work) {
    lang::json_read_options options;
    options.work = &work;
    options.max_depth = max_depth;
    return lang::json_to_value(memory, text, options);
}

/// The content of the only code fence, or nothing. A fence that is never closed ends with the text.
[[nodiscard]] std::optional<std::string_view> fenced(std::string_view text) {
    const std::size_t open = text.find("```");
    if (open == std::string_view::npos) return std::nullopt;
    std::size_t from = text.find('\n', open);
    if (from == std::string_view::npos) return std::nullopt;
    ++from;
    const std::size_t close = text.find("\n```", from - 1);
    if (close == std::string_view::npos) return trimmed(text.substr(from));
    const std::size_t end = std::max(close, from);
    if (text.find("```", close + 4) != std::string_view::npos) return std::nullopt; // several
    return trimmed(text.substr(from, end - from));
}

/// The end of the bracket that begins at `from`, or npos when it is not closed (or closed wrongly).
[[nodiscard]] std::size_t end_of_bracket(std::string_view text, std::size_t from,
                                         lang::work_meter& work) {
    std::vector<char> open;
    json_string_scan strings;
    scan_pace pace(work);
    for (std::size_t at = from; at < text.size();) {
        if (!pace.next()) return std::string_view::npos;
        const char c = text[at];
        const bool in_string = strings.inside();
        at += strings.take(text, at);
        if (in_string) continue;
        if (c == '{' || c == '[') {
            if (open.size() == max_depth) return std::string_view::npos;
            open.push_back(c == '{' ? '}' : ']');
        } else if (c == '}' || c == ']') {
            if (open.empty() || open.back() != c) return std::string_view::npos;
            open.pop_back();
            if (open.empty()) return at;
        }
    }
    return std::string_view::npos;
}

struct mended {
    std::string text;
    bool completed = false;
    bool changed = false;
};

/// Drops trailing commas; closes what is open if `cut`.
[[nodiscard]] mended mend(std::string_view text, bool cut, lang::work_meter& work) {
    struct level {
        char close;
        std::size_t whole; ///< length of the output up to which the members of this level are whole
    };
    mended result;
    std::string& out = result.text;
    out.reserve(text.size() + 8);
    std::vector<level> open;
    json_string_scan strings;
    scan_pace pace(work);
    for (std::size_t at = 0; at < text.size();) {
        if (!pace.next()) return {};
        const char c = text[at];
        const bool in_string = strings.inside();
        const std::size_t taken = strings.take(text, at);
        if (in_string) {
            out += c;
            if (taken == 2) out += text[at + 1];
        }
        at += taken;
        if (in_string) continue;
        if (c == '}' || c == ']') {
            std::size_t last = out.size();
            while (last != 0 && ascii::is_blank(out[last - 1])) --last;
            if (last != 0 && out[last - 1] == ',') {
                out.erase(last - 1, 1);
                result.changed = true;
            }
            if (!open.empty()) open.pop_back();
        }
        if (c == ',' && !open.empty()) open.back().whole = out.size();
        out += c;
        if (c == '{' || c == '[') {
            if (open.size() == max_depth) return result;
            open.push_back({c == '{' ? '}' : ']', out.size()});
        }
    }
    if (!cut || open.empty()) return result;
    // A number or word at the very end may have lost its tail, as a string has; the rest is whole.
    std::size_t last = out.size();
    while (last != 0 && ascii::is_blank(out[last - 1])) --last;
    const char end = last == 0 ? '\0' : out[last - 1];
    const bool whole =
        !strings.inside() && (end == '}' || end == ']' || (end == '"' && open.back().close == ']'));
    out.resize(whole ? last : open.back().whole);
    for (auto each = open.rbegin(); each != open.rend(); ++each) out += each->close;
    result.completed = result.changed = true;
    return result;
}

/// True for a bracket that is hardly part of prose.
[[nodiscard]] bool begins_json(std::string_view text) noexcept {
    const bool object = text.front() == '{';
    text = trimmed(text.substr(1, 100));
    return text.starts_with('"') || (!object && text.starts_with('{'));
}

/// The only object or array in a text, or nothing. `several` is set when there are more.
[[nodiscard]] std::optional<std::string_view> only_bracket(lang::heap& memory,
                                                           std::string_view text, lang::value& out,
                                                           bool& several, lang::work_meter& work) {
    std::optional<std::string_view> found;
    std::size_t tried = 0;
    for (std::size_t at = text.find_first_of("{["); at != std::string_view::npos;
         at = text.find_first_of("{[", at)) {
        if (++tried > max_candidates) return std::nullopt;
        const std::size_t end = end_of_bracket(text, at, work);
        if (work.stopped()) return std::nullopt;
        if (end == std::string_view::npos) {
            if (begins_json(text.substr(at)))
                return std::nullopt; // broken: a part is not the whole
            ++at;
            continue;
        }
        const std::string_view candidate = text.substr(at, end - at);
        auto content = read(memory, candidate, work);
        if (!content) {
            at = end;
            continue;
        }
        if (found) {
            several = true;
            return std::nullopt;
        }
        found = candidate;
        out = std::move(*content);
        at = end;
    }
    return found;
}

/// Reads a text after mending it.
[[nodiscard]] bool read_mended(lang::heap& memory, std::string_view text, bool cut,
                               extracted_json& found, lang::work_meter& work) {
    mended result = mend(text, cut, work);
    if (!work.spend_bytes(4 * result.text.size())) return false;
    if (auto whole = mended_json(result.text)) {
        result.text = *std::move(whole);
        result.changed = true;
    }
    if (!result.changed) return false;
    auto content = read(memory, result.text, work);
    if (!content) return false;
    found.content = std::move(*content);
    found.repaired = std::move(result.text);
    found.text = found.repaired;
    found.completed = result.completed;
    return true;
}

} // namespace

result<void> extract_json(lang::heap& memory, std::string_view response, bool cut,
                          extracted_json& found, lang::work_meter& work) {
    const std::string_view whole = trimmed(response);
    if (whole.empty()) return error(errc::invalid_argument, "the response is empty");
    auto content = read(memory, whole, work);
    if (content) {
        found.content = std::move(*content);
        found.text = whole;
        return {};
    }
    error first = std::move(content).error();
    if (work.stopped() || whole.size() > max_searched_bytes) return first;
    const std::optional<std::string_view> inside = fenced(whole);
    if (inside) {
        content = read(memory, *inside, work);
        if (content) {
            found.content = std::move(*content);
            found.text = *inside;
            return {};
        }
        first = std::move(content).error();
        if (read_mended(memory, *inside, cut, found, work)) return {};
    }
    const std::size_t bracket = whole.find_first_of("{[");
    // Damage at the outermost level comes before what may be whole further in.
    if (bracket == 0 && read_mended(memory, whole, cut, found, work)) return {};
    bool several = false;
    if (const auto only = only_bracket(memory, whole, found.content, several, work)) {
        if (bracket != 0 || !cut) {
            found.text = *only;
            return {};
        }
    }
    if (several) {
        return error(errc::invalid_argument, "the response holds more than one JSON value");
    }
    if (bracket != std::string_view::npos) {
        const std::size_t last = whole.find_last_of("}]");
        const std::size_t end =
            cut || last == std::string_view::npos || last < bracket ? whole.size() : last + 1;
        if (read_mended(memory, whole.substr(bracket, end - bracket), cut, found, work)) return {};
    }
    return first;
}

result<void> read_json_as_it_is(lang::heap& memory, std::string_view response,
                                extracted_json& found, lang::work_meter& work) {
    found.text = trimmed(response);
    HEDDLE_TRY(found.content, read(memory, found.text, work));
    return {};
}

} // namespace heddle::tasks
