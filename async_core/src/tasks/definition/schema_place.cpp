#include "tasks/definition/schema_place.hpp"

#include "tasks/output/json_pointer.hpp"
#include "tasks/output/json_string_scan.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

namespace {

using std::size_t;
using std::string_view;

struct byte_range {
    size_t begin = 0;
    size_t end = 0;
};

/// Goes through JSON that was parsed before, so it is well-formed.
class json_scan {
public:
    explicit json_scan(string_view text) : text_(text) {}

    [[nodiscard]] std::optional<byte_range> find(const std::vector<std::string>& tokens) {
        for (const std::string& token : tokens) {
            skip_blanks();
            if (peek() == '{' ? !enter_member(token) : !enter_element(token)) return std::nullopt;
        }
        skip_blanks();
        const size_t begin = at_;
        skip_value();
        return byte_range{begin, at_};
    }

private:
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        at_ = std::min(text_.find_first_not_of(ascii::blanks, at_), text_.size());
    }

    string_view skip_string() {
        const size_t begin = at_;
        json_string_scan strings;
        do at_ += strings.take(text_, at_);
        while (strings.inside() && at_ < text_.size());
        return text_.substr(begin, at_ - begin);
    }

    void skip_value() {
        size_t open = 0;
        do {
            skip_blanks();
            const char c = peek();
            if (c == '\0') return;
            if (c == '"') skip_string();
            else if (c == '{' || c == '[') ++open, ++at_;
            else if (c == '}' || c == ']') --open, ++at_;
            else if (c == ',' || c == ':') ++at_;
            else at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
        } while (open != 0);
    }

    /// Of members with the same name the last counts.
    bool enter_member(string_view wanted) {
        std::optional<size_t> found;
        for (++at_;; ++at_) {
            skip_blanks();
            if (peek() != '"') break;
            boost::system::error_code failed;
            const string_view written = skip_string();
            const auto name = boost::json::parse({written.data(), written.size()}, failed);
            skip_blanks();
            ++at_; // the colon
            skip_blanks();
            const bool same =
                !failed && name.is_string() &&
                string_view(name.get_string().data(), name.get_string().size()) == wanted;
            if (same) found = at_;
            skip_value();
            skip_blanks();
            if (peek() != ',') break;
        }
        if (found) at_ = *found;
        return found.has_value();
    }

    bool enter_element(string_view wanted) {
        size_t index = 0;
        const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
        if (peek() != '[' || read.ec != std::errc()) return false;
        for (++at_; index != 0; --index) {
            skip_value();
            skip_blanks();
            if (peek() != ',') return false;
            ++at_;
        }
        return true;
    }

    string_view text_;
    size_t at_ = 0;
};

/// For each byte of a text the offset in the file that it was read from.
class written_text {
public:
    written_text(string_view written, text_writing writing) : written_(written) {
        if (writing == text_writing::quoted) read_quoted();
        else read_xml();
    }

    /// The first byte that is not a blank, for a text whose blanks do not count.
    void trim() {
        const auto is_blank = [&](size_t offset) { return ascii::is_blank(written_[offset]); };
        const auto first = std::find_if_not(origins_.begin(), origins_.end(), is_blank);
        origins_.erase(origins_.begin(), first);
        while (!origins_.empty() && is_blank(origins_.back())) origins_.pop_back();
    }

    [[nodiscard]] size_t size() const noexcept { return origins_.size(); }
    /// `offset` may be the size: then behind the last byte.
    [[nodiscard]] size_t origin(size_t offset) const {
        if (offset < origins_.size()) return origins_[offset];
        return origins_.empty() ? 0 : origins_.back() + 1;
    }

private:
    void add(size_t origin, size_t bytes) { origins_.insert(origins_.end(), bytes, origin); }

    [[nodiscard]] std::uint32_t number_at(size_t at, size_t digits, int base) const {
        std::uint32_t number = 0;
        const string_view piece = written_.substr(std::min(at, written_.size()), digits);
        (void)std::from_chars(piece.data(), piece.data() + piece.size(), number, base);
        return number;
    }

    void read_quoted() {
        for (size_t at = 1; at + 1 < written_.size();) {
            if (written_[at] != '\\') {
                add(at, 1);
                ++at;
            } else if (written_[at + 1] == 'u') {
                const std::uint32_t point = number_at(at + 2, 4, 16);
                const bool pair = utf8::is_high_surrogate(point);
                add(at, pair ? 4 : utf8::size_of(point));
                at += pair ? 12 : 6;
            } else {
                add(at, 1);
                at += 2;
            }
        }
    }

    void read_xml() {
        for (size_t at = 0; at < written_.size();) {
            const string_view rest = written_.substr(at);
            if (rest.starts_with("<![CDATA[")) {
                const size_t end = std::min(written_.find("]]>", at), written_.size());
                for (size_t i = at + 9; i < end; ++i) add(i, 1);
                at = end + 3;
            } else if (rest.starts_with("<!--")) {
                at = std::min(written_.find("-->", at), written_.size()) + 3;
            } else if (rest.starts_with("&")) {
                const size_t end = std::min(written_.find(';', at), written_.size());
                const bool hex = rest.starts_with("&#x");
                const bool number = rest.starts_with("&#");
                const size_t digits = at + (hex ? 3 : 2);
                add(at, number ? utf8::size_of(number_at(digits, end - digits, hex ? 16 : 10)) : 1);
                at = end + 1;
            } else {
                if (!rest.starts_with("\r\n")) add(at, 1);
                ++at;
            }
        }
    }

    string_view written_;
    std::vector<size_t> origins_;
};

} // namespace

source_span place_in_text(string_view written, source_span span, text_writing writing,
                          string_view schema, const schema_place& part) {
    byte_range range;
    if (part.offset) {
        range = {*part.offset, *part.offset + 1};
    } else {
        const auto found = json_scan(schema).find(tokens_of_pointer(part.pointer));
        if (!found) return span;
        range = *found;
    }
    written_text text(written, writing);
    if (writing == text_writing::xml) text.trim();
    // Else it was not this text that the schema was read from.
    if (text.size() != schema.size() || range.begin > schema.size()) return span;
    const size_t begin = text.origin(range.begin);
    const size_t end = range.end > range.begin ? text.origin(range.end - 1) + 1 : begin + 1;
    return {span.begin + static_cast<std::uint32_t>(begin),
            std::min(span.begin + static_cast<std::uint32_t>(end), span.end)};
}

source_span place_in_data(const source_form& schema, const schema_place& part) {
    source_form at = schema.unquoted();
    for (const std::string& token : tokens_of_pointer(part.pointer)) {
        if (!at.is_list()) return at.span;
        std::optional<source_form> found;
        const auto index = parse_number<size_t>(token);
        for (size_t i = 0; i < at.size(); ++i) {
            const source_form pair = at[i];
            const bool named =
                pair.is_list() && pair.size() == 2 && (pair[0].is_symbol() || pair[0].is_string());
            if (named && pair[0].text() == token) found = pair[1].unquoted();
        }
        if (!found && index && *index < at.size()) found = at[*index].unquoted();
        if (!found) return at.span;
        at = *found;
    }
    return at.span;
}

} // namespace heddle::tasks
