// The options of one command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace heddle::cli {

/// A declared option, to set its properties. Valid as long as the command line.
class option_ref {
public:
    explicit option_ref(CLI::Option* option) noexcept : option_(option) {}

    /// Sets the name of the value in --help: "FILE".
    option_ref value(const std::string& name) const;
    option_ref required() const; ///< the argument or option is required
    /// --help shows the value that the variable has now.
    option_ref show_default() const;
    option_ref range(double least, double most) const; ///< both inclusive
    /// `check` returns the problem of the text, to follow the name of the option ("must be …"), or
    /// an empty string.
    option_ref check(std::function<std::string(const std::string&)> check) const;
    option_ref excludes(option_ref other) const;
    option_ref needs(option_ref other) const;
    /// It is read, but neither help nor completion offers it.
    option_ref hidden() const;

private:
    CLI::Option* option_;
};

/// Declares options and the variables that hold their values, which outlive the parsing. It keeps
/// CLI11 out of the files of the commands.
class option_list {
public:
    explicit option_list(CLI::App& app) noexcept : app_(app) {}

    /// The heading of --help for the options that follow.
    void group(const std::string& name);

    /// A positional argument. A vector takes all that follow.
    option_ref argument(const std::string& name, std::string& into, const std::string& help);
    option_ref argument(const std::string& name, std::vector<std::string>& into,
                        const std::string& help);

    /// `names`: "-m,--model". A vector collects the values of a repeated option. Numbers are
    /// written in decimal digits.
    option_ref option(const std::string& names, std::string& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<std::string>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::vector<std::string>& into,
                      const std::string& help);
    /// As a vector of option(), but the words up to the next option are values, too: those of a
    /// pattern of the shell. See spread_values().
    option_ref values(const std::string& name, std::vector<std::string>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::uint64_t& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<std::uint64_t>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::uint16_t& into, const std::string& help);
    option_ref option(const std::string& names, double& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<double>& into,
                      const std::string& help);

    option_ref flag(const std::string& names, bool& into, const std::string& help);
    /// Counts how often the flag occurs.
    option_ref flag(const std::string& names, std::int64_t& into, const std::string& help);
    /// "--cache,!--no-cache": one of them, or none.
    option_ref flag(const std::string& names, std::optional<bool>& into, const std::string& help);
    /// Sets `into` to `usual`, or with --name=TEXT to the text.
    option_ref flag_or_value(const std::string& name, const std::string& usual, std::string& into,
                             const std::string& help);
    /// A flag that calls a function.
    option_ref action(const std::string& names, std::function<void()> what,
                      const std::string& help);

    /// Names of the options that values() has declared.
    [[nodiscard]] const std::vector<std::string>& many_valued() const noexcept {
        return many_valued_;
    }

private:
    CLI::App& app_;
    std::vector<std::string> many_valued_;
};

} // namespace heddle::cli
