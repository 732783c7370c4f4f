#include <heddle/setup/json_line.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/value.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace heddle::setup {

namespace {

enum class controls : std::uint8_t {
    as_they_are, ///< what JSON leaves as it is
    escaped      ///< also what a terminal obeys
};

/// Appends `text` with escapes for what a terminal obeys although JSON leaves it as it is; `append`
/// appends what is between.
template <class Append>
void escape_controls(std::string& out, std::string_view text, Append append) {
    std::size_t run = 0; // where the bytes begin that are not appended yet
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point point = utf8::decode(text, at);
        // The blanks of JSON are controls too, and may stand.
        if (point.value >= 0x7F && utf8::is_display_control(point.value)) {
            append(text.substr(run, at - run));
            std::array<char, 16> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x",
                          static_cast<unsigned>(point.value));
            out += escape.data();
            run = at + point.bytes;
        }
        at += point.bytes;
    }
    append(text.substr(run));
}

/// Writes a value and what is in it, in the order that it has.
class json_writing {
public:
    explicit json_writing(controls how) : how_(how) {}

    void write(const boost::json::value& content);
    [[nodiscard]] std::string take() && { return std::move(out_); }

private:
    void write_string(std::string_view text);
    void write_float(double number);

    controls how_;
    std::string out_;
};

void json_writing::write_string(std::string_view text) {
    if (how_ == controls::as_they_are) return append_json_string(out_, text);
    out_ += '"';
    escape_controls(out_, text, [this](std::string_view run) { append_json_escaped(out_, run); });
    out_ += '"';
}

/// As the language writes it: 0.5, where Boost.JSON has 5E-1.
void json_writing::write_float(double number) {
    const auto text = lang::value_to_json(lang::value::real(number));
    out_ += text ? *text : "null"; // JSON has no infinity
}

void json_writing::write(const boost::json::value& content) {
    const auto write_members = [this](const auto& members, auto write_member) {
        bool first = true;
        for (const auto& each : members) {
            if (!std::exchange(first, false)) out_ += ',';
            write_member(each);
        }
    };
    switch (content.kind()) {
    case boost::json::kind::null: out_ += "null"; break;
    case boost::json::kind::bool_: out_ += content.get_bool() ? "true" : "false"; break;
    case boost::json::kind::int64: out_ += std::to_string(content.get_int64()); break;
    case boost::json::kind::uint64: out_ += std::to_string(content.get_uint64()); break;
    case boost::json::kind::double_: write_float(content.get_double()); break;
    case boost::json::kind::string: write_string(content.get_string()); break;
    case boost::json::kind::array:
        out_ += '[';
        write_members(content.get_array(), [this](const auto& each) { write(each); });
        out_ += ']';
        break;
    case boost::json::kind::object:
        out_ += '{';
        write_members(content.get_object(), [this](const auto& each) {
            write_string(each.key());
            out_ += ':';
            write(each.value());
        });
        out_ += '}';
        break;
    }
}

[[nodiscard]] std::string written(const boost::json::value& content, controls how) {
    json_writing writing(how);
    writing.write(content);
    return std::move(writing).take();
}

} // namespace

std::string json_line(std::string_view json) {
    std::string line;
    line.reserve(json.size() + 1);
    escape_controls(line, json, [&](std::string_view run) { utf8::append_valid(line, run); });
    return line += '\n';
}

std::string json_text(const boost::json::value& content) {
    return written(content, controls::as_they_are);
}

std::string json_line(const boost::json::value& content) {
    return written(content, controls::escaped) + '\n';
}

} // namespace heddle::setup
