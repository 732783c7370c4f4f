// Well-formedness with places, and what templates may not use.
#include "tasks/template_files/xml_tree.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

using std::size_t;
using std::string_view;

constexpr size_t max_attributes = 64;

[[nodiscard]] bool starts_name(char c) noexcept {
    return ascii::is_letter(c) || c == '_' || c == ':' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
}

[[nodiscard]] bool in_name(char c) noexcept {
    return starts_name(c) || ascii::is_digit(c) || c == '-' || c == '.';
}

/// A number of a character that XML 1.0 has.
[[nodiscard]] bool is_character(std::uint32_t point) noexcept {
    return point == 0x9 || point == 0xA || point == 0xD || (point >= 0x20 && point <= 0xD7FF) ||
           (point >= 0xE000 && point <= 0xFFFD) || (point >= 0x10000 && point <= 0x10FFFF);
}

class xml_check {
public:
    xml_check(string_view text, std::uint32_t position, const template_file_limits& limits,
              std::vector<xml_tag_place>& places, std::vector<lang::problem>& problems)
        : text_(text), position_(position), limits_(limits), places_(places), problems_(problems) {}

    bool run() {
        if (!check_bytes() || !read_declaration()) return false;
        while (going_ && at_ < text_.size()) {
            const size_t next = std::min(text_.find('<', at_), text_.size());
            read_text(at_, next);
            at_ = next;
            if (going_ && at_ < text_.size()) read_markup();
        }
        if (going_ && !open_.empty()) {
            const open_tag& last = open_.back();
            stop("xml-syntax", last.at, last.at + last.name.size() + 1,
                 "<" + last.name + "> is never closed", "add </" + last.name + ">");
        } else if (going_ && roots_ == 0) {
            stop("xml-syntax", 0, 0, "there is no element",
                 "a file holds <task>, <template> or <call>, or several of them in <tasks>");
        }
        return good_;
    }

private:
    struct open_tag {
        std::string name;
        size_t at;
        size_t place;
    };

    [[nodiscard]] source_span span(size_t from, size_t to) const {
        return {position_ + static_cast<std::uint32_t>(from),
                position_ + static_cast<std::uint32_t>(to)};
    }

    void report(string_view code, size_t from, size_t to, std::string message,
                std::string hint = {}) {
        good_ = false;
        problems_.push_back({lang::severity::error, code, std::move(message), std::move(hint),
                             span(from, std::min(to, text_.size()))});
        if (problems_.size() >= limits_.problems) going_ = false;
    }
    /// What follows would only be reported wrongly.
    void stop(string_view code, size_t from, size_t to, std::string message,
              std::string hint = {}) {
        report(code, from, to, std::move(message), std::move(hint));
        going_ = false;
    }

    bool check_bytes() {
        if (text_.size() > limits_.bytes) {
            stop("too-large", 0, 0,
                 "the file is larger than " + std::to_string(limits_.bytes) + " bytes");
            return false;
        }
        const bool wide = text_.starts_with("\xFE\xFF") || text_.starts_with("\xFF\xFE") ||
                          text_.substr(0, 4).find('\0') != string_view::npos;
        if (wide) {
            stop("encoding", 0, 0, "the file is not UTF-8 (it looks like UTF-16 or UTF-32)",
                 "save it as UTF-8");
            return false;
        }
        const size_t wrong = utf8::find_invalid(text_);
        if (wrong != string_view::npos) {
            stop("encoding", wrong, wrong + 1, "the file is not UTF-8", "save it as UTF-8");
            return false;
        }
        const auto control = std::find_if(text_.begin(), text_.end(), [](char c) {
            return static_cast<unsigned char>(c) < 0x20 && !ascii::is_blank(c);
        });
        if (control == text_.end()) return true;
        const auto at = static_cast<size_t>(control - text_.begin());
        stop("xml-syntax", at, at + 1, "a control character");
        return false;
    }

    bool read_declaration() {
        if (!text_.starts_with("<?xml") || text_.size() < 6 || !ascii::is_blank(text_[5]))
            return true;
        const size_t end = text_.find("?>");
        if (end == string_view::npos) {
            stop("xml-syntax", 0, 5, "the XML declaration is not closed", "end it with ?>");
            return false;
        }
        const string_view inside = text_.substr(5, end - 5);
        at_ = end + 2;
        const size_t key = inside.find("encoding");
        if (key == string_view::npos) return true;
        const size_t open = inside.find_first_of("\"'", key);
        const size_t close = open == string_view::npos ? open : inside.find(inside[open], open + 1);
        const std::string named = ascii::to_lower(
            close == string_view::npos ? string_view() : inside.substr(open + 1, close - open - 1));
        if (named == "utf-8" || named == "us-ascii" || named == "ascii") return true;
        stop("encoding", 5 + key, end, "the declared encoding is not UTF-8",
             "save the file as UTF-8 and write encoding=\"UTF-8\"");
        return false;
    }

