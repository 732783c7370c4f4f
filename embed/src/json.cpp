#include <heddle/json.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>

#include <cmath>

namespace heddle {

namespace {

[[nodiscard]] std::string double_text(double number) {
    if (!std::isfinite(number)) return "null";
    std::string text = number_text(number);
    // Otherwise it would be read back as an integer.
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

class json_writing {
public:
    explicit json_writing(unsigned indent) : indent_(indent) {}

    /// With room for a small document, which would be moved a few times as it grows.
    void write_whole(const json& value) {
        constexpr std::size_t usual_bytes = 256;
        if (value.is_object() || value.is_array()) text_.reserve(usual_bytes);
        write(value);
    }

    void write(const json& value) {
        switch (value.kind()) {
        case json_kind::null: text_ += "null"; return;
        case json_kind::boolean: text_ += value.as_bool() ? "true" : "false"; return;
        case json_kind::integer: text_ += std::to_string(value.as_int()); return;
        case json_kind::number: text_ += double_text(value.as_double()); return;
        case json_kind::string: append_json_string(text_, value.as_string()); return;
        case json_kind::array:
            write_all('[', value.as_array(), ']', [this](const json& item) { write(item); });
            return;
        case json_kind::object:
            write_all('{', value.as_object(), '}', [this](const json_member& member) {
                append_json_string(text_, member.name);
                text_ += indent_ == 0 ? ":" : ": ";
                write(member.value);
            });
            return;
        }
    }

    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    template <class Items, class WriteItem>
    void write_all(char open, const Items& items, char close, const WriteItem& write_item) {
        text_ += open;
        ++depth_;
        bool first = true;
        for (const auto& each : items) {
            if (!first) text_ += ',';
            first = false;
            new_line();
            write_item(each);
        }
        --depth_;
        if (!first) new_line();
        text_ += close;
    }

    void new_line() {
        if (indent_ == 0) return;
        text_ += '\n';
        text_.append(depth_ * indent_, ' ');
    }

    unsigned indent_;
    std::size_t depth_ = 0;
    std::string text_;
};

[[noreturn]] void throw_missing(const std::string& what) {
    throw error_exception(error(errc::not_found, what));
}

} // namespace

std::string_view to_string(json_kind kind) noexcept {
    switch (kind) {
    case json_kind::null: return "null";
    case json_kind::boolean: return "boolean";
    case json_kind::integer: return "integer";
    case json_kind::number: return "number";
    case json_kind::string: return "string";
    case json_kind::array: return "array";
    case json_kind::object: return "object";
    }
    return "";
}

std::string json::to_string(unsigned indent) const {
    json_writing writing(indent);
    writing.write_whole(*this);
    return std::move(writing).text();
}

double json::as_double() const {
    if (const auto* integer = get_if<std::int64_t>()) return static_cast<double>(*integer);
    return as<double>(json_kind::number);
}

const json* json::find(std::string_view name) const noexcept {
    const auto* members = get_if<object>();
    return members == nullptr ? nullptr : members->find(name);
}

json* json::find(std::string_view name) noexcept {
    auto* members = get_if<object>();
    return members == nullptr ? nullptr : members->find(name);
}

const json& json::at(std::string_view name) const {
    if (const json* member = as_object().find(name)) return *member;
    throw_missing("the JSON object has no member " + json_string(name));
}

const json& json::at(std::size_t index) const {
    const array& items = as_array();
    if (index < items.size()) return items[index];
    throw_missing("the JSON array has " + std::to_string(items.size()) + " elements, none at " +
                  std::to_string(index));
}

void json::throw_other_kind(json_kind wanted) const {
    throw error_exception(
        error(errc::invalid_argument, "expected JSON of the kind " +
                                          std::string(heddle::to_string(wanted)) + " but found " +
                                          std::string(heddle::to_string(kind()))));
}

} // namespace heddle
