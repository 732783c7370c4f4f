// Checks by valijson, which only this file, schema_constraints.cpp and schema_number.cpp see.
#include "tasks/output/json_pointer.hpp"
#include "tasks/output/schema_constraints.hpp"
#include "tasks/output/schema_number.hpp"
#include "tasks/output/schema_rewriter.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/json_parser.hpp>
#include <heddle/base/source.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/tasks/output/output_schema.hpp>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::size_t max_response_depth = 128;
constexpr std::size_t max_checked_bytes = 4 * 1024 * 1024; ///< of a response with a JSON Schema
constexpr std::size_t max_explained_bytes = 64 * 1024;     ///< above, without details
constexpr std::size_t max_schema_bytes = 256 * 1024;
/// What one check may take, in checks of a value by a schema. Others run meanwhile. A schema that
/// refers to itself, or to others again and again, takes exponential time for a
/// response of a few hundred bytes: the limit ends that after about a second. Other schemas take
/// time in proportion to the length of the response, times the alternatives of a union.
struct step_limits {
    std::uint64_t of_a_byte = 0;
    std::uint64_t max = 0;
};
constexpr std::uint64_t first_steps = 1'000'000;
constexpr step_limits multiplied_steps{2, 3'000'000};
constexpr step_limits plain_steps{32, 24'000'000};
constexpr std::uint64_t explaining_steps = 20'000; ///< each may leave a message

/// Reading counts some 5 ns a byte.
constexpr std::size_t bytes_of_a_piece = 16 * 1024;
constexpr std::size_t bytes_read_in_a_unit = 2;

/// Throws given_up.
[[nodiscard]] json::value parse_response(std::string_view text, json::storage_ptr memory,
                                         boost::system::error_code& failed,
                                         lang::work_meter& work) {
    json_parser parser(max_response_depth, std::move(memory)); // of the tree: released as a whole
    for (std::size_t at = 0; at < text.size() && !failed; at += bytes_of_a_piece) {
        const std::string_view piece = text.substr(at, bytes_of_a_piece);
        if (!work.spend(piece.size() / bytes_read_in_a_unit)) throw given_up{};
        if (parser.write_some(piece, failed) < piece.size() && !failed)
            failed = json::error::extra_data;
    }
    if (!failed) parser.finish(failed);
    return failed ? json::value() : parser.release();
}

/// Writes whole numbers in one way, as far as the library knows them: 5.0 as 5, and those that it
/// does not know as wide_numbers have it. Result: false for text with a NUL, of which the library
/// would see the beginning only.
[[nodiscard]] bool make_comparable(json::value& tree) {
    constexpr double two_to_63 = 9223372036854775808.0;
    const auto has_nul = [](std::string_view text) { return text.find('\0') != text.npos; };
    check_effort::spend(2);
    if (json::array* list = tree.if_array()) {
        for (json::value& each : *list) {
            if (!make_comparable(each)) return false;
        }
    } else if (json::object* object = tree.if_object()) {
        for (auto& [name, each] : *object) {
            if (has_nul({name.data(), name.size()}) || !make_comparable(each)) return false;
        }
    } else if (tree.is_uint64()) {
        tree = wide_numbers::keep(tree.get_uint64());
    } else if (tree.is_double()) {
        const double number = tree.get_double();
        if (number >= -two_to_63 && number < two_to_63 && std::trunc(number) == number)
            tree = static_cast<std::int64_t>(number);
    } else if (const json::string* text = tree.if_string()) {
        return !has_nul({text->data(), text->size()});
    }
    return true;
}

/// "<root>", "[\"a\"]", "[0]" as a JSON pointer.
[[nodiscard]] std::string pointer_of(const std::vector<std::string>& context) {
    std::string path;
    for (std::size_t i = 1; i < context.size(); ++i) {
        std::string_view part = context[i];
        if (part.starts_with('[')) part.remove_prefix(1);
        if (part.ends_with(']')) part.remove_suffix(1);
        if (part.size() >= 2 && part.front() == '"') part = part.substr(1, part.size() - 2);
        append_pointer_token(path, part);
    }
    return path;
}

[[nodiscard]] std::string one_line(std::string_view text) {
    return utf8::shortened(utf8::printable_line(text), 500);
}