    /// Text between tags.
    void read_text(size_t from, size_t to) {
        const string_view piece = text_.substr(from, to - from);
        if (open_.empty()) {
            const auto stray = std::find_if_not(piece.begin(), piece.end(), ascii::is_blank);
            if (stray != piece.end()) {
                const size_t at = from + static_cast<size_t>(stray - piece.begin());
                stop("xml-syntax", at, at + 1, "text outside of the root element");
            }
            return;
        }
        if (const size_t at = piece.find("]]>"); at != string_view::npos) {
            report("xml-syntax", from + at, from + at + 3, "]]> in text", "write ]]&gt;");
        }
        check_references(from, to);
    }

    void check_references(size_t from, size_t to) {
        const string_view piece = text_.substr(from, to - from);
        for (size_t at = piece.find('&'); going_ && at != string_view::npos;
             at = piece.find('&', at + 1)) {
            const size_t end = piece.find(';', at);
            const bool closed = end != string_view::npos && end - at <= 40;
            const string_view name = closed ? piece.substr(at + 1, end - at - 1) : string_view();
            if (closed && is_reference(name)) continue;
            const bool named =
                closed && !name.empty() && std::all_of(name.begin(), name.end(), in_name);
            if (named) {
                report("entity", from + at, from + end + 1,
                       "&" + std::string(name) + "; is not one of the five entities of XML",
                       "write the character itself, or its number: &#8212;");
            } else {
                report("xml-syntax", from + at, from + at + 1, "& begins no entity",
                       "write &amp; for the character itself");
            }
        }
    }

    [[nodiscard]] static bool is_reference(string_view name) noexcept {
        if (name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos") {
            return true;
        }
        if (!name.starts_with('#')) return false;
        name.remove_prefix(1);
        const bool hexadecimal = name.starts_with('x');
        if (hexadecimal) name.remove_prefix(1);
        const auto point = parse_number<std::uint32_t>(name, hexadecimal ? 16 : 10);
        return point && is_character(*point);
    }

    void read_markup() {
        const string_view rest = text_.substr(at_);
        if (rest.starts_with("<!--")) return read_comment();
        if (rest.starts_with("<![CDATA[")) return read_cdata();
        if (rest.starts_with("<!")) {
            return stop("dtd", at_, at_ + 9, "document types and entity definitions are refused",
                        "delete the <!DOCTYPE …>; text is written where it belongs");
        }
        if (rest.starts_with("<?")) return read_instruction();
        if (rest.starts_with("</")) return read_end_tag();
        read_start_tag();
    }

    void read_comment() {
        const size_t end = text_.find("--", at_ + 4);
        if (end == string_view::npos) {
            return stop("xml-syntax", at_, at_ + 4, "the comment is not closed", "end it with -->");
        }
        if (end + 2 >= text_.size() || text_[end + 2] != '>') {
            return stop("xml-syntax", end, end + 2, "-- inside a comment");
        }
        at_ = end + 3;
    }

    void read_cdata() {
        const size_t end = text_.find("]]>", at_);
        if (open_.empty()) {
            return stop("xml-syntax", at_, at_ + 9, "text outside of the root element");
        }
        if (end == string_view::npos) {
            return stop("xml-syntax", at_, at_ + 9, "the CDATA section is not closed",
                        "end it with ]]>");
        }
        at_ = end + 3;
    }

    void read_instruction() {
        const size_t end = text_.find("?>", at_);
        const bool declaration = text_.substr(at_).starts_with("<?xml ");
        report("processing-instruction", at_, std::min(end, at_ + 40),
               declaration ? "the XML declaration must be at the very beginning"
                           : "processing instructions are refused",
               "delete it");
        if (end == string_view::npos) going_ = false;
        else at_ = end + 2;
    }

    [[nodiscard]] std::string read_name() {
        const size_t from = at_;
        if (at_ < text_.size() && starts_name(text_[at_])) {
            while (at_ < text_.size() && in_name(text_[at_])) ++at_;
        }
        return std::string(text_.substr(from, at_ - from));
    }
    void skip_blanks() {
        while (at_ < text_.size() && ascii::is_blank(text_[at_])) ++at_;
    }

