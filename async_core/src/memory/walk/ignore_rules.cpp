#include <heddle/memory/ignore_rules.hpp>

#include <heddle/base/utf8.hpp>

#include <array>
#include <cctype>

namespace heddle::memory {

namespace {

/// What `[:name:]` means for ASCII; nothing for a name that is none.
[[nodiscard]] std::optional<bool> in_named_class(std::string_view name, unsigned char byte) {
    struct row {
        std::string_view name;
        int (*holds)(int);
    };
    static constexpr std::array<row, 12> rows{{{"alnum", &std::isalnum},
                                               {"alpha", &std::isalpha},
                                               {"blank", &std::isblank},
                                               {"cntrl", &std::iscntrl},
                                               {"digit", &std::isdigit},
                                               {"graph", &std::isgraph},
                                               {"lower", &std::islower},
                                               {"print", &std::isprint},
                                               {"punct", &std::ispunct},
                                               {"space", &std::isspace},
                                               {"upper", &std::isupper},
                                               {"xdigit", &std::isxdigit}}};
    for (const row& one : rows) {
        if (one.name == name) return byte < 0x80 && one.holds(byte) != 0;
    }
    return std::nullopt;
}

/// The length of the class that begins at glob[at] == '[', or 0 when it is never closed. `inside`
/// returns whether it holds `byte`.
[[nodiscard]] std::size_t match_class(std::string_view glob, std::size_t at, unsigned char byte,
                                      bool& inside) {
    std::size_t i = at + 1;
    const bool inverted = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
    if (inverted) ++i;
    bool found = false;
    for (bool first = true; i < glob.size(); first = false) {
        if (glob[i] == ']' && !first) {
            inside = found != inverted;
            return i + 1 - at;
        }
        if (glob[i] == '[' && i + 1 < glob.size() && glob[i + 1] == ':') {
            const std::size_t end = glob.find(":]", i + 2);
            if (end != std::string_view::npos) {
                const auto holds = in_named_class(glob.substr(i + 2, end - i - 2), byte);
                if (!holds) return 0;
                found = found || *holds;
                i = end + 2;
                continue;
            }
        }
        if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
        const auto low = static_cast<unsigned char>(glob[i++]);
        auto high = low;
        if (i + 1 < glob.size() && glob[i] == '-' && glob[i + 1] != ']') {
            ++i;
            if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
            high = static_cast<unsigned char>(glob[i++]);
        }
        found = found || (byte >= low && byte <= high);
    }
    return 0;
}

/// One character of a glob against one byte: how much of the glob it takes, 0: no match.
[[nodiscard]] std::size_t match_one(std::string_view glob, std::size_t at, char c) {
    if (glob[at] == '?') return 1;
    if (glob[at] == '[') {
        bool inside = false;
        const std::size_t length = match_class(glob, at, static_cast<unsigned char>(c), inside);
        return inside ? length : 0;
    }
    if (glob[at] == '\\' && at + 1 < glob.size()) return glob[at + 1] == c ? 2 : 0;
    return glob[at] == c ? 1 : 0;
}

/// `*` takes as little as it can, and more when the rest does not fit: only the last one has to be
/// gone back to.
[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view name) {
    std::size_t at = 0;
    std::size_t i = 0;
    std::size_t star = std::string_view::npos;
    std::size_t taken = 0;
    while (i < name.size()) {
        if (at < glob.size() && glob[at] == '*') {
            star = at++;
            taken = i;
            continue;
        }
        const std::size_t step = at < glob.size() ? match_one(glob, at, name[i]) : 0;
        if (step != 0) {
            at += step;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++taken;
        } else return false;
    }
    while (at < glob.size() && glob[at] == '*') ++at;
    return at == glob.size();
}

[[nodiscard]] std::vector<std::string_view> cut_at_slashes(std::string_view path) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t slash = path.find('/');
        if (slash != 0 && !path.empty()) parts.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return parts;
        path.remove_prefix(slash + 1);
    }
}

/// Spaces at the end do not count unless a backslash precedes them.
[[nodiscard]] std::string_view without_trailing_spaces(std::string_view line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) {
        std::size_t slashes = 0;
        while (slashes + 1 < line.size() && line[line.size() - 2 - slashes] == '\\') ++slashes;
        if (slashes % 2 == 1) break;
        line.remove_suffix(1);
    }
    return line;
}

} // namespace

std::optional<ignore_pattern> ignore_pattern::parse(std::string_view line) {
    if (line.size() > longest || line.starts_with('#')) return std::nullopt;
    line = without_trailing_spaces(line);
    ignore_pattern pattern;
    if (line.starts_with('!')) {
        pattern.negated_ = true;
        line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
        pattern.folders_only_ = true;
        while (line.ends_with('/')) line.remove_suffix(1);
    }
    const bool tied = line.find('/') != std::string_view::npos;
    if (!tied) pattern.parts_.push_back({"", true, false});
    for (const std::string_view text : cut_at_slashes(line)) {
        part one;
        one.any_folders = text == "**";
        one.literal = text.find_first_of("*?[\\") == std::string_view::npos;
        one.glob = text;
        // Two in a row mean what one means.
        if (one.any_folders && !pattern.parts_.empty() && pattern.parts_.back().any_folders)
            continue;
        pattern.parts_.push_back(std::move(one));
    }
    if (pattern.parts_.empty() || (!tied && pattern.parts_.size() == 1 && line.empty())) {
        return std::nullopt;
    }
    pattern.by_name_ = pattern.parts_.size() == 2 && pattern.parts_.front().any_folders &&
                       !pattern.parts_.back().any_folders;
    return pattern;
}

bool ignore_pattern::part_matches(const part& pattern, std::string_view name) {
    return pattern.literal ? pattern.glob == name : glob_matches(pattern.glob, name);
}

bool ignore_pattern::matches(std::string_view path, bool is_folder) const {
    if (folders_only_ && !is_folder) return false;
    if (by_name_) {
        const std::size_t slash = path.rfind('/');
        return part_matches(parts_.back(),
                            slash == std::string_view::npos ? path : path.substr(slash + 1));
    }
    const std::vector<std::string_view> names = cut_at_slashes(path);
    // reached[i]: the patterns so far can match the first i names.
    std::vector<bool> reached(names.size() + 1, false);
    reached[0] = true;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        std::vector<bool> next(names.size() + 1, false);
        if (parts_[p].any_folders) {
            // At the end `**` means everything inside, not the folder itself.
            const bool last = p + 1 == parts_.size();
            bool open = false;
            for (std::size_t i = 0; i <= names.size(); ++i) {
                if (last && open) next[i] = true;
                open = open || reached[i];
                if (!last && open) next[i] = true;
            }
        } else {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (reached[i] && part_matches(parts_[p], names[i])) next[i + 1] = true;
            }
        }
        reached = std::move(next);
    }
    return reached[names.size()];
}

ignore_list::ignore_list(std::string_view text) {
    text = utf8::skip_byte_order_mark(text);
    while (!text.empty() && patterns_.size() < max_patterns) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (auto parsed = ignore_pattern::parse(line)) patterns_.push_back(*std::move(parsed));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
}

ignore_list::verdict ignore_list::look_up(std::string_view path, bool is_folder) const {
    for (std::size_t i = patterns_.size(); i > 0; --i) {
        const ignore_pattern& one = patterns_[i - 1];
        if (!one.matches(path, is_folder)) continue;
        return one.negated() ? verdict::kept : verdict::ignored;
    }
    return verdict::none;
}

} // namespace heddle::memory