/// What keeps a text from being JSON, with its place.
[[nodiscard]] std::string json_mistake(std::string_view text, std::size_t read,
                                       const boost::system::error_code& failed) {
    const std::size_t at = std::min(read, text.size());
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t\r\n");
    const bool closes = at < text.size() && (text[at] == '}' || text[at] == ']');
    std::string what = closes && before != text.npos && text[before] == ','
                           ? std::string("trailing comma before ") + text[at]
                           : failed.message();
    const text_place place = place_of_byte(text, at);
    return what + " (line " + std::to_string(place.line) + ", column " +
           std::to_string(place.column) + ")";
}

/// The schema of a value, where the schemas around it state it simply, or null.
[[nodiscard]] const json::value* schema_at(const json::value& schema,
                                           const std::vector<std::string>& path) {
    const json::value* at = &schema;
    for (const std::string& token : path) {
        const json::object* object = at->if_object();
        const json::value* items = object ? object->if_contains("items") : nullptr;
        const json::value* members = object ? object->if_contains("properties") : nullptr;
        if (items && members) return nullptr; // which of them holds depends on the value
        if (members) {
            const json::object* names = members->if_object();
            items = names ? names->if_contains(token) : nullptr;
        }
        if (!items) return nullptr;
        at = items;
    }
    return at;
}

/// "'q' must be a string, not the integer 1": a value has another type than the schema has.
/// Nothing: the schema does not state it simply.
[[nodiscard]] std::optional<std::string> wrong_type(const json::value& schema,
                                                    const json::value& document,
                                                    std::string_view path) {
    const std::vector<std::string> tokens = tokens_of_pointer(path);
    const json::value* wanted_here = schema_at(schema, tokens);
    const json::object* object = wanted_here ? wanted_here->if_object() : nullptr;
    const json::value* type = object ? object->if_contains(safe_type_key) : nullptr;
    if (!type || !type->is_string()) return std::nullopt;
    const json::value* given = &document;
    for (const std::string& token : tokens) {
        const json::object* members = given->if_object();
        const json::array* list = given->if_array();
        std::size_t index = 0;
        if (list) {
            const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
            given = read.ec == std::errc{} ? list->if_contains(index) : nullptr;
        } else {
            given = members ? members->if_contains(token) : nullptr;
        }
        if (!given) return std::nullopt;
    }
    if (given->is_double() && std::isnan(given->get_double())) return std::nullopt; // a wide number
    const std::string_view wanted = type->get_string();
    const bool vowel =
        wanted.starts_with('a') || wanted.starts_with('i') || wanted.starts_with('o');
    const std::string_view is = given->is_string() ? "the string "
                                : given->is_number()
                                    ? given->is_double() ? "the number " : "the integer "
                                : given->is_object() ? "the object "
                                : given->is_array()  ? "the array "
                                                     : "";
    const bool is_member = tokens.size() == 1 && document.is_object();
    return (tokens.empty() ? std::string("it")
            : is_member    ? "'" + one_line(tokens.front()) + "'"
                           : "the value at " + one_line(path)) +
           " must be " + (vowel ? "an " : "a ") + std::string(wanted) + ", not " + std::string(is) +
           utf8::shortened(json::serialize(*given), 80);
}

/// Explains what is wrong, as far as that does not take too long.
void explain(const valijson::Schema& schema, const json::value& written,
             const json::value& document, schema_violation& found, lang::work_meter& work) {
    const valijson::adapters::BoostJsonAdapter target(document);
    valijson::ValidationResults results;
    try {
        const check_effort bounded(explaining_steps, work);
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        validator.validate(schema, target, &results);
    } catch (const too_dear&) { // what was found until then is true
    }
    constexpr std::size_t max_reported = 3;
    std::size_t reported = 0;
    for (const auto& one : results) {
        if (reported == max_reported) break;
        // What contains an invalid value is invalid too, which is not news.
        if (reported != 0 && one.description.starts_with("Failed to validate")) continue;
        const std::string path = pointer_of(one.context);
        if (reported == 0) found.path = path;
        found.message += reported == 0 ? ": " : "; ";
        std::optional<std::string> type;
        if (one.description.starts_with("Value type not permitted"))
            type = wrong_type(written, document, path);
        if (type) found.message += *type;
        else
            found.message +=
                (path.empty() ? "" : "at " + one_line(path) + ": ") + one_line(one.description);
        ++reported;
    }
    const json::object* whole = written.if_object();
    if (reported == 0 && whole &&
        whole->contains("propertyNames")) // which the library does not report
        found.message += ": it has a member whose name propertyNames does not allow";
}

} // namespace

