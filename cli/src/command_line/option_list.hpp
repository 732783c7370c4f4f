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

/// An option that was declared, to say more about it. Valid as long as the command line.
class option_ref {
public:
    explicit option_ref(CLI::Option* option) noexcept : option_(option) {}

    /// What --help shows for the value: "FILE".
    option_ref value(const std::string& name) const;
    option_ref required() const; ///< an argument or option that must be given
    /// --help shows the value that the variable has now.
    option_ref show_default() const;
    option_ref range(double least, double most) const; ///< both are allowed
    /// `check` returns what is wrong with the text, to be read after the name of the option ("must
    /// be …"), or an empty string.
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

    /// A value that is given by its place. A vector takes all that follow.
    option_ref argument(const std::string& name, std::string& into, const std::string& help);
    option_ref argument(const std::string& name, std::vector<std::string>& into,
                        const std::string& help);

    /// `names`: "-m,--model". A vector collects the values of several such options. Numbers are
    /// written in decimal digits.
    option_ref option(const std::string& names, std::string& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<std::string>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::vector<std::string>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::uint64_t& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<std::uint64_t>& into,
                      const std::string& help);
    option_ref option(const std::string& names, std::uint16_t& into, const std::string& help);
    option_ref option(const std::string& names, double& into, const std::string& help);
    option_ref option(const std::string& names, std::optional<double>& into,
                      const std::string& help);

    option_ref flag(const std::string& names, bool& into, const std::string& help);
    /// How often the flag was given.
    option_ref flag(const std::string& names, std::int64_t& into, const std::string& help);
    /// "--cache,!--no-cache": either, or none.
    option_ref flag(const std::string& names, std::optional<bool>& into, const std::string& help);
    /// A flag that does something.
    option_ref action(const std::string& names, std::function<void()> what,
                      const std::string& help);

private:
    CLI::App& app_;
};

} // namespace heddle::cli
