#include "serve/serve_run.hpp"

#include "application.hpp"
#include "interrupts.hpp"
#include "logging.hpp"
#include "render.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"
#include "serve/openapi.hpp"
#include "serve/served_functions.hpp"
#include "serve/workflow_service.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/base/url.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/failure.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/http/server.hpp>
#include <heddle/lang/extent_mark.hpp>
#include <heddle/setup/input_files.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

constexpr const char* token_variable = "HEDDLE_SERVE_TOKEN";

struct listen_address {
    std::string address; ///< an IP address
    std::uint16_t port = 0;
};

/// HOST:PORT. Errors: invalid_argument.
result<listen_address> parse_listen(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    const auto wrong = [&] {
        return error(errc::invalid_argument, "--listen needs HOST:PORT, not '" + text + "'")
            .with_hint("such as 127.0.0.1:8080, 0.0.0.0:80 or [::1]:8080");
    };
    if (colon == std::string::npos) return wrong();
    const auto port = parse_number<std::uint16_t>(std::string_view(text).substr(colon + 1));
    if (!port) return wrong();
    listen_address read;
    read.port = *port;
    read.address = text.substr(0, colon);
    if (read.address.starts_with('[') && read.address.ends_with(']'))
        read.address = read.address.substr(1, read.address.size() - 2);
    if (is_localhost(read.address)) read.address = "127.0.0.1";
    if (read.address.empty()) return wrong();
    return read;
}

/// As by $(cat FILE) when there is no such file: whoever sets it does not want an open server.
bool is_set_and_empty(const char* variable) {
    const char* const given = std::getenv(variable);
    return given != nullptr && *given == '\0';
}

/// Tokens from the file and the variable.
result<api_tokens> read_tokens(const serve_options& asked, const setup::environment& variables) {
    std::string text;
    if (!asked.token_file.empty()) {
        HEDDLE_TRY(text, setup::read_input_file(asked.token_file));
        text += '\n';
    }
    const auto given = variables.variable(token_variable);
    if (given) text += *given;
    HEDDLE_TRY(api_tokens read, api_tokens::parse(text));
    if (!asked.token_file.empty() && read.empty())
        return error(errc::invalid_argument, asked.token_file + " holds no token");
    if (read.empty() && (given || is_set_and_empty(token_variable))) {
        return error(errc::invalid_argument, std::string(token_variable) + " holds no token")
            .with_hint("set it to a token, or unset it");
    }
    return read;
}

runtime_options runtime_of(const serve_options& asked, const setup::environment& variables,
                           log_port& log, console& output) {
    runtime_options wanted;
    wanted.threads = static_cast<unsigned>(asked.threads);
    wanted.max_running = asked.concurrency;
    wanted.max_queued = asked.queue;
    wanted.timeout = asked.timeout;
    wanted.budget_usd = asked.budget_usd;
    wanted.workspace = asked.workspace;
    wanted.tasks = asked.tasks;
    if (asked.model) wanted.model = *asked.model;
    else if (asked.config && variables.model) wanted.model = *variables.model;
    if (asked.base_url) wanted.base_url = *asked.base_url;
    if (asked.config) wanted.config = *asked.config;
    else wanted.find_config = true;
    wanted.least_logged = level_for(asked.verbosity);
    wanted.log = [&log](log_level level, std::string_view component, std::string_view message) {
        log.write(level, component, message);
    };
    // Standard output has the address alone. What nobody reads is dropped, as lines of the log are.
    wanted.print = [&output](std::string_view text) { output.err_log(utf8::printable(text)); };
    return wanted;
}

/// Leaves file descriptors to files, and as many as clients have to the connections to models.
std::size_t connection_limit(std::size_t most) noexcept {
    constexpr rlim_t max_reserve = 64;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return most;
    const rlim_t reserve = std::min(max_reserve, files.rlim_cur / 4);
    const rlim_t left = std::max<rlim_t>(1, (files.rlim_cur - reserve) / 2);
    return static_cast<std::size_t>(std::min<rlim_t>(most, left));
}

