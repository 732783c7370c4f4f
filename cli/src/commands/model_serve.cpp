#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "display_text.hpp"
#include "input_files.hpp"
#include "interrupts.hpp"
#include "json_line.hpp"
#include "logging.hpp"
#include "wiring.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/scripted/server.hpp>

#include <boost/json/object.hpp>

#include <unistd.h>

namespace heddle::cli {

namespace {

using scripted::server;

/// Tells those who wait for it where the server listens.
result<void> announce(const server& listening, const serve_request& asked, console& output) {
    const std::string port = std::to_string(listening.port()) + "\n";
    if (asked.print_port && *asked.print_port != "-") {
        HEDDLE_CHECK(write_output_file(*asked.print_port, port));
    }
    if (asked.json) {
        const boost::json::object line{
            {"url", listening.base_url()}, {"port", listening.port()}, {"pid", ::getpid()}};
        output.out_data(json_line(line));
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

exit_code serve_model(const serve_request& asked, console& output) {
    auto rules = load_rules(asked.rules);
    if (!rules) return tell_usage_error(rules.error(), asked.json, output);
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
        return tell_error(failure, usage ? exit_code::usage : exit_code::failed, asked.json,
                          output);
    }

    coro::cancel_source cancel;
    std::size_t open_at_the_end = 0;
    interrupts signals(context, [&] {
        open_at_the_end = (*listening)->counters().open_connections;
        cancel.request(cancel_reason::user);
    });
    const auto announced = announce(**listening, asked, output);
    if (!announced) return tell_error(announced.error(), exit_code::failed, asked.json, output);

    result<void> ended;
    std::exception_ptr broken;
    const coro::call_context until_cancelled{&loop, &cancel, {}};
    coro::spawn(loop, serve(listening->get(), until_cancelled, &ended),
                [&](std::exception_ptr thrown) {
                    broken = thrown;
                    signals.stop();
                    context.stop(); // serve() has ended: every socket is closed
                });
    context.run();
    if (broken) std::rethrow_exception(broken);
    if (!ended) return tell_error(ended.error(), exit_code::failed, asked.json, output);
    if (asked.verbosity >= 0) {
        const auto counters = (*listening)->counters();
        output.err("served " + counted(counters.requests, "request") + " over " +
                   counted(counters.connections, "connection") + ", " +
                   std::to_string(open_at_the_end) + " of them still open\n");
    }
    return exit_code::done;
}

} // namespace heddle::cli
