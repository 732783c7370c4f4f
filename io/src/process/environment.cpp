#include "environment.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/process/child_processes.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::process {

namespace {

using ports::process_errc;

constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";

[[nodiscard]] bool is_program(const std::string& path, bool& there) noexcept {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
    there = true;
    return ::access(path.c_str(), X_OK) == 0;
}

[[nodiscard]] std::string_view path_of(const environment_block& variables) {
    for (const std::string& line : variables) {
        if (line.starts_with("PATH=")) return std::string_view(line).substr(5);
    }
    return usual_path;
}

[[nodiscard]] error no_permission(const std::string& name) {
    return error(process_errc::not_permitted, "the program \"" + name + "\" cannot be executed")
        .with_hint("make it executable: chmod +x")
        .with_retryable(false);
}

/// A proxy's address needs no scheme, its password may hold any character, and a user without a
/// password may be a token; an '@' means nothing else there. no_proxy lists hosts, without
/// users.
[[nodiscard]] bool names_proxy_user(std::string_view name, std::string_view text) noexcept {
    return text.find('@') != std::string_view::npos && matches_name("*_proxy", name);
}

} // namespace

bool matches_name(std::string_view pattern, std::string_view name) noexcept {
    // The last star is the only one that has to be tried again.
    std::size_t p = 0;
    std::size_t n = 0;
    std::optional<std::size_t> star;
    std::size_t resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && ascii::to_lower(pattern[p]) == ascii::to_lower(name[n])) {
            ++p;
            ++n;
        } else if (star) {
            p = *star + 1;
            n = ++resume;
        } else return false;
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool holds_password(std::string_view text) noexcept {
    for (std::size_t at = text.find("://"); at != std::string_view::npos;
         at = text.find("://", at + 1)) {
        std::string_view rest = text.substr(at + 3);
        rest = rest.substr(0, rest.find_first_of(" \t\n"));
        // Many write "/", "?" or "#" in a password as they are. So the last '@' counts, even where
        // that may be one of a path behind a port.
        const std::size_t user = rest.rfind('@');
        const std::size_t colon = rest.substr(0, rest.find_first_of("/?#")).find(':');
        if (user != std::string_view::npos && colon < user && colon + 1 < user) return true;
    }
    return false;
}

std::vector<std::string> usual_variables() {
    return {// the user, the machine, the language, the terminal
            "PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "LANG", "LANGUAGE", "LC_*",
            "TZ", "TZDIR", "TERM", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "COLUMNS", "LINES",
            "NO_COLOR", "CLICOLOR*", "FORCE_COLOR", "LS_COLORS", "TMPDIR", "TMP", "TEMP", "EDITOR",
            "VISUAL", "PAGER", "MANPATH", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*",
            "DBUS_SESSION_BUS_ADDRESS", "CI",
            // agents, which keep keys to themselves
            "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GPG_TTY", "GNUPGHOME",
            // the net
            "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE",
            "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
            // where compilers and interpreters find things
            "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
            "PKG_CONFIG_PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS",
            "MAKEFLAGS", "PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "VIRTUAL_ENV",
            "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "NODE_PATH", "NODE_ENV", "NVM_DIR", "JAVA_HOME",
            "GOPATH", "GOROOT", "GOBIN", "CARGO_HOME", "RUSTUP_HOME", "GEM_HOME", "GEM_PATH",
            "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
            "GIT_PAGER", "GIT_EDITOR"};
}

std::vector<std::string> usual_secrets() {
    return {"*API_KEY*", "*APIKEY*", "*ACCESS_KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*",
            "*PASSWD*", "*CREDENTIAL*", "*PRIVATE_KEY*", "*PASSPHRASE*",
            // GITHUB_PAT, DD_APP_KEY, REDISCLI_AUTH, DOCKER_AUTH_CONFIG, MYSQL_PWD, SENTRY_DSN
            "*_PAT", "*_KEY", "*_AUTH", "*AUTH_CONFIG*", "*_PWD", "*_DSN",
            // DB_PASS, STRIPE_SK, CI_JOB_JWT, COOKIE, AZURE_STORAGE_CONNECTION_STRING
            "*PASS", "*_SK", "*JWT*", "*COOKIE*", "*CONNECTION_STRING*"};
}

result<environment_block> make_environment(const char* const* inherited,
                                           const process_options& options,
                                           const ports::process_request& request) {
    std::map<std::string, std::string, std::less<>> by_name;
    for (; inherited && *inherited; ++inherited) {
        const std::string_view line(*inherited);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || equals == 0) continue;
        const std::string_view name = line.substr(0, equals);
        const std::string_view text = line.substr(equals + 1);
        if (name == "PWD" || name == "OLDPWD") continue; // the child's directory is another
        const auto names = [&](const std::vector<std::string>& list) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        const auto matches = [&](const std::vector<std::string>& patterns) {
            return std::any_of(patterns.begin(), patterns.end(),
                               [&](const std::string& each) { return matches_name(each, name); });
        };
        const bool kept =
            (options.inherited && !matches(*options.inherited)) || matches(options.withheld) ||
            (options.withhold_passwords && (holds_password(text) || names_proxy_user(name, text)));
        const bool allowed = !kept || names(request.secrets) || names(options.passed);
        if (allowed) by_name.insert_or_assign(std::string(name), text);
    }
    for (const auto& [name, text] : request.environment) {
        if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
            text.find('\0') != std::string::npos) {
            return error(
                       process_errc::invalid_argument,
                       "a variable of the environment has a name or text that cannot be passed on")
                .with_hint("a name must not be empty or contain '=' or a zero byte")
                .with_retryable(false);
        }
        by_name.insert_or_assign(name, text);
    }
    environment_block block;
    block.reserve(by_name.size());
    for (auto& [name, text] : by_name) block.push_back(name + "=" + text);
    return block;
}

result<std::string> find_program(const std::string& name, const environment_block& variables) {
    if (name.find('/') != std::string::npos) return name; // relative to the child's directory
    std::string_view rest = path_of(variables);
    bool there = false;
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        const std::string_view directory = rest.substr(0, colon);
        rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
        if (!directory.starts_with('/')) continue;
        std::string path = std::string(directory) + "/" + name;
        if (is_program(path, there)) return path;
    }
    if (there) return no_permission(name);
    return error(process_errc::not_found, "there is no program \"" + name + "\" on PATH")
        .with_hint("install it, or give its path (\"./" + name + "\" for one in the directory)")
        .with_retryable(false);
}

} // namespace heddle::process