/// Bytes of requests that are received at the same time.
std::size_t received_limit(std::uint64_t max_body) noexcept {
    constexpr std::uint64_t bodies = 64;
    constexpr std::uint64_t least = 64 * 1024 * 1024;
    constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max();
    return max_body > most / bodies ? most : std::max(least, bodies * max_body);
}

http::server_options server_of(const serve_options& asked, const listen_address& where) {
    http::server_options wanted;
    wanted.address = where.address;
    wanted.port = where.port;
    if (!asked.tls_certificate.empty())
        wanted.tls = http::server_tls{asked.tls_certificate, asked.tls_key};
    wanted.max_body_bytes = asked.max_body;
    wanted.max_received_bytes = received_limit(asked.max_body);
    wanted.max_connections = connection_limit(wanted.max_connections);
    wanted.max_connections_per_client = std::min(
        wanted.max_connections_per_client, std::max<std::size_t>(1, wanted.max_connections / 2));
    wanted.drain = asked.grace;
    // Cancelled calls run their `finally` blocks before they end, and then respond.
    constexpr std::chrono::duration<double> cleanups(lang::cleanup_seconds);
    wanted.close_time =
        std::chrono::ceil<std::chrono::milliseconds>(cleanups) + std::chrono::seconds(1);
    return wanted;
}

/// What runs until a signal.
class serving {
public:
    serving(const serve_options& asked, coro::event_loop& loop, runtime& workflows)
        : asked_(asked), loop_(loop), workflows_(workflows),
          workers_(fs::make_worker_pool(loop, 1)), data_(*workers_, loop) {}

    [[nodiscard]] result<void> open(const listen_address& where, request_rules rules,
                                    log_port& log) {
        rules_ = std::move(rules);
        HEDDLE_TRY(functions_, served_functions::load(workflows_, asked_.files));
        if (!asked_.stream_task.empty()) {
            const result<void> known = functions_.check_task(asked_.stream_task);
            if (!known) {
                return error(errc::not_found, "--stream-task: " + known.error().message())
                    .with_hint(known.error().info().hint);
            }
        }
        service_ = std::make_unique<workflow_service>(rules_, functions_, workflows_, data_, log);
        http::server_options wanted = server_of(asked_, where);
        if (constexpr std::size_t few = 1000; wanted.max_connections < few) {
            log.write(log_level::warn, "serve",
                      "the limit of open files (ulimit -n) allows " +
                          std::to_string(wanted.max_connections) + " connections only");
        }
        wanted.before_body = [this](const http::server_request& request) {
            return service_->refuse_early(request, loop_.now());
        };
        wanted.refusal_body = [this](std::string_view path, int status, std::string_view message) {
            return service_->count_refusal(path, status, message);
        };
        HEDDLE_TRY(server_,
                   http::server::listen(
                       std::move(wanted),
                       [this](const http::server_request& request, http::response_writer& response,
                              coro::call_context context) {
                           return service_->serve(request, response, context);
                       },
                       loop_, log));
        return {};
    }

    /// Prints where the server listens, for those who wait for it.
    [[nodiscard]] bool announce(console& output) const {
        if (asked_.json) {
            json::array names;
            for (const served_function& each : functions_.all()) names.emplace_back(each.name);
            const json line = json::object{{"url", server_->url()},
                                           {"port", server_->port()},
                                           {"pid", ::getpid()},
                                           {"functions", std::move(names)}};
            output.out_data(line.to_string() + "\n");
        } else {
            output.out(server_->url() + "\n");
            if (asked_.verbosity >= 0) {
                for (const served_function& each : functions_.all())
                    output.err("serving POST /v1/call/" + path_encoded(each.name) + "\n");
            }
        }
        return output.flush(); // a pipe is buffered, and the reader of this line waits for it
    }

    void end() noexcept {
        service_->drain();
        ending_.notify();
    }

