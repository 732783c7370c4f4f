#include "command_line/spread_values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>

namespace heddle::cli {

namespace {

bool is_word(const std::string& text) { return text == "-" || !text.starts_with('-'); }

std::string name_in(const std::string& text) {
    return text.starts_with("--") ? text.substr(0, text.find('=')) : text.substr(0, 2);
}

/// Whether the next argument is the value of the option in `text`.
bool takes_next(const CLI::App& app, const std::string& text) {
    const std::string name = name_in(text);
    if (name.size() != text.size()) return false; // the value is a part of it
    const CLI::Option* const option = app.get_option_no_throw(name);
    return option && option->get_items_expected_max() != 0;
}

std::size_t required_arguments(const CLI::App& app) {
    const auto options = app.get_options(
        [](const CLI::Option* each) { return each->get_positional() && each->get_required(); });
    return options.size();
}

} // namespace

std::vector<std::string> spread_values(const CLI::App& app,
                                       const std::vector<std::string>& many_valued,
                                       const std::vector<std::string>& arguments) {
    struct further_word {
        std::size_t at = 0;
        const std::string* option = nullptr;
        bool is_last = false; ///< of those that follow the option
    };
    std::vector<further_word> further;
    std::size_t others = 0; // words that are arguments
    std::size_t at = 0;
    while (at < arguments.size() && arguments[at] != "--") {
        const std::string& text = arguments[at++];
        if (is_word(text)) {
            ++others;
            continue;
        }
        if (takes_next(app, text)) ++at;
        const auto many = std::find(many_valued.begin(), many_valued.end(), name_in(text));
        if (many == many_valued.end()) continue;
        for (; at < arguments.size() && is_word(arguments[at]); ++at)
            further.push_back({at, &*many, false});
        if (!further.empty() && further.back().at + 1 == at) further.back().is_last = true;
    }
    if (at < arguments.size()) others += arguments.size() - at - 1;
    // The arguments that are missing are among the words.
    for (std::size_t missing = required_arguments(app); missing > others; --missing) {
        const auto last = std::find_if(further.begin(), further.end(),
                                       [](const further_word& each) { return each.is_last; });
        if (last == further.end()) break;
        further.erase(last);
    }
    std::vector<std::string> spread;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto found = std::find_if(further.begin(), further.end(),
                                        [&](const further_word& each) { return each.at == i; });
        if (found != further.end()) spread.push_back(*found->option);
        spread.push_back(arguments[i]);
    }
    return spread;
}

} // namespace heddle::cli
