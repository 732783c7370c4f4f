#include "application.hpp"
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "interrupts.hpp"
#include "logging.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"

#include <heddle/scripted/server.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <unistd.h>

namespace heddle::cli {

namespace {

struct serve_request {
    std::string rules;
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    bool allow_remote = false;
    std::optional<std::string> print_port; ///< a file, "-": standard output
    bool json = false;
    int verbosity = 0;
};

using scripted::server;

/// Reports where the server listens to those who wait for it. Errors: of the file and the stream;
/// cancelled by a signal that comes while nobody reads a pipe.
result<void> announce(const server& listening, const serve_request& asked, interrupts& signals,
                      console& output) {
    const std::string port = std::to_string(listening.port()) + "\n";
    if (asked.print_port && *asked.print_port != "-") {
        HEDDLE_CHECK(setup::write_output_file(*asked.print_port, port,
                                              [&signals] { return signals.look(); }));
    }
    if (asked.json) {
        const boost::json::object line{
            {"url", listening.base_url()}, {"port", listening.port()}, {"pid", ::getpid()}};
        output.out_data(setup::json_line(line));
    } else {
        output.out(asked.print_port == "-" ? port : listening.base_url() + "\n");
    }
    // A pipe is buffered, and the reader of this line waits for it.
    if (!output.flush()) return error(errc::io_error, "standard output cannot be written");
    return {};
}

coro::task<void> serve(server* listening, coro::call_context context, result<void>* ended) {
    result<void> outcome = co_await listening->serve(context);
    *ended = std::move(outcome);
}

} // namespace

static exit_code serve_model(const serve_request& asked, console& output) {
    auto rules = setup::load_rules(asked.rules);
    if (!rules) return report_usage_error(rules.error(), asked.json, output);
    raise_open_file_limit();

    const auto log = make_console_log(output, level_for(asked.verbosity));
    boost::asio::io_context context(1);
    coro::event_loop loop(context);
    scripted::server_options wanted;
    wanted.address = asked.host;
    wanted.port = asked.port;
    using scripted::exposure;
    wanted.reach = asked.allow_remote ? exposure::any_address : exposure::loopback_only;
    auto listening = server::listen(*rules, std::move(wanted), loop, *log);
    if (!listening) {
        error failure = listening.error();
        const bool usage = failure.code() == errc::invalid_argument;
        if (usage) failure = std::move(failure).with_hint("--allow-remote permits any address");
        return report_error(failure, usage ? exit_code::usage : exit_code::failed, asked.json,
                            output);
    }

    coro::cancel_source cancel;
    std::size_t open_at_the_end = 0;
    interrupts signals(context, [&] {
        open_at_the_end = (*listening)->counters().open_connections;
        cancel.request(cancel_reason::user);
    });
    const auto announced = announce(**listening, asked, signals, output);
    if (!announced && !announced.error().is_cancelled()) {
        return report_error(announced.error(), exit_code::failed, asked.json, output);
    }

    result<void> ended;
    const coro::call_context until_cancelled{&loop, &cancel, {}};
    {
        const console::loop_time looping(output);
        run_to_end(loop, serve(listening->get(), until_cancelled, &ended), [&] { signals.stop(); });
    }
    if (!ended) return report_error(ended.error(), exit_code::failed, asked.json, output);
    if (asked.verbosity >= 0) {
        const auto counters = (*listening)->counters();
        output.err("served " + setup::counted(counters.requests, "request") + " over " +
                   setup::counted(counters.connections, "connection") + ", " +
                   std::to_string(open_at_the_end) + " of them still open\n");
    }
    return exit_code::done;
}

namespace {

class model_serve_work final : public command {
public:
    void add_options(option_list& to) override {
        to.option("--rules", asked_.rules, "File of rules that map prompts to responses")
            .required()
            .value("FILE");
        to.option("--port", asked_.port, "Port to listen on; 0 selects a free port")
            .show_default()
            .value("N")
            .range(0, 65'535);
        to.option("--host", asked_.host, "Address to listen on").show_default().value("ADDRESS");
        to.flag("--allow-remote", asked_.allow_remote,
                "Permit a --host that other machines can reach");
        to.option("--print-port", asked_.print_port,
                  "Write the port to FILE once it is open; - for standard output, instead of "
                  "the URL")
            .value("FILE");
        to.group("Output");
        to.flag("--json", asked_.json, "Print a JSON object as the first line");
        verbosity_.add_to(to);
    }
    std::optional<std::string> mistake() override {
        asked_.verbosity = verbosity_.verbosity();
        return verbosity_.mistake();
    }
    exit_code run(command_context context) override { return serve_model(asked_, context.output); }

private:
    verbosity_options verbosity_;
    serve_request asked_;
};

constexpr command_row rows[] = {
    {
        .name = "model",
        .summary = "Run models for development and tests",
        .details = {},
        .group = command_group::models,
    },
    {
        .name = "model serve",
        .summary = "Serve a scripted model over HTTP until Ctrl-C",
        .details =
            R"(Prints the base URL on the first line of standard output; with --print-port - the port, with --json
an object with url, port and pid. docs/reference/scripted-model.md describes the rules.

Examples:
  heddle model serve --rules rules.json --port 8080
  heddle run hello.heddle --model openai:any --base-url http://127.0.0.1:8080/v1)",
        .group = command_group::models,
        .make = &make_command<model_serve_work>,
    }};

} // namespace

std::span<const command_row> model_serve_commands() noexcept { return rows; }

} // namespace heddle::cli
