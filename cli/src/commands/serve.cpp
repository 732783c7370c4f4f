// `heddle serve`
#include "serve/serve_run.hpp"

#include "command_line/command.hpp"
#include "command_line/option_values.hpp"
#include "command_line/workflow_option_reader.hpp"

#include <heddle/setup/quantity.hpp>

#include <cmath>

namespace heddle::cli {

namespace {

class serve_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.files, "Files whose functions are served").required();
        to.group("Server");
        to.option("-l,--listen", asked_.listen, "Address to listen on; port 0 selects a free port")
            .value("HOST:PORT")
            .show_default();
        to.option("--token-file", asked_.token_file,
                  "File of bearer tokens that clients must send; each line has a token, or a "
                  "name and a token [HEDDLE_SERVE_TOKEN]")
            .value("FILE")
            .check(&mistake_of_path);
        to.flag("--open", asked_.is_open,
                "Allow requests without a token on an address that other machines can reach");
        to.option("--tls-cert", asked_.tls_certificate, "Certificate chain in PEM, for HTTPS")
            .value("FILE")
            .check(&mistake_of_path);
        to.option("--tls-key", asked_.tls_key, "Key of the certificate in PEM, without a password")
            .value("FILE")
            .check(&mistake_of_path);
        to.option("--threads", asked_.threads, "Number of threads that run workflows")
            .value("N")
            .range(1, 1024)
            .show_default();
        to.option("--grace", grace_,
                  "Seconds for requests in progress to finish on shutdown, before they are "
                  "cancelled")
            .value("S")
            .range(0, 86'400)
            .show_default();
        to.option("--drain-delay", drain_delay_,
                  "Seconds to keep accepting requests on shutdown, while /readyz responds with 503")
            .value("S")
            .range(0, 86'400)
            .show_default();
        to.group("Model");
        to.option("-m,--model", asked_.model,
                  "Model for tasks that name none: openai:NAME, anthropic:NAME, an alias, "
                  "scripted:RULES.json, ... [HEDDLE_MODEL]")
            .value("PROVIDER:MODEL");
        add_base_url_option(to, asked_.base_url);
        to.option("--stream-task", asked_.stream_task,
                  "Task whose text /v1/chat/completions streams as it arrives; the result must "
                  "begin with that text")
            .value("NAME");
        to.group("Limits");
        to.option("-t,--timeout", timeout_, "Maximum time of a request in seconds")
            .value("S")
            .range(0.001, 86'400)
            .show_default();
        to.option("-c,--concurrency", asked_.concurrency, "Maximum number of concurrent calls")
            .value("N")
            .range(1, 1'000'000)
            .show_default();
        to.option("--queue", asked_.queue,
                  "Maximum number of calls in the queue; further calls are refused with 503")
            .value("N")
            .range(0, 1'000'000)
            .show_default();
        to.option("--rate", asked_.rate,
                  "Maximum number of requests per minute of each client; 0 means unlimited")
            .value("N")
            .range(0, 1'000'000)
            .show_default();
        to.option("--client-calls", asked_.client_calls,
                  "Maximum number of concurrent calls of each client; 0 means unlimited")
            .value("N")
            .range(0, 1'000'000)
            .show_default();
        to.option("--max-body", max_body_, "Maximum size of the body of a request")
            .value("SIZE")
            .show_default();
        to.option("--budget-usd", asked_.budget_usd,
                  "Maximum cost of each request's model calls in US dollars")
            .value("USD");
        to.group("Files");
        add_config_option(to, asked_.config);
        add_tasks_option(to, asked_.tasks);
        to.option("-w,--workspace", asked_.workspace,
                  "Directory whose files workflows may read and write")
            .value("DIR")
            .show_default();
        to.group("Output");
        to.flag("--json", asked_.json,
                "Print a JSON object with the address and the functions as the first line");
        verbosity_.add_to(to);
    }
    std::optional<std::string> mistake() override {
        asked_.verbosity = verbosity_.verbosity();
        asked_.timeout = seconds(timeout_);
        asked_.grace = seconds(grace_);
        asked_.drain_delay = seconds(drain_delay_);
        if (asked_.tls_certificate.empty() != asked_.tls_key.empty())
            return "--tls-cert and --tls-key need each other";
        if (auto wrong = mistake_of_budget(asked_.budget_usd)) return wrong;
        const auto size = setup::bytes_of(max_body_);
        if (!size) return "--max-body needs a size such as 8MiB, not '" + max_body_ + "'";
        asked_.max_body = *size;
        return verbosity_.mistake();
    }
    exit_code run(command_context context) override {
        return serve_files(asked_, context.variables, context.output);
    }

private:
    /// A variable of a script that is not set: without the file, the server would be open.
    static std::string mistake_of_path(const std::string& text) {
        return text.empty() ? "must not be empty" : "";
    }
    static std::chrono::milliseconds seconds(double number) {
        return std::chrono::milliseconds(std::llround(number * 1000));
    }

    verbosity_options verbosity_;
    serve_options asked_;
    double timeout_ = 300;
    double grace_ = 30;
    double drain_delay_ = 0;
    std::string max_body_ = "8MiB";
};

constexpr command_row rows[] = {{
    .name = "serve",
    .summary = "Serve the functions of files over HTTP until Ctrl-C",
    .details =
        R"(Each function that a file defines is served as POST /v1/call/NAME, except those whose names begin
with -; imported functions are not.
The members of a JSON object are its arguments by name; the response has "value", "usage",
"cost_usd" and "seconds". With Accept: text/event-stream, text is sent as models produce it. When a
client disconnects, its call is cancelled. A name that several files define is served as STEM/NAME.

  GET /openapi.json              the functions and their parameters, as OpenAPI
  GET /healthz, /readyz          200; /readyz 503 during shutdown
  GET /metrics                   for Prometheus
  POST /v1/chat/completions      OpenAI's API: a function (chat messages options) in place of a model
  GET /v1/models                 the functions that can be used as models

Prints the URL on the first line of standard output. docs/reference/serve.md describes requests,
responses and errors.

Examples:
  heddle serve hello.heddle
  curl -d '{"name":"Ada"}' -H 'Content-Type: application/json' localhost:8080/v1/call/main
  HEDDLE_SERVE_TOKEN=$(cat token) heddle serve *.heddle --listen 0.0.0.0:443 \
      --tls-cert chain.pem --tls-key key.pem --rate 60 --timeout 60 --budget-usd 0.05

SIGTERM and Ctrl-C shut the server down: requests in progress have --grace seconds to finish. A
second signal stops it at once.

Exit codes: 0 ended by a signal, 1 the port or the server failed, 2 usage or syntax error.)",
    .group = command_group::run,
    .make = &make_command<serve_work>,
}};

} // namespace

std::span<const command_row> serve_commands() noexcept { return rows; }

} // namespace heddle::cli
