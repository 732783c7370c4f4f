#include <heddle/lang/json_bridge.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include "lang/json/json_writing.hpp"
#include "lang/text/number_text.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

[[nodiscard]] error stopped() { return error::cancelled(cancel_reason::sibling); }

/// A list or map whose rest is still to be written.
struct write_frame {
    const value* content;
    std::size_t next = 0;
};

class json_writing {
public:
    using failure = std::optional<error>;

    json_writing(text_builder& text, const json_write_options& options)
        : options_(options), text_(text) {}

    [[nodiscard]] failure run(const value& v);

private:
    [[nodiscard]] failure write(const value& v);
    [[nodiscard]] failure write_form(const value& v);
    [[nodiscard]] failure open(const value& v);
    [[nodiscard]] failure step();
    void new_line(std::size_t depth);
    /// False: stop. A text that passes the bound of the whole is left unfinished.
    [[nodiscard]] bool write_string(std::string_view text);
    [[nodiscard]] std::string path() const;

    const json_write_options& options_;
    text_builder& text_;
    std::vector<write_frame> frames_;
};

bool json_writing::write_string(std::string_view text) {
    constexpr std::size_t piece = 16 * 1024;
    constexpr std::size_t work_to_escape = 3; // as often as to copy it
    if (text.size() <= piece) {
        append_json_string(text_.tail(), text);
        return true;
    }
    text_.tail() += '"';
    while (!text.empty()) {
        const std::string_view now = utf8::prefix(text, piece);
        append_json_escaped(text_.tail(), now);
        text.remove_prefix(now.size());
        if (!text_.settle(work_to_escape * now.size() / work_meter::bytes_of_a_unit)) return false;
        if (text_.size() > options_.max_bytes) return true; // run() refuses it
    }
    text_.tail() += '"';
    return true;
}

void json_writing::new_line(std::size_t depth) {
    if (options_.indent == 0) return;
    text_.tail() += '\n';
    text_.tail().append(depth * options_.indent, ' ');
}

json_writing::failure json_writing::write_form(const value& v) {
    constexpr std::size_t most = 1024;
    print_options bound;
    bound.max_bytes = most;
    append_json_string(text_.tail(), print_value(v, bound));
    return std::nullopt;
}

/// Where in the value the writer is: `["rows"][3]`, shortened in the middle.
std::string json_writing::path() const {
    std::string text;
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        if (frames_.size() > shown && i == shown / 2) {
            text += "…";
            i = frames_.size() - shown / 2;
        }
        const write_frame& frame = frames_[i];
        if (frame.content->is(kind::list)) {
            text += "[" + std::to_string(frame.next - 1) + "]";
        } else {
            const auto key = string_bytes(map_entries(*frame.content)[frame.next - 1].key);
            text += "[\"" + std::string(key.size() > 40 ? "…" : key) + "\"]";
        }
    }
    return text.empty() ? text : " at " + text;
}

json_writing::failure json_writing::open(const value& v) {
    const bool list = v.is(kind::list);
    if (v.length() == 0) {
        text_.tail() += list ? "[]" : "{}";
        return std::nullopt;
    }
    if (frames_.size() >= options_.max_depth) {
        return error(
            heddle::errc::limit_exceeded,
            "the value is nested deeper than " + std::to_string(options_.max_depth) + " levels");
    }
    text_.tail() += list ? '[' : '{';
    frames_.push_back({&v});
    return std::nullopt;
}

json_writing::failure json_writing::write(const value& v) {
    switch (v.type()) {
    case kind::nil: text_.tail() += "null"; return std::nullopt;
    case kind::boolean: text_.tail() += v.as_boolean() ? "true" : "false"; return std::nullopt;
    case kind::integer: text_.tail() += std::to_string(v.as_integer()); return std::nullopt;
    case kind::real:
        if (!std::isfinite(v.as_real())) {
            if (options_.writes_all) return write_form(v);
            return error(heddle::errc::invalid_argument,
                         "JSON cannot write the float " + real_text(v.as_real()) + path());
        }
        text_.tail() += real_text(v.as_real());
        return std::nullopt;
    case kind::string: return write_string(string_bytes(v)) ? std::nullopt : failure(stopped());
    case kind::symbol: append_json_string(text_.tail(), symbol_name(v)); return std::nullopt;
    case kind::list:
    case kind::map: return open(v);
    default: break;
    }
    if (options_.writes_all) return write_form(v);
    const std::string_view what = v.is(kind::host) ? host_of(v)->type_name() : kind_name(v.type());
    return error(heddle::errc::invalid_argument,
                 "JSON cannot write a " + std::string(what) + path());
}

/// Writes the next element of the innermost list or map, or closes it.
json_writing::failure json_writing::step() {
    write_frame& frame = frames_.back();
    const bool list = frame.content->is(kind::list);
    if (frame.next == frame.content->length()) {
        frames_.pop_back();
        new_line(frames_.size());
        text_.tail() += list ? ']' : '}';
        return std::nullopt;
    }
    if (frame.next != 0) text_.tail() += ',';
    new_line(frames_.size());
    const std::size_t next = frame.next++;
    if (list) return write(list_items(*frame.content)[next]);
    const map_entry& entry = map_entries(*frame.content)[next];
    if (!write_string(string_bytes(entry.key))) return stopped();
    text_.tail() += options_.indent == 0 ? ":" : ": ";
    return write(entry.item);
}

json_writing::failure json_writing::run(const value& v) {
    failure failed = write(v);
    while (!failed && !frames_.empty()) {
        failed = step();
        if (!failed && !text_.settle()) failed = stopped();
        if (text_.size() > options_.max_bytes) break;
    }
    if (failed) return failed;
    if (text_.size() > options_.max_bytes) {
        return error(
            heddle::errc::limit_exceeded,
            "the JSON text is longer than " + std::to_string(options_.max_bytes) + " bytes");
    }
    return std::nullopt;
}

} // namespace

std::optional<error> write_json(text_builder& out, const value& v,
                                const json_write_options& options) {
    return json_writing(out, options).run(v);
}

result<std::string> value_to_json(const value& v, const json_write_options& options) {
    free_work work;
    text_builder out(work);
    if (auto failure = write_json(out, v, options)) return *std::move(failure);
    return std::move(out).text().value_or("");
}

} // namespace heddle::lang
