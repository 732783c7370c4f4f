#include "source_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

namespace heddle::checks {
namespace fs = std::filesystem;

namespace {

std::string_view component(std::string_view path, int index) {
    while (index > 0) {
        const auto slash = path.find('/');
        if (slash == std::string_view::npos) return {};
        path.remove_prefix(slash + 1);
        --index;
    }
    const auto slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Splits C++ text into code and comments. Literals are blanked in both.
class splitter {
public:
    explicit splitter(source_file& file) : file_(file), text_(file.text) {
        file_.code.assign(text_.size(), ' ');
        file_.comments.assign(text_.size(), ' ');
    }

    void run() {
        while (at_ < text_.size()) {
            if (starts("//")) comment(line_end());
            else if (starts("/*")) comment(after("*/", at_ + 2));
            else if (text_[at_] == '"') string_literal();
            else if (text_[at_] == '\'' && !digit_separator()) literal('\'');
            else file_.code[at_] = text_[at_], ++at_;
        }
        for (std::size_t i = 0; i < text_.size(); ++i) {
            if (text_[i] == '\n') file_.code[i] = file_.comments[i] = '\n';
        }
    }

private:
    [[nodiscard]] bool starts(std::string_view what) const {
        return text_.substr(at_).starts_with(what);
    }
    [[nodiscard]] std::size_t line_end() const {
        return std::min(text_.find('\n', at_), text_.size());
    }
    [[nodiscard]] std::size_t after(std::string_view what, std::size_t from) const {
        const auto found = text_.find(what, from);
        return found == std::string_view::npos ? text_.size() : found + what.size();
    }
    [[nodiscard]] bool digit_separator() const { return at_ > 0 && is_word(text_[at_ - 1]); }

    void comment(std::size_t end) {
        for (; at_ < end; ++at_) file_.comments[at_] = text_[at_];
    }

    void string_literal() {
        if (at_ > 0 && text_[at_ - 1] == 'R') {
            const auto open = text_.find('(', at_);
            if (open != std::string_view::npos) {
                const auto end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + '"';
                file_.code[at_] = '"';
                at_ = after(end, open);
                file_.code[at_ - 1] = '"';
                return;
            }
        }
        literal('"');
    }

    // The quotes stay, so that a rule sees that something is here.
    void literal(char quote) {
        file_.code[at_++] = quote;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        if (at_ < text_.size()) file_.code[at_] = text_[at_];
        ++at_;
    }

    source_file& file_;
    std::string_view text_;
    std::size_t at_ = 0;
};

void find_includes(source_file& file) {
    const auto code = split_lines(file.code);
    const auto text = split_lines(file.text);
    for (std::size_t i = 0; i < code.size(); ++i) {
        auto rest = code[i];
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        if (!rest.starts_with('#') || rest.find("include") == std::string_view::npos) continue;
        const auto open = text[i].find_first_of("<\"");
        if (open == std::string_view::npos) continue;
        const auto close = text[i].find_first_of(">\"", open + 1);
        if (close == std::string_view::npos) continue;
        file.includes.push_back({static_cast<int>(i + 1),
                                 std::string(text[i].substr(open + 1, close - open - 1)),
                                 text[i][open] == '"'});
    }
}

bool is_text(const fs::path& file) {
    static constexpr std::array<std::string_view, 15> extensions{
        ".cpp", ".hpp", ".h",    ".c",   ".cmake", ".in",     ".txt", ".md",
        ".sh",  ".def", ".json", ".xml", ".yml",   ".heddle", ""};
    const auto extension = file.extension().string();
    return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool skip_folder(const fs::path& folder) {
    const auto name = folder.filename().string();
    return name == "build" || (name.starts_with('.') && name != ".ci") ||
           fs::exists(folder / "CMakeCache.txt");
}

} // namespace

std::string_view source_file::library() const { return component(path, 0); }

// Components before include or src: the scripted model is a library inside of a folder.
int source_file::depth() const { return path.starts_with("providers/scripted/") ? 2 : 1; }

std::string_view source_file::area() const {
    const auto part = component(path, depth());
    return component(path, depth() + (part == "include" ? 2 : 1));
}

bool source_file::is_public_header() const {
    return is_header() && component(path, depth()) == "include";
}

std::string_view source_file::line(int number) const {
    const auto lines = split_lines(text);
    const auto index = static_cast<std::size_t>(number - 1);
    return number >= 1 && index < lines.size() ? lines[index] : std::string_view{};
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<std::string_view> comment_lines(const source_file& file) {
    if (file.has_code()) return split_lines(file.comments);
    std::string_view start;
    if (file.path.ends_with(".cmake") || file.path.ends_with("CMakeLists.txt") ||
        file.text.starts_with("#!")) {
        start = "#";
    } else if (file.path.ends_with(".heddle")) {
        start = ";";
    } else {
        return {};
    }
    auto lines = split_lines(file.text);
    for (auto& line : lines) line.remove_prefix(std::min(line.find(start), line.size()));
    return lines;
}

source_file read_source(const fs::path& root, const fs::path& file) {
    source_file result;
    result.path = file.lexically_relative(root).generic_string();
    std::ifstream in(file, std::ios::binary);
    result.text.assign(std::istreambuf_iterator<char>(in), {});
    if (result.has_code()) splitter(result).run();
    if (result.is_cpp()) find_includes(result);
    return result;
}

std::vector<source_file> read_tree(const fs::path& root) {
    std::vector<source_file> files;
    for (auto at = fs::recursive_directory_iterator(root); at != fs::end(at); ++at) {
        if (at->is_directory() && skip_folder(at->path())) {
            at.disable_recursion_pending();
        } else if (at->is_regular_file() && !at->is_symlink() && is_text(at->path())) {
            files.push_back(read_source(root, at->path()));
        }
    }
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

} // namespace heddle::checks
