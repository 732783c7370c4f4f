// Writes a JSON text piece by piece; the commas come by themselves.
#pragma once

#include <heddle/base/json_string.hpp>
#include <heddle/providers/common/json_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::providers {

/// Whoever calls it sees to the order of the calls: it checks nothing. Keys are written as they
/// are, so they are literals or texts that were checked; values are escaped.
class json_writer {
public:
    json_writer() = default;
    explicit json_writer(std::string out) : out_(std::move(out)) {}

    void reserve(std::size_t size) { out_.reserve(size); }
    void begin_object() { open('{'); }
    void end_object() { out_ += '}'; }
    void begin_array() { open('['); }
    void end_array() { out_ += ']'; }

    json_writer& key(std::string_view name) {
        separate();
        out_ += '"';
        out_ += name;
        out_ += "\":";
        return *this;
    }
    /// A key that is not ours, escaped.
    json_writer& foreign_key(std::string_view name) {
        separate();
        append_json_string(out_, name);
        out_ += ':';
        return *this;
    }
    void string(std::string_view text) {
        separate();
        append_json_string(out_, text);
    }
    void number(std::int64_t value) {
        separate();
        append_json_number(out_, value);
    }
    void number(double value) {
        separate();
        append_json_number(out_, value);
    }
    void boolean(bool value) { raw(value ? "true" : "false"); }
    /// A JSON value as text, spliced in.
    void raw(std::string_view json) {
        separate();
        out_ += json;
    }

    [[nodiscard]] std::string take() && { return std::move(out_); }
    [[nodiscard]] const std::string& text() const noexcept { return out_; }

private:
    void open(char bracket) {
        separate();
        out_ += bracket;
    }
    /// Known from what precedes: no value ends in any of these characters.
    void separate() {
        if (out_.empty()) return;
        const char last = out_.back();
        if (last != '{' && last != '[' && last != ':') out_ += ',';
    }

    std::string out_;
};

} // namespace heddle::providers
