#include "lang/builtins/format.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/support.hpp"
#include "lang/print/printing.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// Fills the places of one text.
class formatting {
public:
    formatting(native_call& call, std::string_view text, std::span<value> values)
        : call_(call), text_(text), values_(values), used_(values.size(), false),
          out_(call.work()) {}

    [[nodiscard]] value run();

private:
    [[nodiscard]] bool place(std::string_view name);
    [[nodiscard]] bool place_number(std::size_t index, std::string_view name);
    [[nodiscard]] bool place_name(std::string_view name);
    [[nodiscard]] bool put(const value& v);
    [[nodiscard]] bool refuse(std::string message);
    [[nodiscard]] std::optional<std::size_t> next_brace(std::size_t from);

    native_call& call_;
    std::string_view text_;
    std::span<value> values_;
    std::vector<bool> used_;
    std::size_t next_ = 0;
    text_builder out_;
};

bool formatting::refuse(std::string message) {
    static_cast<void>(call_.fail_evaluation(std::move(message)));
    return false;
}

bool formatting::put(const value& v) {
    if (v.is(kind::string))
        return reserve_text(call_, out_.size() + v.length()) && out_.append(string_bytes(v));
    // Parts that are shared can make a text of any length out of little.
    const heap& memory = call_.memory();
    const std::size_t left = memory.limit() - std::min(memory.limit(), memory.used());
    print_options options;
    options.max_bytes = std::min<std::size_t>(value::max_length, left);
    return print_to(out_, v, options) && reserve_text(call_, out_.size());
}

bool formatting::place_number(std::size_t index, std::string_view name) {
    if (index < values_.size()) {
        used_[index] = true;
        return put(values_[index]);
    }
    return refuse("there is no value for placeholder {" + utf8::shortened(name, 40) +
                  "}: " + std::to_string(values_.size()) + (values_.size() == 1 ? " is" : " are") +
                  " given");
}

bool formatting::place_name(std::string_view name) {
    for (const char c : name) {
        if (c > ' ' && c != '"' && c != ':' && c != '\'') continue;
        return refuse("{" + utf8::shortened(name, 40) +
                      "} is not a placeholder: write {{ and }} for braces that are text");
    }
    if (values_.empty() || !values_.back().is(kind::map)) {
        return refuse("placeholder {" + utf8::shortened(name, 40) +
                      "} needs a map as the last value");
    }
    const value* found = map_find(values_.back(), name);
    if (!found) return refuse("the map has no key \"" + utf8::shortened(name, 40) + "\"");
    used_.back() = true;
    return put(*found);
}

bool formatting::place(std::string_view name) {
    if (!call_.spend(name.size() / 8)) return false;
    if (name.empty()) return place_number(next_++, name);
    std::size_t index = 0;
    const auto [end, ec] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (ec == std::errc() && end == name.data() + name.size()) return place_number(index, name);
    return place_name(name);
}

/// Where the next { or } is, or npos. Nothing: stop.
std::optional<std::size_t> formatting::next_brace(std::size_t from) {
    constexpr std::size_t piece_bytes = 4096;
    for (std::size_t at = from; at < text_.size(); at += piece_bytes) {
        const std::size_t found = text_.substr(at, piece_bytes).find_first_of("{}");
        const std::size_t end = found == std::string_view::npos ? piece_bytes : found;
        if (!call_.spend(1 + end / 4)) return std::nullopt;
        if (found != std::string_view::npos) return at + found;
    }
    return std::string_view::npos;
}

value formatting::run() {
    for (std::size_t at = 0; at < text_.size();) {
        const auto found = next_brace(at);
        if (!found) return {};
        const std::size_t brace = *found;
        if (!out_.append(text_.substr(at, brace == std::string_view::npos ? brace : brace - at)))
            return {};
        if (brace == std::string_view::npos) break;
        const char c = text_[brace];
        if (brace + 1 < text_.size() && text_[brace + 1] == c) {
            out_.tail() += c;
            if (!out_.settle() || !reserve_text(call_, out_.size())) return {};
            at = brace + 2;
            continue;
        }
        const std::size_t close = text_.find('}', brace);
        if (c == '}' || close == std::string_view::npos) {
            return call_.fail_evaluation(std::string("a single ") + c + " at byte " +
                                         std::to_string(brace) + ": write " + c + c +
                                         " for a brace that is text");
        }
        if (!place(text_.substr(brace + 1, close - brace - 1))) return {};
        at = close + 1;
    }
    for (std::size_t i = 0; i < used_.size(); ++i) {
        if (used_[i]) continue;
        const bool foreign =
            text_.find('%') != std::string_view::npos || text_.find('~') != std::string_view::npos;
        return call_.fail_evaluation("value " + std::to_string(i + 1) + " of " +
                                     std::to_string(used_.size()) + " has no place in the text" +
                                     (foreign ? "; placeholders are {}, not %s or ~a" : ""));
    }
    return made_text(call_, std::move(out_));
}

} // namespace

std::vector<std::string_view> places_in(std::string_view text) {
    std::vector<std::string_view> views;
    for (std::size_t at = text.find_first_of("{}"); at != text.npos;
         at = text.find_first_of("{}", at)) {
        if (text.substr(at + 1, 1) == text.substr(at, 1)) {
            at += 2;
            continue;
        }
        const std::size_t close = text.find('}', at);
        if (text[at] == '}' || close == text.npos) break;
        views.push_back(text.substr(at + 1, close - at - 1));
        at = close + 1;
    }
    return views;
}

value format_text(native_call& call, std::span<value> arguments) {
    const auto text = string_argument(call, arguments, 0);
    if (!text) return {};
    return formatting(call, *text, arguments.subspan(1)).run();
}

} // namespace heddle::lang
