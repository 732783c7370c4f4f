#include "command_line/option_list.hpp"

#include <heddle/base/ascii.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace heddle::cli {

namespace {

/// "20", "0.5", and never "1.000000" or "1e+18".
std::string shown_number(double number) {
    std::array<char, 32> digits;
    const auto fixed = std::chars_format::fixed;
    char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), number, fixed).ptr;
    return std::string(digits.data(), end);
}

bool is_decimal(std::string_view text) noexcept {
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto digits = std::count_if(text.begin(), text.end(), ascii::is_digit);
    const auto points = std::count(text.begin(), text.end(), '.');
    return digits > 0 && points <= 1 && digits + points == static_cast<std::ptrdiff_t>(text.size());
}

/// Has the option take decimal digits only: CLI11 also reads 0x10, 010 as 8, 1e3 and blanks in
/// front. What is not a number at all is left to the checks that follow.
template <class Number>
CLI::Option* in_decimal(CLI::Option* option) {
    const auto check = [](std::string& text) -> std::string {
        if (!is_decimal(text)) {
            Number number{};
            const bool read = CLI::detail::lexical_cast(text, number);
            return read ? "must be written in decimal digits, not '" + text + "'" : std::string();
        }
        const std::size_t sign = text.starts_with('-') ? 1 : 0;
        while (text.size() > sign + 1 && text[sign] == '0' && ascii::is_digit(text[sign + 1])) {
            text.erase(sign, 1); // else it would be octal
        }
        return {};
    };
    // Before all other checks, and able to change the text.
    return option->transform(CLI::Validator(check, ""));
}

} // namespace

option_ref option_ref::value(const std::string& name) const {
    option_->type_name(name);
    return *this;
}
option_ref option_ref::required() const {
    option_->required();
    return *this;
}
option_ref option_ref::show_default() const {
    option_->capture_default_str();
    return *this;
}
option_ref option_ref::range(double least, double most) const {
    return check([least, most](const std::string& text) -> std::string {
        double number = 0;
        const bool read = CLI::detail::lexical_cast(text, number);
        if (read && number >= least && number <= most) return {};
        return "must be from " + shown_number(least) + " to " + shown_number(most) + ", not " +
               (read ? text : "'" + text + "'");
    });
}
option_ref option_ref::check(std::function<std::string(const std::string&)> check) const {
    option_->check(std::move(check));
    return *this;
}
option_ref option_ref::hidden() const {
    option_->group("");
    return *this;
}
option_ref option_ref::excludes(option_ref other) const {
    option_->excludes(other.option_);
    return *this;
}
option_ref option_ref::needs(option_ref other) const {
    option_->needs(other.option_);
    return *this;
}

void option_list::group(const std::string& name) { app_.option_defaults()->group(name); }

option_ref option_list::argument(const std::string& name, std::string& into,
                                 const std::string& help) {
    return option_ref(app_.add_option(name, into, help)->group("Arguments"));
}
option_ref option_list::argument(const std::string& name, std::vector<std::string>& into,
                                 const std::string& help) {
    return option_ref(app_.add_option(name, into, help)->group("Arguments"));
}

option_ref option_list::option(const std::string& names, std::string& into,
                               const std::string& help) {
    return option_ref(app_.add_option(names, into, help));
}
option_ref option_list::option(const std::string& names, std::optional<std::string>& into,
                               const std::string& help) {
    return option_ref(app_.add_option(names, into, help));
}
option_ref option_list::option(const std::string& names, std::vector<std::string>& into,
                               const std::string& help) {
    // One value for each option: what follows it may be an argument.
    return option_ref(app_.add_option(names, into, help)->type_size(1)->allow_extra_args(false));
}
option_ref option_list::values(const std::string& name, std::vector<std::string>& into,
                               const std::string& help) {
    many_valued_.push_back(name);
    return option(name, into, help);
}
option_ref option_list::option(const std::string& names, std::uint64_t& into,
                               const std::string& help) {
    return option_ref(in_decimal<std::uint64_t>(app_.add_option(names, into, help)));
}
option_ref option_list::option(const std::string& names, std::optional<std::uint64_t>& into,
                               const std::string& help) {
    return option_ref(in_decimal<std::uint64_t>(app_.add_option(names, into, help)));
}
option_ref option_list::option(const std::string& names, std::uint16_t& into,
                               const std::string& help) {
    return option_ref(in_decimal<std::uint16_t>(app_.add_option(names, into, help)));
}
option_ref option_list::option(const std::string& names, double& into, const std::string& help) {
    return option_ref(in_decimal<double>(app_.add_option(names, into, help)));
}
option_ref option_list::option(const std::string& names, std::optional<double>& into,
                               const std::string& help) {
    return option_ref(in_decimal<double>(app_.add_option(names, into, help)));
}

option_ref option_list::flag(const std::string& names, bool& into, const std::string& help) {
    return option_ref(app_.add_flag(names, into, help));
}
option_ref option_list::flag(const std::string& names, std::int64_t& into,
                             const std::string& help) {
    return option_ref(app_.add_flag(names, into, help));
}
option_ref option_list::flag(const std::string& names, std::optional<bool>& into,
                             const std::string& help) {
    return option_ref(app_.add_flag(names, into, help)->default_str(""));
}
option_ref option_list::flag_or_value(const std::string& name, const std::string& usual,
                                      std::string& into, const std::string& help) {
    return option_ref(app_.add_flag(name + "{" + usual + "}", into, help)->default_str(""));
}
option_ref option_list::action(const std::string& names, std::function<void()> what,
                               const std::string& help) {
    return option_ref(app_.add_flag_callback(names, std::move(what), help));
}

} // namespace heddle::cli
