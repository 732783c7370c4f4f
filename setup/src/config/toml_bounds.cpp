#include "config/toml_bounds.hpp"

namespace heddle::setup {

namespace {

/// Goes over a document once and counts.
class depth_scan {
public:
    depth_scan(std::string_view text, std::size_t max_depth) noexcept
        : rest_(text), max_depth_(max_depth) {}

    std::optional<std::size_t> run() noexcept {
        while (!rest_.empty()) {
            take(rest_.front());
            if (dots_ >= max_depth_ || open_ > max_depth_) return line_;
        }
        return std::nullopt;
    }

private:
    void take(char c) noexcept {
        switch (c) {
        case '"':
        case '\'': return skip_string(c);
        case '#': return skip_to(rest_.find('\n'));
        case '.': ++dots_; break;
        case '[':
        case '{':
            ++open_;
            dots_ = 0;
            break;
        case ']':
        case '}':
            if (open_ > 0) --open_;
            dots_ = 0;
            break;
        case '\n':
            ++line_;
            dots_ = 0;
            break;
        case '=':
        case ',': dots_ = 0; break;
        default: break;
        }
        rest_.remove_prefix(1);
    }

    /// One that is never closed ends with its line, or with the text.
    void skip_string(char quote) noexcept {
        const bool basic = quote == '"';
        const bool many_lines = rest_.size() > 2 && rest_[1] == quote && rest_[2] == quote;
        rest_.remove_prefix(many_lines ? 3 : 1);
        while (!rest_.empty()) {
            const char c = rest_.front();
            if (c == '\n') {
                if (!many_lines) return;
                ++line_;
            } else if (c == '\\' && basic && rest_.size() > 1 && rest_[1] != '\n') {
                rest_.remove_prefix(2);
                continue;
            } else if (c == quote && !many_lines) {
                rest_.remove_prefix(1);
                return;
            } else if (c == quote && rest_.size() > 2 && rest_[1] == quote && rest_[2] == quote) {
                rest_.remove_prefix(3);
                // Up to two quotes may stand before the three that close it.
                while (!rest_.empty() && rest_.front() == quote) rest_.remove_prefix(1);
                return;
            }
            rest_.remove_prefix(1);
        }
    }

    void skip_to(std::size_t end) noexcept {
        rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end);
    }

    std::string_view rest_;
    std::size_t max_depth_;
    std::size_t line_ = 1;
    std::size_t dots_ = 0; ///< of the name that is being read
    std::size_t open_ = 0; ///< brackets
};

} // namespace

std::optional<std::size_t> too_deep_line(std::string_view text, std::size_t max_depth) noexcept {
    return depth_scan(text, max_depth).run();
}

} // namespace heddle::setup
