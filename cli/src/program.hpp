// What `run`, `eval` and `call` evaluate.
#pragma once

#include <heddle/tasks/template_files/template_loader.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

struct replay_request;

/// A program, and how it is to be evaluated.
struct program {
    std::string name; ///< in errors
    std::string text;
    /// The program consists of these calls, which are in `text`.
    std::vector<tasks::template_call> calls;
    /// Call the function `main`, if the program defines one, with the inputs.
    bool calls_main = false;
    std::vector<std::string> inputs;       ///< NAME=TEXT or NAME:=JSON
    std::optional<std::string> input_json; ///< text of a JSON object
    /// Print the written form in place of a rendering for people.
    bool prints_written_form = false;
    /// `text` is an identifier for tasks::dispatch, with the inputs and these files.
    bool dispatches = false;
    std::vector<std::string> files;
    std::string run_folder;             ///< keeps what the run does; empty: nothing is kept
    std::vector<std::string> arguments; ///< of the command line, for that folder
    bool retry_failed = false;          ///< failed steps of the run are asked again
    bool cancel_batches = false; ///< nothing is evaluated: services cancel the batches of the run
    /// The run is only replayed, and its steps are printed; null: it is not. Outlives the call.
    const replay_request* replay = nullptr;
};

} // namespace heddle::cli
