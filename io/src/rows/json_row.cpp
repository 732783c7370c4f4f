#include "rows/json_row.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace heddle::rows {

namespace {

namespace json = boost::json;

constexpr std::size_t max_number_bytes = std::size_t{1} << 20; ///< as programs read JSON
constexpr double surely_finite = 1e300; ///< the parser does not always find the nearest number

struct key_span {
    std::size_t begin;
    std::size_t size;
};

/// An object or array that is open.
struct frame {
    std::size_t first_key; ///< of an object, in the list of keys
    bool object;
    bool empty;
};

/// Writes what the parser finds.
class row_handler {
public:
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = max_object_size;
    static constexpr std::size_t max_key_size = max_object_size;
    static constexpr std::size_t max_string_size = max_object_size;

    std::string id_field;
    std::string out;
    std::string id;
    std::string duplicate; ///< the key that an object has twice
    bool has_duplicate = false;
    std::string refused_number;          ///< why a number cannot be used; empty: all can
    std::size_t refused_number_size = 0; ///< in bytes
    bool object = false;                 ///< the whole text is one
    id_state id_found = id_state::missing;

    void begin() {
        out.clear();
        text_.clear();
        keys_.clear();
        names_.clear();
        frames_.clear();
        has_duplicate = false;
        refused_number.clear();
        object = false;
        id_found = id_state::missing;
        after_key_ = false;
        next_is_id_ = id_field == "value"; // of a text that is not an object
    }

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) {
        if (frames_.empty()) {
            object = true;
            next_is_id_ = false;
        }
        open('{', true);
        return true;
    }
    bool on_object_end(std::size_t, json::error_code& failure) {
        if (!check_keys(frames_.back())) {
            failure = json::error::syntax; // replaced by what has_duplicate means
            return false;
        }
        close('}');
        return true;
    }
    bool on_array_begin(json::error_code&) {
        open('[', false);
        return true;
    }
    bool on_array_end(std::size_t, json::error_code&) {
        close(']');
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
        text_.append(part.data(), part.size());
        return true;
    }
    bool on_key(json::string_view part, std::size_t, json::error_code&) {
        const std::string_view key = whole(part);
        separate();
        append_json_string(out, key);
        out += ':';
        keys_.push_back({names_.size(), key.size()});
        names_ += key;
        after_key_ = true;
        next_is_id_ = frames_.size() == 1 && !id_field.empty() && key == id_field;
        text_.clear();
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
        text_.append(part.data(), part.size());
        return true;
    }
    bool on_string(json::string_view part, std::size_t, json::error_code&) {
        const std::string_view content = whole(part);
        separate();
        append_json_string(out, content);
        scalar(content);
        text_.clear();
        return true;
    }
    bool on_number_part(json::string_view part, json::error_code&) {
        text_.append(part.data(), part.size());
        return true;
    }
    bool on_int64(std::int64_t, json::string_view part, json::error_code&) {
        return number(whole(part));
    }
    bool on_uint64(std::uint64_t, json::string_view part, json::error_code&) {
        return number(whole(part));
    }
    bool on_double(double about, json::string_view part, json::error_code& failure) {
        const std::string_view digits = whole(part);
        if (digits.size() > max_number_bytes) {
            return refuse(digits,
                          "a number of more than " + std::to_string(max_number_bytes) + " bytes",
                          failure);
        }
        const bool may_be_infinite = !(std::abs(about) < surely_finite);
        if (may_be_infinite && std::isinf(parse_decimal(digits)))
            return refuse(digits, "the number is too large", failure);
        return number(digits);
    }
    bool on_bool(bool is, json::error_code&) {
        separate();
        out += is ? "true" : "false";
        scalar(is ? "true" : "false");
        return true;
    }
    bool on_null(json::error_code&) {
        separate();
        out += "null";
        structure(); // nothing that names a row
        return true;
    }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

private:
    /// What came in parts, or `last` alone.
    std::string_view whole(json::string_view last) {
        if (text_.empty()) return {last.data(), last.size()};
        text_.append(last.data(), last.size());
        return text_;
    }
    bool refuse(std::string_view digits, std::string why, json::error_code& failure) {
        refused_number = std::move(why);
        refused_number_size = digits.size();
        failure = json::error::syntax; // replaced by what refused_number means
        return false;
    }
    bool number(std::string_view digits) {
        separate();
        out += digits;
        scalar(digits);
        text_.clear();
        return true;
    }
    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (frames_.empty()) return;
        if (!frames_.back().empty) out += ',';
        frames_.back().empty = false;
    }
    void open(char bracket, bool is_object) {
        separate();
        structure();
        out += bracket;
        frames_.push_back({keys_.size(), is_object, true});
    }
    void close(char bracket) {
        const frame ended = frames_.back();
        frames_.pop_back();
        if (ended.object && ended.first_key < keys_.size()) {
            names_.resize(keys_[ended.first_key].begin);
            keys_.resize(ended.first_key);
        }
        out += bracket;
    }
    void scalar(std::string_view content) {
        if (!next_is_id_) return;
        next_is_id_ = false;
        id = content;
        id_found = id_state::found;
    }
    void structure() {
        if (!next_is_id_) return;
        next_is_id_ = false;
        id_found = id_state::not_scalar;
    }
    bool check_keys(const frame& ended) {
        const auto name = [this](const key_span& key) {
            return std::string_view(names_).substr(key.begin, key.size);
        };
        const auto less = [&](const key_span& a, const key_span& b) { return name(a) < name(b); };
        const auto same = [&](const key_span& a, const key_span& b) { return name(a) == name(b); };
        const std::size_t count = keys_.size() - ended.first_key;
        if (count < 2) return true;
        sorted_.assign(keys_.begin() + static_cast<std::ptrdiff_t>(ended.first_key), keys_.end());
        std::sort(sorted_.begin(), sorted_.end(), less);
        const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end(), same);
        if (twice == sorted_.end()) return true;
        duplicate = name(*twice);
        has_duplicate = true;
        return false;
    }

    std::string text_;
    std::string names_; ///< the keys of the objects that are open
    std::vector<key_span> keys_;
    std::vector<key_span> sorted_;
    std::vector<frame> frames_;
    bool after_key_ = false;
    bool next_is_id_ = false;
};

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && ascii::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Exponents that the parser refuses for their length, in a form that it takes, of the same length:
/// the number is 0 or too large in both, since the digits before it do not make up for that.
std::string with_bounded_exponents(std::string_view text) {
    constexpr std::string_view bounded = "99999999"; // more than a number may have digits
    std::string changed(text);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at)
                if (text[at] == '\\') ++at;
            continue;
        }
        if (text[at] != 'e' && text[at] != 'E') continue;
        std::size_t begin = at + 1;
        if (begin < text.size() && (text[begin] == '-' || text[begin] == '+')) ++begin;
        const std::size_t end = std::min(text.find_first_not_of(ascii::digits, begin), text.size());
        const std::size_t digits = std::min(text.find_first_not_of('0', begin), end);
        if (end - digits > bounded.size()) {
            changed.replace(digits, end - digits,
                            std::string(end - digits - bounded.size(), '0') += bounded);
        }
        at = std::max(at, end - 1);
    }
    return changed;
}