    void read_end_tag() {
        const size_t from = at_;
        at_ += 2;
        const std::string name = read_name();
        skip_blanks();
        if (at_ >= text_.size() || text_[at_] != '>') {
            return stop("xml-syntax", from, at_, "the end tag is not closed", "end it with >");
        }
        ++at_;
        if (open_.empty()) {
            return stop("xml-syntax", from, at_, "</" + name + "> closes nothing");
        }
        const open_tag& last = open_.back();
        if (last.name != name) {
            return stop("xml-syntax", from, at_,
                        "</" + name + "> where </" + last.name + "> is due");
        }
        places_[last.place].inside.end = position_ + static_cast<std::uint32_t>(from);
        open_.pop_back();
    }

    void read_start_tag() {
        const size_t from = at_;
        ++at_;
        const std::string name = read_name();
        if (name.empty()) {
            return stop("xml-syntax", from, from + 1, "< begins no tag",
                        "write &lt; for the character itself");
        }
        if (open_.empty() && roots_++ != 0) {
            return stop("xml-syntax", from, at_, "a second root element",
                        "put all of them into <tasks> … </tasks>");
        }
        if (open_.size() >= limits_.depth) {
            return stop("too-deep", from, at_,
                        "elements are nested deeper than " + std::to_string(limits_.depth));
        }
        if (places_.size() >= limits_.elements) {
            return stop("too-large", from, at_,
                        "there are more than " + std::to_string(limits_.elements) + " elements");
        }
        const size_t place = places_.size();
        places_.emplace_back();
        read_attributes(name, place);
        if (!going_) return;
        const bool empty = text_[at_] == '/';
        at_ += empty ? 2 : 1;
        places_[place].tag = span(from, at_);
        places_[place].inside = span(at_, at_);
        if (!empty) open_.push_back({name, from, place});
    }

    /// Up to the > or /> of the tag.
    void read_attributes(const std::string& tag, size_t place) {
        std::vector<std::string> names;
        for (;;) {
            const size_t before = at_;
            skip_blanks();
            if (at_ >= text_.size() || text_[at_] == '<') {
                return stop("xml-syntax", before, before + 1, "the tag <" + tag + "> is not closed",
                            "end it with >");
            }
            if (text_[at_] == '>' || text_.substr(at_).starts_with("/>")) return;
            const size_t from = at_;
            std::string name = read_name();
            if (name.empty() || from == before) {
                return stop("xml-syntax", from, from + 1,
                            "what follows is not an attribute of <" + tag + ">",
                            "an attribute is written name=\"text\"");
            }
            const bool repeated = std::find(names.begin(), names.end(), name) != names.end();
            if (repeated || names.size() >= max_attributes) {
                return stop(
                    "xml-syntax", from, at_,
                    repeated ? "the attribute " + name + " is given twice" : "too many attributes");
            }
            const source_span named = span(from, at_);
            names.push_back(std::move(name));
            if (!read_attribute_text(place, named, names.back())) return;
        }
    }

    bool read_attribute_text(size_t place, source_span named, const std::string& name) {
        skip_blanks();
        const bool equals = at_ < text_.size() && text_[at_] == '=';
        if (equals) ++at_;
        skip_blanks();
        const char quote = equals && at_ < text_.size() ? text_[at_] : '\0';
        const size_t end =
            quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : string_view::npos;
        const string_view inside =
            end == string_view::npos ? string_view() : text_.substr(at_ + 1, end - at_ - 1);
        if (end == string_view::npos || inside.find('<') != string_view::npos) {
            stop("xml-syntax", named.begin - position_, named.end - position_,
                 "the attribute " + name + " has no text in quotes", "write " + name + "=\"…\"");
            return false;
        }
        check_references(at_ + 1, end);
        places_[place].attributes.push_back({named, span(at_ + 1, end)});
        at_ = end + 1;
        return going_;
    }

    string_view text_;
    std::uint32_t position_;
    const template_file_limits& limits_;
    std::vector<xml_tag_place>& places_;
    std::vector<lang::problem>& problems_;
    std::vector<open_tag> open_;
    size_t at_ = 0;
    size_t roots_ = 0;
    bool good_ = true;
    bool going_ = true;
};

} // namespace

bool check_xml(string_view text, std::uint32_t position, const template_file_limits& limits,
               std::vector<xml_tag_place>& places, std::vector<lang::problem>& problems) {
    return xml_check(text, position, limits, places, problems).run();
}

} // namespace heddle::tasks
