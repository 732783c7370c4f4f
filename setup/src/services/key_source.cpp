#include "services/key_source.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/process/child_processes.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>

#include <algorithm>

namespace heddle::setup {

namespace {

constexpr std::size_t max_key_length = 16 * 1024;
constexpr std::chrono::seconds command_time{30};

/// The code of a configuration error, because a call without its key is never sent and so costs
/// nothing.
error wrong_key(const provider_config& settings, std::string what) {
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 settings.place.shown() + ": the key of provider '" + settings.name +
                     "': " + std::move(what));
}

result<found_key> checked(const provider_config& settings, std::string_view text,
                          std::string from) {
    found_key found{secret(std::string(ascii::trim(text))), std::move(from)};
    const std::string_view key = found.key.reveal();
    if (key.empty()) return wrong_key(settings, found.from + " holds nothing");
    const bool one_word = std::none_of(key.begin(), key.end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F;
    });
    if (!one_word || key.size() > max_key_length) {
        return wrong_key(settings, found.from +
                                       " holds something else than a key: one word is "
                                       "expected");
    }
    return found;
}

coro::task<void> run_command(ports::process_port* port, ports::process_request request,
                             coro::call_context context,
                             std::optional<result<ports::process_result>>* into) {
    result<ports::process_result> ended = co_await port->run(std::move(request), context);
    into->emplace(std::move(ended));
}

/// Without its arguments, which may hold what an error must not show.
std::string name_of_command(const provider_config& settings) {
    return "the command \"" + settings.api_key_command.front() + "\"";
}

/// With all arguments: two keys of a password manager differ in the last one only.
std::string whole_command(const provider_config& settings) {
    boost::json::array words;
    for (const std::string& each : settings.api_key_command) words.emplace_back(each);
    return "the command " + json_text(words);
}

result<found_key> key_of_command(const provider_config& settings) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    HEDDLE_TRY(const auto port, process::make_process_port(loop, {}));
    ports::process_request request;
    request.arguments = settings.api_key_command;
    request.max_output = max_key_length + 1;
    const coro::call_context context{&loop, nullptr,
                                     coro::deadline(coro::clock::now() + command_time)};
    std::optional<result<ports::process_result>> ended;
    coro::spawn(loop, run_command(port.get(), std::move(request), context, &ended),
                [&io](std::exception_ptr) { io.stop(); });
    io.run();
    const std::string name = name_of_command(settings);
    if (!ended) return wrong_key(settings, name + " could not be run");
    if (!*ended) {
        const bool late = (*ended).error().is_cancelled();
        return wrong_key(settings, late ? name + " took longer than half a minute"
                                        : name + ": " + (*ended).error().message());
    }
    if ((*ended)->exit_code != 0) {
        return wrong_key(settings,
                         name + " failed with exit code " + std::to_string((*ended)->exit_code))
            .with_hint("run it by hand to see its output");
    }
    return checked(settings, (*ended)->out, name);
}

} // namespace

std::string key_name(const provider_config* settings,
                     const std::vector<std::string>& usual_variables,
                     const environment& variables) {
    if (settings && settings->api_key_env) return *settings->api_key_env;
    if (settings && settings->api_key_file) return "the file " + *settings->api_key_file;
    if (settings && !settings->api_key_command.empty()) return whole_command(*settings);
    for (const std::string& name : usual_variables) {
        if (!variables.key(name).empty()) return name;
    }
    return {};
}

result<found_key> find_key(const provider_config* settings,
                           const std::vector<std::string>& usual_variables,
                           const environment& variables) {
    if (settings && settings->api_key_env) {
        secret key = variables.key(*settings->api_key_env);
        if (key.empty()) {
            return wrong_key(*settings, "the variable " + *settings->api_key_env + " is not set");
        }
        return found_key{std::move(key), *settings->api_key_env};
    }
    if (settings && settings->api_key_file) {
        auto text = read_input_file(*settings->api_key_file);
        if (!text) return wrong_key(*settings, text.error().message());
        return checked(*settings, *text, "the file " + *settings->api_key_file);
    }
    if (settings && !settings->api_key_command.empty()) return key_of_command(*settings);
    for (const std::string& name : usual_variables) {
        secret key = variables.key(name);
        if (!key.empty()) return found_key{std::move(key), name};
    }
    return found_key{};
}

} // namespace heddle::setup
