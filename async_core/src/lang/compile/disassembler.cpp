#include "listing.hpp"
#include "operands.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/lang/compile.hpp>
#include <heddle/lang/printer.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t name_column = 21;
constexpr std::size_t note_column = 48;

void pad(std::string& line, std::size_t to) { line.resize(std::max(line.size() + 1, to), ' '); }

class listing {
public:
    listing(const function& code, realm& realm, const line_index* lines)
        : code_(code), realm_(realm), lines_(lines) {}

    std::string text() {
        std::string out = "function " +
                          (code_.name.empty() ? std::string("(anonymous)") : code_.name) + ", " +
                          std::to_string(code_.required) + " required";
        if (code_.optional != 0) out += ", " + std::to_string(code_.optional) + " optional";
        if (code_.has_rest) out += ", rest";
        out += ", " + std::to_string(code_.registers) + " registers, " +
               std::to_string(code_.captures.size()) + " captured\n";
        for (std::size_t i = 0; i < code_.code.size(); i += describe(code_.code[i].code).words())
            out += line(i);
        for (const handler& h : code_.handlers) {
            out += std::string("  ") + (h.cleanup ? "cleanup" : "catch") + " " +
                   std::to_string(h.begin) + ".." + std::to_string(h.end) + " -> " +
                   std::to_string(h.target) + " in r" + std::to_string(h.slot) + "\n";
        }
        return out;
    }

    /// The same as a JSON object.
    std::string json() {
        std::string out = "{\"name\":";
        append_json_string(out, code_.name);
        out += ",\"required\":" + std::to_string(code_.required) +
               ",\"optional\":" + std::to_string(code_.optional) +
               ",\"rest\":" + (code_.has_rest ? "true" : "false") +
               ",\"registers\":" + std::to_string(code_.registers) +
               ",\"captured\":" + std::to_string(code_.captures.size()) + ",\"instructions\":[";
        for (std::size_t i = 0; i < code_.code.size(); i += describe(code_.code[i].code).words()) {
            out += i == 0 ? "{" : ",{";
            instruction_json(out, i);
            out += '}';
        }
        out += "],\"handlers\":[";
        for (std::size_t i = 0; i < code_.handlers.size(); ++i) {
            const handler& h = code_.handlers[i];
            out += std::string(i == 0 ? "" : ",") + "{\"kind\":\"" +
                   (h.cleanup ? "cleanup" : "catch") + "\",\"begin\":" + std::to_string(h.begin) +
                   ",\"end\":" + std::to_string(h.end) + ",\"target\":" + std::to_string(h.target) +
                   ",\"register\":" + std::to_string(h.slot) + "}";
        }
        return out + "]}";
    }

private:
    void instruction_json(std::string& out, std::size_t i) {
        out += "\"index\":" + std::to_string(i) + ",\"name\":";
        append_json_string(out, describe(code_.code[i].code).name);
        std::string text;
        write_operands(text, i);
        out += ",\"operands\":";
        append_json_string(out, std::string_view(text).substr(text.starts_with(' ') ? 1 : 0));
        const std::string place = place_of(code_.places[i]);
        const std::size_t colon = place.find(':');
        if (colon == std::string::npos) return;
        out += ",\"begin\":{\"line\":" + place.substr(0, colon) +
               ",\"column\":" + place.substr(colon + 1) + "}";
    }

    std::string line(std::size_t i) {
        std::string out = std::to_string(i);
        out.insert(0, out.size() < 5 ? 5 - out.size() : 0, ' ');
        out += "  ";
        out += describe(code_.code[i].code).name;
        pad(out, name_column);
        write_operands(out, i);
        if (const std::string place = place_of(code_.places[i]); !place.empty()) {
            pad(out, note_column);
            out += "; " + place;
        }
        return out + "\n";
    }

    void write_operands(std::string& out, std::size_t i) {
        const instruction& now = code_.code[i];
        for_each_operand(code_, i, [&](const operand& each) {
            if (each.letter == 'J' && describe(now.code).words() == 2)
                out += now.x != 0 ? " if so" : " if not";
            write(out, each.letter, each.content);
        });
    }

    [[nodiscard]] std::string place_of(source_span span) const {
        if (lines_) return lines_->text_of(span.begin);
        const source_location place = realm_.sources().locate(span);
        if (place.line == 0) return {};
        return std::to_string(place.line) + ":" + std::to_string(place.column);
    }

    void write(std::string& out, char letter, std::int64_t content) {
        switch (letter) {
        case 'R': out += " r" + std::to_string(content); break;
        case 'U': out += " captured" + std::to_string(content); break;
        case 'J': out += " -> " + std::to_string(content); break;
        case 'G':
            out += " " + std::string(realm_.global_name(static_cast<std::uint32_t>(content)));
            break;
        case 'F': out += " function " + std::to_string(content); break;
        case 'K':
        case 'k': {
            print_options options;
            options.max_bytes = 40;
            options.max_depth = 4;
            out += " " + print_value(code_.constants[static_cast<std::size_t>(content)], options);
            break;
        }
        default: out += " " + std::to_string(content); break; // a number
        }
    }

    const function& code_;
    realm& realm_;
    const line_index* lines_;
};

/// Calls `visit(function)` for `code` and all functions inside of it, in the order of the source.
template <class Visit>
void each_function(const function& code, Visit visit) {
    std::vector<const function*> work{&code};
    while (!work.empty()) {
        const function* next = work.back();
        work.pop_back();
        visit(*next);
        work.insert(work.end(), next->functions.rbegin(), next->functions.rend());
    }
}

std::string listing_of_all(const function& code, realm& realm, const line_index* lines) {
    std::string out;
    each_function(code, [&](const function& each) {
        if (!out.empty()) out += "\n";
        out += listing(each, realm, lines).text();
    });
    return out;
}

} // namespace

std::string disassemble(const function& code, realm& realm) {
    return listing_of_all(code, realm, nullptr);
}

std::string disassemble_with(const function& code, realm& realm, const line_index& lines) {
    return listing_of_all(code, realm, &lines);
}

std::string disassemble_as_json(const function& code, realm& realm, const line_index& lines) {
    std::string out = "{\"functions\":[";
    bool first = true;
    each_function(code, [&](const function& each) {
        out += std::exchange(first, false) ? "" : ",";
        out += listing(each, realm, &lines).json();
    });
    return out + "]}\n";
}

} // namespace heddle::lang
