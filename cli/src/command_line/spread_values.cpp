#include "command_line/spread_values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace heddle::cli {

namespace {

bool is_word(const std::string& text) { return text == "-" || !text.starts_with('-'); }

bool takes_value(const CLI::App& app, const std::string& name) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    return option && option->get_items_expected_max() != 0;
}

struct option_word {
    std::string name;        ///< of the only option, or of the one that takes a value
    bool takes_next = false; ///< whether the next argument is the value
};

option_word option_in(const CLI::App& app, const std::string& text) {
    if (text.starts_with("--")) {
        std::string name = text.substr(0, text.find('='));
        const bool is_whole = name.size() == text.size();
        const bool takes_next = is_whole && takes_value(app, name);
        return {std::move(name), takes_next};
    }
    // Letters of flags, and of an option whose value is the rest of the word or the next one.
    for (std::size_t i = 1; i < text.size(); ++i) {
        std::string name{'-', text[i]};
        if (takes_value(app, name)) return {std::move(name), i + 1 == text.size()};
    }
    return {};
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
        const option_word option = option_in(app, text);
        if (option.takes_next) ++at;
        const auto many = std::find(many_valued.begin(), many_valued.end(), option.name);
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