json_problem problem_of(const json::error_code& failure, std::string_view text, std::size_t at) {
    if (failure == json::error::incomplete || at >= without_blanks(text).size())
        return {"the line ends inside of the JSON value",
                "each value must be on one line: jq -c . FILE makes such a file", text.size(),
                true};
    if (failure == json::error::too_deep)
        return {"the JSON value is nested too deeply", "", at, true};
    const std::string_view rest = text.substr(at);
    std::string hint = "each line must be one JSON value";
    if (rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-Inf"))
        hint = "JSON has no NaN and no infinity: write null";
    else if (rest.starts_with("'")) hint = "strings of JSON are in double quotes";
    else if (rest.starts_with("None") || rest.starts_with("True") || rest.starts_with("False"))
        hint = "this is Python; write JSON with json.dumps";
    else if (rest.starts_with("}") || rest.starts_with("]"))
        hint = "JSON has no comma after the last member";
    if (failure == json::error::illegal_leading_surrogate ||
        failure == json::error::illegal_trailing_surrogate ||
        failure == json::error::expected_utf16_escape)
        return {"half of a surrogate pair in an escape",
                "the string was cut inside a character; write the file again as UTF-8", at, true};
    return {"invalid JSON: " + failure.message(), std::move(hint), at, true};
}

} // namespace

struct json_row_reader::state {
    explicit state(const json::parse_options& options) : parser(options) {}
    json::basic_parser<row_handler> parser;
    std::string wrapped;
    bool is_wrapped = false;
};

json_row_reader::json_row_reader(std::string id_field, std::size_t max_depth) {
    json::parse_options options;
    options.max_depth = max_depth;
    state_ = std::make_unique<state>(options);
    state_->parser.handler().id_field = std::move(id_field);
}
json_row_reader::~json_row_reader() = default;

std::optional<json_problem> json_row_reader::read(std::string_view text) {
    return read(text, false);
}

std::optional<json_problem> json_row_reader::read(std::string_view text, bool is_bounded) {
    auto& parser = state_->parser;
    row_handler& handler = parser.handler();
    parser.reset();
    handler.begin();
    json::error_code failure;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), failure);
    if (handler.has_duplicate)
        return json_problem{"the key " + json_string(handler.duplicate) + " is in an object twice",
                            "which of the two is meant is unknown: remove one", 0, false};
    if (!handler.refused_number.empty())
        return json_problem{handler.refused_number, "write it as a string",
                            used - std::min(used, handler.refused_number_size), true};
    if (failure == json::error::exponent_overflow && !is_bounded)
        return read(with_bounded_exponents(text), true);
    if (failure) return problem_of(failure, text, used);
    if (used < without_blanks(text).size()) {
        std::size_t at = used;
        while (ascii::is_blank(text[at])) ++at;
        return json_problem{"more text after the JSON value", "each line must be one JSON value",
                            at, true};
    }
    state_->is_wrapped = !handler.object;
    if (state_->is_wrapped) {
        state_->wrapped = "{\"value\":";
        state_->wrapped += handler.out;
        state_->wrapped += '}';
    }
    return std::nullopt;
}

std::string_view json_row_reader::canonical() const noexcept {
    return state_->is_wrapped ? state_->wrapped : state_->parser.handler().out;
}
id_state json_row_reader::id() const noexcept { return state_->parser.handler().id_found; }
const std::string& json_row_reader::id_text() const noexcept { return state_->parser.handler().id; }

} // namespace heddle::rows
