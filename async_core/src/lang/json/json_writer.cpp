#include <heddle/lang/json_bridge.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/text/number_text.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// A list or map whose rest is still to be written.
struct write_frame {
    const value* content;
    std::size_t next = 0;
};

class json_writing {
public:
    explicit json_writing(const json_write_options& options) : options_(options) {}

    [[nodiscard]] result<std::string> run(const value& v);

private:
    using failure = std::optional<error>;

    [[nodiscard]] failure write(const value& v);
    [[nodiscard]] failure open(const value& v);
    [[nodiscard]] failure step();
    void new_line(std::size_t depth);
    [[nodiscard]] std::string path() const;

    const json_write_options& options_;
    std::string out_;
    std::vector<write_frame> frames_;
};

void json_writing::new_line(std::size_t depth) {
    if (options_.indent == 0) return;
    out_ += '\n';
    out_.append(depth * options_.indent, ' ');
}

/// Where in the value the writer stands: `["rows"][3]`, shortened in the middle.
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
        out_ += list ? "[]" : "{}";
        return std::nullopt;
    }
    if (frames_.size() >= options_.max_depth) {
        return error(
            heddle::errc::limit_exceeded,
            "the value is nested deeper than " + std::to_string(options_.max_depth) + " levels");
    }
    out_ += list ? '[' : '{';
    frames_.push_back({&v});
    return std::nullopt;
}

json_writing::failure json_writing::write(const value& v) {
    switch (v.type()) {
    case kind::nil: out_ += "null"; return std::nullopt;
    case kind::boolean: out_ += v.as_boolean() ? "true" : "false"; return std::nullopt;
    case kind::integer: out_ += std::to_string(v.as_integer()); return std::nullopt;
    case kind::real:
        if (!std::isfinite(v.as_real())) {
            return error(heddle::errc::invalid_argument,
                         "JSON cannot write the float " + real_text(v.as_real()) + path());
        }
        out_ += real_text(v.as_real());
        return std::nullopt;
    case kind::string: append_json_string(out_, string_bytes(v)); return std::nullopt;
    case kind::symbol: append_json_string(out_, symbol_name(v)); return std::nullopt;
    case kind::list:
    case kind::map: return open(v);
    default: break;
    }
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
        out_ += list ? ']' : '}';
        return std::nullopt;
    }
    if (frame.next != 0) out_ += ',';
    new_line(frames_.size());
    const std::size_t next = frame.next++;
    if (list) return write(list_items(*frame.content)[next]);
    const map_entry& entry = map_entries(*frame.content)[next];
    append_json_string(out_, string_bytes(entry.key));
    out_ += options_.indent == 0 ? ":" : ": ";
    return write(entry.item);
}

result<std::string> json_writing::run(const value& v) {
    failure failed = write(v);
    while (!failed && !frames_.empty()) {
        failed = step();
        if (out_.size() > options_.max_bytes) break;
    }
    if (failed) return *std::move(failed);
    if (out_.size() > options_.max_bytes) {
        return error(
            heddle::errc::limit_exceeded,
            "the JSON text is longer than " + std::to_string(options_.max_bytes) + " bytes");
    }
    return std::move(out_);
}

} // namespace

result<std::string> value_to_json(const value& v, const json_write_options& options) {
    return json_writing(options).run(v);
}

} // namespace heddle::lang
