// What --help says below the options.
#pragma once

#include <string_view>

namespace heddle::cli {

inline constexpr std::string_view program_footer = R"(
Examples:
  heddle eval '(map (lambda (x) (* x x)) (list 1 2 3))'
  heddle run review.heddle --input root=src --model openai:gpt-4o-mini
  heddle call summarise text="A long story."
  heddle tasks list
  heddle check review.heddle
  heddle fmt *.heddle
  heddle model serve --rules rules.json

Environment:
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY
                   keys; they are never printed or logged
  OPENAI_BASE_URL  another service that speaks OpenAI's format
  OLLAMA_HOST      where Ollama listens
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY, SSL_CERT_FILE
                   the way to the services
  HEDDLE_MODEL     the model, as --model takes it
  NO_COLOR         no colours

Configuration: heddle.toml in this folder or one above, over heddle/heddle.toml in
$XDG_CONFIG_HOME or ~/.config; flags and variables go before both.

Exit codes: 0 done, 1 the workflow failed, 2 usage or syntax error, 130 interrupted.
'heddle COMMAND --help' tells more.)";

inline constexpr std::string_view run_footer = R"(
A file that defines main has it called with the inputs, by the names of its parameters;
otherwise the value of its last expression is the result. Text is printed as it is, a list of
maps as a table; --json prints JSON.

  --tasks DIR          task templates; without it those in tasks/ beside FILE
  --input name=text    the text after the first =, as it is
  --input rows:=[1,2]  any JSON value
  --input-json FILE    an object with several inputs; --input wins over it

Examples:
  heddle run hello.heddle --input name=Ada
  heddle run report.heddle --input limit:=20 --concurrency 200 --timeout 60 --json
  jq '{rows: .items}' data.json | heddle run rows.heddle --input-json -
  heddle run hello.heddle --model scripted:rules.json
  heddle run hello.heddle --model openai:llama3 --base-url http://localhost:11434/v1

Ctrl-C ends all calls, says what had been done and exits with 130; a second one stops at once.)";

inline constexpr std::string_view eval_footer = R"(
Examples:
  heddle eval '(map (lambda (x) (* x x)) (list 1 2 3))'
  heddle eval '(dict "a" 1)' --json
  heddle eval - < program.heddle)";

inline constexpr std::string_view call_footer = R"(
The answer is a task result: its content is printed, all of it with --json. What begins with (
is a workflow, and the inputs are its globals; any other identifier is a template, by name or
type:subtype, else a tool, and the inputs are its inputs.

Examples:
  heddle call summarise text="A long story." --model openai:gpt-4o-mini
  heddle call review --file src/main.cpp --input-json review.json --json
  heddle call '(+ a b)' a:=1 b:=2

Exit codes: as heddle run; 1 for a result that is FAILED.)";

inline constexpr std::string_view tasks_footer = R"(
Templates are XML files below the folders that --tasks names, or below tasks/ where nothing is
named. docs/reference/templates.md describes them.

Examples:
  heddle tasks list
  heddle tasks show summarise --tasks library
  heddle tasks match "make this text shorter"
  heddle tasks check tasks/*.xml
  heddle tasks new summarise

Exit codes: 0 done, 1 a template has mistakes, nothing matches, or there is no such template,
2 usage, or a file that cannot be read.)";

inline constexpr std::string_view fmt_footer = R"(
Comments, blank lines and the spelling of everything stay; only white space changes, so a program
means what it meant. A file that cannot be read as a program is left alone, and so is a file that
is laid out already.

Examples:
  heddle fmt review.heddle
  heddle fmt --check examples/*/*.heddle
  heddle fmt - < review.heddle

Exit codes: 0 done, 1 --check found files that would change, 2 usage or syntax error.)";

inline constexpr std::string_view check_footer = R"(
Reads and resolves the files, runs nothing and asks no model. All problems are told at once, each
with its line: syntax, malformed forms, unknown names, wrong numbers of arguments, templates and
calls of tasks, clauses that are never reached, unused bindings. Names that begin with _ may be
unused. Files that a program imports are not read: what might come from them is a warning.

Examples:
  heddle check review.heddle
  heddle check --extern user:plan --extern search workflow.heddle
  heddle check --json - < review.heddle

Exit codes: 0 no errors, 1 errors (with --strict: or warnings), 2 usage, or a file that cannot be
read.)";

inline constexpr std::string_view models_footer = R"(
A service is there when heddle.toml has a [providers.NAME] for it, or when its variable is set
(OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OLLAMA_HOST). Keys are never shown; where they
come from is. --ping asks for the list of models, which costs nothing.

Examples:
  heddle models
  heddle models --ping
  heddle models --ping --json | jq '.providers[] | select(.ok)'

Exit codes: 0 done, 1 --ping found a service that does not answer, 2 usage or configuration.)";

inline constexpr std::string_view cache_footer = R"(
With --cache (or [cache] enabled = true in heddle.toml) an answer is kept by provider, model and all
that is asked, and an equal call takes it. Errors, refusals and answers that were cut are not kept.
The file is $XDG_CACHE_HOME/heddle/responses.db or ~/.cache/heddle/responses.db unless --cache-file
or heddle.toml names another.

Examples:
  heddle run rows.heddle --cache
  heddle cache stats
  heddle cache clear --older-than 7)";

inline constexpr std::string_view trust_footer = R"(
A heddle.toml in or above the current folder may come with somebody else's repository. Where it names
the address of a service, neither keys nor prompts go there before you have allowed it, but for this
machine, which gets prompts without a key. What was allowed holds for this file, address and key.
docs/reference/configuration.md tells the rest. The exit code is 1 where something is not allowed.

Examples:
  heddle trust
  heddle trust --allow
  heddle trust --revoke ../other)";

inline constexpr std::string_view dump_footer = R"(
Nothing is run. 'ast' shows each node with its place and each name with where it lives; 'ir' shows
the instructions that the machine runs.

Examples:
  heddle dump ast review.heddle
  heddle dump ir review.heddle)";

inline constexpr std::string_view repl_footer = R"(
On a terminal: line editing, history, names completed with Tab. :help tells of commands, (help 'map)
of the language. Ctrl-C ends what runs and returns to the prompt, Ctrl-D leaves. Without a terminal
there is no prompt: each expression is evaluated and its value printed; the exit code is 1 when one
failed.

Examples:
  heddle repl
  heddle repl helpers.heddle --model scripted:rules.json
  echo '(+ 1 2)' | heddle repl

Environment:
  XDG_STATE_HOME   holds heddle/history; ~/.local/state without it)";

inline constexpr std::string_view index_footer = R"(
Text files below DIR, without what .gitignore files name. docs/reference/memory.md tells the rest.

Examples:
  heddle index src --query "where are connections reused"
  heddle index . --include '*.cpp' --exclude build/ --index-file .cache/heddle.index
  heddle index . --query limiter --metadata --json)";

inline constexpr std::string_view serve_footer = R"(
The first line on standard output is the base URL (with --print-port -: the port; with --json:
an object with url, port and pid). docs/reference/scripted-model.md describes the rules.

Examples:
  heddle model serve --rules rules.json --port 8080
  heddle run hello.heddle --model openai:any --base-url http://127.0.0.1:8080/v1)";

} // namespace heddle::cli