struct output_schema::compiled {
    std::string text;
    json::value document; ///< the parsed schema keeps parts of it
    valijson::Schema schema;
    bool object = false;
    bool strict = false;
    bool multiplies = false;
};

result<output_schema> output_schema::compile(std::string_view schema, schema_place* wrong) {
    lang::free_work work;
    return compile(schema, work, wrong);
}

result<output_schema> output_schema::compile(std::string_view schema, lang::work_meter& work,
                                             schema_place* wrong) {
    struct row {
        std::string_view name;
        basic meaning;
    };
    static constexpr std::array<row, 9> names{{{"", basic::any},
                                               {"object", basic::object},
                                               {"array", basic::array},
                                               {"[]", basic::array},
                                               {"string[]", basic::strings},
                                               {"number[]", basic::numbers},
                                               {"number", basic::number},
                                               {"boolean", basic::boolean},
                                               {"string", basic::string}}};
    output_schema output;
    for (const row& known : names) {
        if (known.name != schema) continue;
        output.basic_ = known.meaning;
        return output;
    }
    const auto refused = [](const std::string& why) {
        return error(heddle::errc::invalid_argument, why)
            .with_hint(
                "known names: object, array, [], string[], number[], number, boolean, "
                "string; or a JSON Schema");
    };
    if (schema.find('{') == std::string_view::npos) {
        return refused("unknown schema '" + utf8::shortened(schema, 80) + "'");
    }
    if (schema.size() > max_schema_bytes) return refused("the schema is too long");
    auto all = std::make_shared<compiled>();
    all->text = schema;
    boost::system::error_code failed;
    json_parser reading(max_json_depth);
    const std::size_t read = reading.write_some(schema, failed);
    if (!failed && schema.find_first_not_of(ascii::blanks, read) != std::string_view::npos)
        failed = json::error::extra_data;
    if (!failed) reading.finish(failed);
    if (failed) {
        if (wrong) wrong->offset = std::min(read, schema.size() - 1);
        if (failed == json::error::too_deep) {
            return refused("the schema is nested more than " + std::to_string(max_json_depth) +
                           " levels deep");
        }
        return refused("the schema is not JSON: " + json_mistake(schema, read, failed));
    }
    all->document = reading.release();
    const wide_numbers numbers;
    if (!make_comparable(all->document))
        return refused("the schema holds text with a NUL character");
    if (!all->document.is_object()) return refused("the schema must be a JSON object");
    const json::value* type = all->document.get_object().if_contains("type");
    all->object = type && *type == json::value("object");
    schema_patterns patterns(work);
    schema_rewriter rewriter(patterns, work);
    if (auto done = rewriter.rewrite(all->document); !done) {
        if (wrong) wrong->pointer = rewriter.wrong_place();
        return refused(done.error().message());
    }
    all->strict = rewriter.strict() && all->object;
    all->multiplies = rewriter.multiplies();
    try {
        valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
        add_own_keywords(parser, patterns, work);
        parser.populateSchema(valijson::adapters::BoostJsonAdapter(all->document), all->schema);
    } catch (const given_up&) {
        return refused("the schema was not read to its end");
    } catch (const std::exception& unusable) {
        return refused("the schema cannot be used: " + one_line(unusable.what()));
    }
    output.compiled_ = std::move(all);
    return output;
}

std::optional<schema_violation> output_schema::check(const lang::value& content,
                                                     std::string_view text,
                                                     std::string_view subject) const {
    lang::free_work work;
    return check(content, text, subject, work);
}

