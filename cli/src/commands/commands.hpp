// What the program can do. Each command returns the process's exit code.
#pragma once

#include "console.hpp"
#include "environment.hpp"
#include "exit_code.hpp"
#include "options.hpp"

namespace heddle::cli {

[[nodiscard]] exit_code run_file(const run_request& asked, const environment& variables,
                                 console& output);
[[nodiscard]] exit_code eval_expression(const eval_request& asked, const environment& variables,
                                        console& output);
[[nodiscard]] exit_code call_by_name(const call_request& asked, const environment& variables,
                                     console& output);
[[nodiscard]] exit_code look_at_tasks(const tasks_request& asked, const environment& variables,
                                      console& output);
[[nodiscard]] exit_code run_repl(const repl_request& asked, const environment& variables,
                                 console& output);
[[nodiscard]] exit_code write_reference(const reference_request& asked, console& output);
[[nodiscard]] exit_code index_folder(const index_request& asked, console& output);
[[nodiscard]] exit_code serve_model(const serve_request& asked, console& output);
[[nodiscard]] exit_code format_files(const format_request& asked, console& output);
[[nodiscard]] exit_code dump_program(const dump_request& asked, console& output);
[[nodiscard]] exit_code list_models(const models_request& asked, const environment& variables,
                                    console& output);
[[nodiscard]] exit_code manage_cache(const cache_request& asked, const environment& variables,
                                     console& output);
[[nodiscard]] exit_code manage_trust(const trust_request& asked, const environment& variables,
                                     console& output);
[[nodiscard]] exit_code check_files(const check_request& asked, console& output);

/// Parses the arguments (without the program's name) and runs the command.
[[nodiscard]] exit_code run_program(std::vector<std::string> arguments,
                                    const environment& variables, console& output);

} // namespace heddle::cli
