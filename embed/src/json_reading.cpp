#include <heddle/json.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/source.hpp>
#include <heddle/base/utf8.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

namespace heddle {

namespace {

/// Builds the value out of what Boost.JSON parses. Numbers are converted here, from their text:
/// Boost.JSON of the oldest Boost we support does not give the nearest double.
class json_builder {
public:
    constexpr static std::size_t max_object_size = std::numeric_limits<std::uint32_t>::max() / 4;
    constexpr static std::size_t max_array_size = max_object_size;
    constexpr static std::size_t max_key_size = max_object_size;
    constexpr static std::size_t max_string_size = max_object_size;

    using parser_code = boost::json::error_code;
    using text_part = boost::json::string_view;

    bool on_document_begin(parser_code&) { return true; }
    bool on_document_end(parser_code&) { return true; }
    bool on_object_begin(parser_code&) { return open(json::object()); }
    bool on_object_end(std::size_t, parser_code&) { return close(); }
    bool on_array_begin(parser_code&) { return open(json::array()); }
    bool on_array_end(std::size_t, parser_code&) { return close(); }
    bool on_key_part(text_part part, std::size_t, parser_code&) { return keep(part); }
    bool on_key(text_part part, std::size_t, parser_code& code) {
        keep(part);
        std::string name = std::exchange(text_, {});
        if (open_.back().value.as_object().contains(name)) {
            problem_ = "the name " + json_string(name) + " occurs twice in one object";
            return refuse(code);
        }
        open_.back().name = std::move(name);
        return true;
    }
    bool on_string_part(text_part part, std::size_t, parser_code&) { return keep(part); }
    bool on_string(text_part part, std::size_t, parser_code&) {
        keep(part);
        return put(std::exchange(text_, {}));
    }
    bool on_number_part(text_part part, parser_code&) { return keep(part); }
    bool on_int64(std::int64_t exact, text_part, parser_code&) {
        text_.clear();
        return put(exact);
    }
    bool on_uint64(std::uint64_t near, text_part part, parser_code& code) {
        return number(static_cast<double>(near), part, code);
    }
    bool on_double(double near, text_part part, parser_code& code) {
        return number(near, part, code);
    }
    bool on_bool(bool truth, parser_code&) { return put(truth); }
    bool on_null(parser_code&) { return put(nullptr); }
    bool on_comment_part(text_part, parser_code&) { return true; }
    bool on_comment(text_part, parser_code&) { return true; }

    [[nodiscard]] json take() { return std::move(root_); }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    struct container {
        json value;
        std::string name; ///< of the member that is being read
    };

    bool keep(text_part part) {
        text_.append(part.data(), part.size());
        return true;
    }

    bool open(json empty) {
        open_.push_back({std::move(empty), {}});
        return true;
    }

    bool close() {
        json complete = std::move(open_.back().value);
        open_.pop_back();
        return put(std::move(complete));
    }

    bool put(json value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (auto* items = open_.back().value.get_if<json::array>()) {
            items->push_back(std::move(value));
        } else {
            open_.back().value.as_object().add(std::exchange(open_.back().name, {}),
                                               std::move(value));
        }
        return true;
    }

    bool number(double near, text_part part, parser_code& code) {
        keep(part);
        const std::string text = std::exchange(text_, {});
        double nearest = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), nearest);
        static_cast<void>(end);
        // Out of range are also the numbers that are too small, which become zero.
        if (failed == std::errc::result_out_of_range && std::fabs(near) > 1) {
            problem_ = "the number is too large";
            return refuse(code);
        }
        return put(nearest);
    }

    static bool refuse(parser_code& code) {
        code = boost::json::error::syntax;
        return false;
    }

    std::vector<container> open_;
    std::string text_;
    std::string problem_;
    json root_;
};

[[nodiscard]] std::string found_at(std::string_view text, std::size_t at) {
    if (at >= text.size()) return "the text ends too early";
    const utf8::code_point point = utf8::decode(text, at);
    if (utf8::is_control(point.value)) return "unexpected control character";
    return "unexpected '" + std::string(text.substr(at, point.bytes)) + "'";
}

[[nodiscard]] error error_at(std::string_view text, std::size_t at, errc code,
                             const std::string& what) {
    const text_place place = place_of_byte(text, at);
    return {code, "line " + std::to_string(place.line) + ", column " +
                      std::to_string(place.column) + ": " + what};
}

[[nodiscard]] error parse_error(std::string_view text, std::size_t at, boost::json::error_code code,
                                const std::string& problem, const json_limits& limits) {
    using parser_error = boost::json::error;
    const auto invalid = [&](const std::string& what) {
        return error_at(text, at, errc::invalid_argument, what);
    };
    if (!problem.empty()) return invalid(problem);
    if (code == parser_error::too_deep) {
        return error_at(text, at, errc::limit_exceeded,
                        "nested deeper than " + std::to_string(limits.max_depth) + " levels");
    }
    if (code == parser_error::exponent_overflow) return invalid("the number is too large");
    if (code == parser_error::illegal_leading_surrogate ||
        code == parser_error::illegal_trailing_surrogate ||
        code == parser_error::expected_utf16_escape) {
        return invalid("half of a surrogate pair");
    }
    if (code == parser_error::expected_hex_digit) {
        return invalid("expected four hexadecimal digits after \\u");
    }
    if (code == parser_error::extra_data) {
        return invalid("expected the end of the text, " + found_at(text, at));
    }
    return invalid(found_at(text, at));
}

} // namespace

result<json> json::parse(std::string_view text, const json_limits& limits) {
    if (text.size() > limits.max_bytes) {
        return error(errc::limit_exceeded, "a JSON text of " + std::to_string(text.size()) +
                                               " bytes is over the limit of " +
                                               std::to_string(limits.max_bytes));
    }
    if (const std::size_t at = utf8::find_invalid(text); at != std::string_view::npos) {
        return error(errc::invalid_argument,
                     "the JSON text is not UTF-8: invalid bytes at offset " + std::to_string(at));
    }
    const std::string_view body = utf8::skip_byte_order_mark(text);
    boost::json::parse_options options;
    options.max_depth = limits.max_depth;
    boost::json::basic_parser<json_builder> parser(options);
    boost::json::error_code code;
    std::size_t consumed = parser.write_some(false, body.data(), body.size(), code);
    if (!code) {
        // Blanks may follow, and nothing else.
        while (consumed < body.size() && ascii::is_blank(body[consumed])) ++consumed;
        if (consumed < body.size()) code = boost::json::error::extra_data;
    }
    if (code) {
        return parse_error(text, consumed + (text.size() - body.size()), code,
                           parser.handler().problem(), limits);
    }
    return parser.handler().take();
}

} // namespace heddle