    [[nodiscard]] coro::task<void> run(result<void>* ended) {
        coro::nursery children(coro::call_context{&loop_, nullptr, {}});
        children.start(stop_at_the_end(children.context()));
        result<void> outcome = co_await server_->serve(coro::call_context{&loop_, nullptr, {}});
        children.cancel(cancel_reason::shutdown);
        [[maybe_unused]] const result<void> joined = co_await children.join();
        *ended = std::move(outcome);
        co_await workflows_.shutdown(std::chrono::seconds(0), coro::use_task);
    }

private:
    /// Who watches /readyz gets time to send requests elsewhere.
    coro::task<result<void>> stop_at_the_end(coro::call_context context) {
        const coro::wake woken = co_await ending_.wait(context);
        if (woken != coro::wake::notified) co_return result<void>();
        if (asked_.drain_delay.count() > 0) {
            [[maybe_unused]] const result<void> waited =
                co_await coro::sleep_until(context, loop_.now() + asked_.drain_delay);
        }
        server_->stop();
        co_return result<void>();
    }

    const serve_options& asked_;
    coro::event_loop& loop_;
    runtime& workflows_;
    std::unique_ptr<ports::worker_port> workers_;
    json_work data_;
    request_rules rules_;
    served_functions functions_;
    std::unique_ptr<workflow_service> service_;
    std::unique_ptr<http::server> server_;
    coro::wait_point ending_;
};

/// Prints a failure of the programs or the configuration.
exit_code report(const error& failure, exit_code code, bool is_json, console& output) {
    if (!details_of(failure)) return report_error(failure, code, is_json, output);
    if (!is_json) {
        output.err(to_text(failure) + "\n");
        return code;
    }
    end_is_reported(); // one object, also when a signal comes now
    result<json> line = json::parse(render_error_json(failure, source_map(), code, {}));
    if (line) line->as_object().set("error", to_json(failure)); // with its place
    output.err((line ? line->to_string() : line.error().message()) + "\n");
    return code;
}

} // namespace

exit_code serve_files(const serve_options& asked, const setup::environment& variables,
                      console& output) {
    const auto where = parse_listen(asked.listen);
    if (!where) return report_usage_error(where.error(), asked.json, output);
    request_rules rules;
    auto tokens = read_tokens(asked, variables);
    if (!tokens) return report_usage_error(tokens.error(), asked.json, output);
    rules.tokens = *std::move(tokens);
    if (rules.tokens.empty() && !is_loopback_host(where->address) && !asked.is_open) {
        return report_usage_error(
            error(errc::invalid_argument,
                  "anyone who reaches " + where->address + " could run the workflows")
                .with_hint("give tokens with --token-file or HEDDLE_SERVE_TOKEN, or permit it with "
                           "--open"),
            asked.json, output);
    }
    rules.local_hosts_only = is_loopback_host(where->address);
    rules.timeout = asked.timeout;
    rules.rate = asked.rate;
    rules.client_calls = asked.client_calls;
    rules.budget_usd = asked.budget_usd;
    rules.stream_task = asked.stream_task;
    raise_open_file_limit();

    const auto log = make_console_log(output, level_for(asked.verbosity));
    auto workflows = runtime::create(runtime_of(asked, variables, *log, output));
    if (!workflows) return report(workflows.error(), exit_code::usage, asked.json, output);
    boost::asio::io_context context(1);
    coro::event_loop loop(context);
    serving server(asked, loop, *workflows);
    const result<void> opened = server.open(*where, std::move(rules), *log);
    if (!opened) {
        const bool failed = opened.error().code() == errc::io_error;
        return report(opened.error(), failed ? exit_code::failed : exit_code::usage, asked.json,
                      output);
    }
    interrupts signals(context, [&] { server.end(); });
    if (!server.announce(output)) {
        return report_error(error(errc::io_error, std::string(output_lost_message)),
                            exit_code::failed, asked.json, output);
    }
    result<void> ended;
    {
        const console::loop_time looping(output);
        run_to_end(loop, server.run(&ended), [&] { signals.stop(); });
    }
    if (!ended) return report_error(ended.error(), exit_code::failed, asked.json, output);
    return exit_code::done;
}

} // namespace heddle::cli
