// Texts that are cut at a byte.
#include <heddle/base/error.hpp>

std::string message(std::string text) {
    const auto a = "it reads " + text.substr(0, 80);                // expect: cut-text
    const auto b = std::string_view(text).substr(0, longest);       // expect: cut-text
    const auto c = text.substr(0, max_shown - 3);                   // expect: cut-text
    const auto d = text.substr(0, std::min(text.size(), limit));    // expect: cut-text
    text.resize(500);                                               // expect: cut-text
    text.resize(std::min<std::size_t>(text.size(), longest_shown)); // expect: cut-text
    use(text.substr(0,                                              // expect: cut-text
                    200));
    return text;
}

// All of this may stand.
void other(std::string text, std::vector<int>& rows) {
    use(text.substr(0, 2), text.substr(0, text.find(':')), text.substr(10), text.substr(0, end));
    use(utf8::prefix(text, 80), utf8::shortened(text, longest_shown));
    text.resize(size);
    text.resize(std::max(text.size(), longest), ' ');
    rows.resize(1);
    rows.resize(maximal_rows());
    rows.resize(max_rows);     // heddle-check: allow cut-text (a list)
    use("text.substr(0, 80)"); // text.substr(0, 80) in a comment
}
