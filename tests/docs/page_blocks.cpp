#include "page_blocks.hpp"

#include <sstream>

namespace heddle::docs_test {

namespace {

constexpr std::string_view expectation = ";=>";

struct block {
    std::string language;
    std::string file;
    std::size_t line = 0; ///< of the first line inside
    std::vector<std::string> lines;
};

std::string trimmed(const std::string& text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<block> blocks_of(const std::string& markdown) {
    std::vector<block> blocks;
    std::istringstream stream(markdown);
    bool inside = false;
    std::size_t number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.starts_with("```")) {
            inside = !inside;
            if (!inside) continue;
            block& next = blocks.emplace_back();
            next.line = number + 1;
            std::istringstream info(line.substr(3));
            info >> next.language;
            for (std::string word; info >> word;) {
                if (word.starts_with("file=")) next.file = word.substr(5);
            }
        } else if (inside) {
            blocks.back().lines.push_back(line);
        }
    }
    return blocks;
}

void add_evaluations(const block& from, std::vector<page_step>& steps) {
    page_step step;
    step.line = from.line;
    for (std::size_t i = 0; i < from.lines.size(); ++i) {
        const std::string& line = from.lines[i];
        const auto at = line.find(expectation);
        step.text += line.substr(0, at) + "\n";
        if (at == std::string::npos) continue;
        step.checked = true;
        step.expected = trimmed(line.substr(at + expectation.size()));
        steps.push_back(step);
        step = page_step();
        step.line = from.line + i + 1;
    }
    if (!trimmed(step.text).empty()) steps.push_back(step);
}

void add_commands(const block& from, std::vector<page_step>& steps) {
    for (std::size_t i = 0; i < from.lines.size(); ++i) {
        const std::string& line = from.lines[i];
        if (line.starts_with("$ ")) {
            page_step& step = steps.emplace_back();
            step.what = page_step::kind::command;
            step.line = from.line + i;
            step.text = line.substr(2);
            while (step.text.ends_with('\\') && i + 1 < from.lines.size()) {
                step.text += "\n" + from.lines[++i];
            }
        } else if (!steps.empty()) {
            steps.back().expected += line + "\n";
        }
    }
}

/// A whole block is one step: its lines share a session.
void add_session(const block& from, std::vector<page_step>& steps) {
    page_step& step = steps.emplace_back();
    step.what = page_step::kind::session;
    step.line = from.line;
    for (const std::string& line : from.lines) {
        constexpr std::string_view prompt = "heddle> ";
        constexpr std::string_view more = "   ...> ";
        if (line.starts_with(prompt) || line.starts_with(more))
            step.text += line.substr(prompt.size()) + "\n";
        else step.expected += line + "\n";
    }
}

} // namespace

std::vector<page_step> steps_of_page(const std::string& markdown) {
    std::vector<page_step> steps;
    for (const block& one : blocks_of(markdown)) {
        const bool commands = one.language == "console" || one.language.empty();
        if (!one.file.empty()) {
            page_step& step = steps.emplace_back();
            step.what = page_step::kind::write_file;
            step.line = one.line;
            step.name = one.file;
            for (const std::string& line : one.lines) step.text += line + "\n";
        } else if (one.language == "heddle" || one.language == "lisp") {
            add_evaluations(one, steps);
        } else if (one.language == "repl") {
            add_session(one, steps);
        } else if (commands && !one.lines.empty() && one.lines.front().starts_with("$ ")) {
            add_commands(one, steps);
        }
    }
    return steps;
}

bool output_matches(const std::string& expected, const std::string& output) {
    std::size_t at = 0;
    std::size_t piece_begin = 0;
    const std::string any = "…\n";
    for (bool first = true;; first = false) {
        const std::size_t gap = expected.find(any, piece_begin);
        const bool last = gap == std::string::npos;
        const std::string piece = expected.substr(piece_begin, last ? gap : gap - piece_begin);
        if (last && first) return output == piece;
        if (last) return output.size() >= at + piece.size() && output.ends_with(piece);
        const std::size_t found = output.find(piece, at);
        if (found == std::string::npos || (first && found != 0)) return false;
        at = found + piece.size();
        piece_begin = gap + any.size();
    }
}

} // namespace heddle::docs_test
