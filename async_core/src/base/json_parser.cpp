#include <heddle/base/json_parser.hpp>

#include <heddle/base/number_text.hpp>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>

#include <string>
#include <utility>

namespace heddle {

namespace {

namespace json = boost::json;
using boost::system::error_code;

/// What Boost.JSON asks of a receiver; the names are its.
struct value_builder {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    using text = json::string_view;

    bool on_document_begin(error_code& /*failed*/) { return true; }
    bool on_document_end(error_code& /*failed*/) { return true; }
    bool on_array_begin(error_code& /*failed*/) { return true; }
    bool on_array_end(std::size_t n, error_code& /*failed*/) { return values.push_array(n), true; }
    bool on_object_begin(error_code& /*failed*/) { return true; }
    bool on_object_end(std::size_t n, error_code& /*failed*/) {
        return values.push_object(n), true;
    }
    bool on_string_part(text piece, std::size_t /*n*/, error_code& /*failed*/) {
        return values.push_chars(piece), true;
    }
    bool on_string(text last, std::size_t /*n*/, error_code& /*failed*/) {
        return values.push_string(last), true;
    }
    bool on_key_part(text piece, std::size_t /*n*/, error_code& /*failed*/) {
        return values.push_chars(piece), true;
    }
    bool on_key(text last, std::size_t /*n*/, error_code& /*failed*/) {
        return values.push_key(last), true;
    }
    bool on_number_part(text piece, error_code& /*failed*/) {
        digits.append(piece.data(), piece.size());
        return true;
    }
    bool on_int64(std::int64_t number, text /*last*/, error_code& /*failed*/) {
        digits.clear();
        return values.push_int64(number), true;
    }
    bool on_uint64(std::uint64_t number, text /*last*/, error_code& /*failed*/) {
        digits.clear();
        return values.push_uint64(number), true;
    }
    bool on_double(double /*about*/, text last, error_code& /*failed*/) {
        const bool is_whole = digits.empty();
        if (!is_whole) digits.append(last.data(), last.size());
        values.push_double(parse_decimal(is_whole ? std::string_view(last) : digits));
        digits.clear();
        return true;
    }
    bool on_bool(bool given, error_code& /*failed*/) { return values.push_bool(given), true; }
    bool on_null(error_code& /*failed*/) { return values.push_null(), true; }
    bool on_comment_part(text /*piece*/, error_code& /*failed*/) { return true; }
    bool on_comment(text /*piece*/, error_code& /*failed*/) { return true; }

    json::value_stack values;
    std::string digits; ///< of a number so far, when it comes in pieces
};

json::parse_options options_for(std::size_t max_depth) {
    json::parse_options options;
    options.max_depth = max_depth;
    return options;
}

} // namespace

struct json_parser::state {
    state(std::size_t max_depth, json::storage_ptr memory) : events(options_for(max_depth)) {
        events.handler().values.reset(std::move(memory));
    }
    json::basic_parser<value_builder> events;
};

json_parser::json_parser(std::size_t max_depth) : json_parser(max_depth, json::storage_ptr()) {}
json_parser::json_parser(std::size_t max_depth, json::storage_ptr memory)
    : state_(std::make_unique<state>(max_depth, std::move(memory))) {}
json_parser::~json_parser() = default;

std::size_t json_parser::write_some(std::string_view piece, error_code& failed) {
    return state_->events.write_some(true, piece.data(), piece.size(), failed);
}

void json_parser::finish(error_code& failed) {
    state_->events.write_some(false, nullptr, 0, failed);
}

json::value json_parser::release() { return state_->events.handler().values.release(); }

json::value parse_json(std::string_view text, error_code& failed, std::size_t max_depth) {
    json::basic_parser<value_builder> events(options_for(max_depth));
    events.handler().values.reset();
    const std::size_t read = events.write_some(false, text.data(), text.size(), failed);
    if (!failed && read < text.size()) failed = json::error::extra_data;
    return failed ? json::value() : events.handler().values.release();
}

} // namespace heddle