std::optional<schema_violation> output_schema::check(const lang::value& content,
                                                     std::string_view text,
                                                     std::string_view subject,
                                                     lang::work_meter& work) const {
    const auto refused = [&](std::string_view what) {
        return schema_violation{std::string(subject) + " " + std::string(what), ""};
    };
    if (!compiled_) return check_basic(content, work);
    if (text.size() > max_checked_bytes) {
        return refused("is too long to be checked against the schema");
    }
    try {
        json::monotonic_resource memory;
        boost::system::error_code failed;
        json::value document = parse_response(text, &memory, failed, work);
        if (failed) return refused("is not JSON: " + failed.message());
        const valijson::adapters::BoostJsonAdapter target(document);
        const wide_numbers numbers;
        {
            const step_limits& limits = compiled_->multiplies ? multiplied_steps : plain_steps;
            const check_effort bounded(
                std::min(first_steps + limits.of_a_byte * text.size(), limits.max), work);
            if (!make_comparable(document))
                return refused("holds text with a NUL character, which cannot be checked");
            valijson::Validator validator(valijson::Validator::kStrongTypes);
            if (validator.validate(compiled_->schema, target, nullptr)) return std::nullopt;
        }
        schema_violation found = refused("does not match the schema");
        if (text.size() <= max_explained_bytes)
            explain(compiled_->schema, compiled_->document, document, found, work);
        return found;
    } catch (const given_up&) {
        return refused("was not checked to its end");
    } catch (const too_dear&) {
        schema_violation found =
            refused("cannot be checked: by this schema it would take too long");
        found.too_dear = true;
        return found;
    } catch (const std::exception& wrong) {
        return refused("cannot be checked: " + one_line(wrong.what()));
    }
}

std::optional<schema_violation> output_schema::check_basic(const lang::value& content,
                                                           lang::work_meter& work) const {
    const auto is_number = [](const lang::value& v) { return v.is_integer() || v.is_real(); };
    const auto wrong = [&](const lang::value& v, std::string_view expected, std::string path) {
        std::string message = "expected " + std::string(expected) + ", not ";
        switch (v.type()) {
        case lang::kind::nil: message += "null"; break;
        case lang::kind::map: message += "an object"; break;
        case lang::kind::list: message += "an array"; break;
        case lang::kind::integer:
        case lang::kind::real: message += "a number"; break;
        default: message += "a " + std::string(lang::kind_name(v.type())); break;
        }
        if (!path.empty()) message = "at " + path + ": " + message;
        return schema_violation{std::move(message), std::move(path)};
    };
    const auto all = [&](auto good, std::string_view expected) -> std::optional<schema_violation> {
        if (!content.is(lang::kind::list)) return wrong(content, "an array", "");
        std::size_t index = 0;
        for (const lang::value& element : lang::list_items(content)) {
            if (!good(element)) return wrong(element, expected, "/" + std::to_string(index));
            if (++index % 4096 == 0 && !work.spend(4096)) break;
        }
        return std::nullopt;
    };
    switch (basic_) {
    case basic::any: return std::nullopt;
    case basic::object:
        if (content.is(lang::kind::map)) return std::nullopt;
        return wrong(content, "an object", "");
    case basic::array:
        if (content.is(lang::kind::list)) return std::nullopt;
        return wrong(content, "an array", "");
    case basic::strings:
        return all([](const lang::value& v) { return v.is(lang::kind::string); }, "a string");
    case basic::numbers: return all(is_number, "a number");
    case basic::number:
        if (is_number(content)) return std::nullopt;
        return wrong(content, "a number", "");
    case basic::boolean:
        if (content.is_boolean()) return std::nullopt;
        return wrong(content, "a boolean", "");
    case basic::string:
        if (content.is(lang::kind::string)) return std::nullopt;
        return wrong(content, "a string", "");
    }
    return std::nullopt;
}

bool output_schema::describes_object() const noexcept {
    return compiled_ ? compiled_->object : basic_ == basic::object;
}

std::string_view output_schema::json_schema() const noexcept {
    return compiled_ ? std::string_view(compiled_->text) : std::string_view();
}

bool output_schema::fits_strict_mode() const noexcept { return compiled_ && compiled_->strict; }

std::string output_schema::in_words() const {
    if (compiled_) return "JSON that matches this JSON Schema: " + compiled_->text;
    switch (basic_) {
    case basic::any: return "JSON";
    case basic::object: return "a JSON object";
    case basic::array: return "a JSON array";
    case basic::strings: return "a JSON array of strings";
    case basic::numbers: return "a JSON array of numbers";
    case basic::number: return "a JSON number";
    case basic::boolean: return "true or false";
    case basic::string: return "a JSON string";
    }
    return "JSON";
}

} // namespace heddle::tasks
