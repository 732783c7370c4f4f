#include <heddle/lang/dump.hpp>

#include "lang/compile/analyzer.hpp"
#include "lang/compile/compile_within.hpp"
#include "lang/compile/deep_stack.hpp"
#include "lang/compile/listing.hpp"
#include "lang/dump/ast_text.hpp"
#include "lang/text/line_index.hpp"

#include <heddle/lang/compile.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

/// Chains of `cond` and `let*` nest as deep as they are long: kept on a stack of its own.
struct pending {
    ast_part part;
    std::size_t depth = 0;
    bool closes = false; ///< JSON: the end of a node
    bool first = false;  ///< of its siblings
};

class ast_dump {
public:
    ast_dump(realm& realm, const line_index& lines, dump_format format)
        : realm_(realm), lines_(lines), json_(format == dump_format::json) {}

    std::string run(const ast::node& program) {
        work_.push_back({{"", &program}, 0, false, true});
        while (!work_.empty()) {
            const pending now = std::move(work_.back());
            work_.pop_back();
            if (now.closes) {
                out_ += "]}";
                continue;
            }
            if (json_) begin_object(now);
            else write_line(now);
            const auto parts = parts_of(*now.part.part);
            if (json_) {
                if (parts.empty()) out_ += '}';
                else work_.push_back({{}, 0, true, false});
                if (!parts.empty()) out_ += ",\"parts\":[";
            }
            for (std::size_t i = parts.size(); i-- > 0;) {
                work_.push_back({parts[i], now.depth + 1, false, i == 0});
            }
        }
        if (json_) out_ += '\n';
        return std::move(out_);
    }

private:
    static constexpr std::size_t max_indent = 60; ///< levels; the text of a chain stays linear

    void write_line(const pending& now) {
        const ast::node& n = *now.part.part;
        out_.append(2 * std::min(now.depth, max_indent), ' ');
        if (!now.part.label.empty()) out_ += now.part.label + ": ";
        out_ += kind_text(n.kind);
        if (const std::string subject = subject_text(n, realm_); !subject.empty()) {
            out_ += " " + subject;
        }
        if (const std::string_view home = subject_home(n, realm_); !home.empty()) {
            out_ += " in ";
            out_ += home;
        }
        if (n.kind == ast::node_kind::make_lambda) out_ += homes_of_parameters(*n.code);
        const std::string begin = lines_.text_of(n.span.begin);
        if (n.span.known() && !begin.empty()) {
            out_ += "  ; " + begin + "-" + lines_.text_of(n.span.end);
        }
        out_ += '\n';
    }

    /// Only those that are not in a register.
    static std::string homes_of_parameters(const ast::lambda& code) {
        std::string text;
        for (const ast::variable* each : code.parameters) {
            if (!each->captured) continue;
            text += (text.empty() ? "" : ", ") + each->name + " " + std::string(home_of(*each));
        }
        return text.empty() ? text : " [" + text + "]";
    }

    void begin_object(const pending& now) {
        const ast::node& n = *now.part.part;
        if (!now.first) out_ += ',';
        out_ += '{';
        if (!now.part.label.empty()) member("label", now.part.label);
        member("kind", kind_text(n.kind));
        if (const std::string subject = subject_text(n, realm_); !subject.empty()) {
            member("subject", subject);
        }
        if (const std::string_view home = subject_home(n, realm_); !home.empty()) {
            member("home", home);
        }
        if (n.kind == ast::node_kind::make_lambda) parameters(*n.code);
        place("begin", n.span.begin);
        place("end", n.span.end);
    }

    void parameters(const ast::lambda& code) {
        out_ += ",\"parameters\":[";
        for (std::size_t i = 0; i < code.parameters.size(); ++i) {
            out_ += i == 0 ? "{" : ",{";
            member("name", code.parameters[i]->name);
            member("home", home_of(*code.parameters[i]));
            out_ += '}';
        }
        out_ += ']';
    }

    void place(std::string_view name, std::uint32_t position) {
        const line_index::place found = lines_.at(position);
        if (found.line == 0) return;
        out_ += ",\"";
        out_ += name;
        out_ += "\":{\"line\":" + std::to_string(found.line) +
                ",\"column\":" + std::to_string(found.column) + "}";
    }

    void member(std::string_view name, std::string_view content) {
        if (out_.back() != '{') out_ += ',';
        out_ += '"';
        out_ += name;
        out_ += "\":";
        // A string of valid UTF-8 always has a JSON form.
        auto text = value_to_json(make_string(realm_.memory(), content));
        out_ += text ? *text : "null";
    }

    realm& realm_;
    const line_index& lines_;
    bool json_;
    std::vector<pending> work_;
    std::string out_;
};

} // namespace

result<std::string> dump_ast(realm& realm, std::string_view text, std::uint32_t position,
                             dump_format format) {
    HEDDLE_TRY(const std::vector<datum> forms, read_all(realm.memory(), text, position));
    const line_index lines(text, position);
    result<std::string> outcome = error(heddle::errc::internal, "not resolved");
    HEDDLE_CHECK(on_deep_stack(realm, forms, [&](std::size_t max_depth) {
        compile_request request;
        request.in_one = true;
        ast::arena arena;
        analyzer analysis(realm, arena, request, max_depth);
        auto program = analysis.program(forms);
        if (program) outcome = ast_dump(realm, lines, format).run(*(*program)->body);
        else outcome = std::move(program).error();
    }));
    return outcome;
}

result<std::string> dump_code(realm& realm, std::string_view text, std::uint32_t position,
                              dump_format format) {
    HEDDLE_TRY(const std::vector<datum> forms, read_all(realm.memory(), text, position));
    compile_request request;
    request.in_one = true;
    HEDDLE_TRY(const function_ref code, compile_within(realm, forms, request));
    const line_index lines(text, position);
    return format == dump_format::json ? disassemble_as_json(*code, realm, lines)
                                       : disassemble_with(*code, realm, lines);
}

} // namespace heddle::lang
