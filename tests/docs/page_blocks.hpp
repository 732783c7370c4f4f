// The fenced code of a page, cut into steps that can be run.
//
//   ```heddle                  evaluated, all blocks of a page in one session. A comment (+ 1 2)
//   ;=> 3              `;=> VALUE` is the written form of the value before it, (car x) ;=>
//   error: TEXT    `;=> error: TEXT` a part of the error's message. ``` ```heddle file=NAME
//   (any language) written to a file of that name, for commands ```console                 (or a
//   block without a language that begins with `$ `) $ heddle eval '1'          run in the directory
//   of those files; what follows up to the next 1                          `$ ` is its whole
//   output. A line `…` matches any lines. ``` ```repl                    typed into `heddle
//   repl`, in a session for each block. What follows a heddle> (+ 1 2)            line after
//   `heddle> ` (or `   ...> `, where that goes on) is the 3                          whole output
//   up to the next; `…` as above. ```
//
// `lisp` is taken as `heddle`. All other blocks are left alone.
#pragma once

#include <string>
#include <vector>

namespace heddle::docs_test {

struct page_step {
    enum class kind { evaluate, write_file, command, session };
    kind what = kind::evaluate;
    std::size_t line = 0; ///< in the page
    std::string text;     ///< program, content of the file, command, or what is typed
    std::string name;     ///< of the file
    bool checked = false; ///< evaluate: there is an expectation
    std::string expected; ///< value, "error: TEXT", or output
};

[[nodiscard]] std::vector<page_step> steps_of_page(const std::string& markdown);

/// Whether `output` is what a page shows, in which a line `…` matches any lines.
[[nodiscard]] bool output_matches(const std::string& expected, const std::string& output);

} // namespace heddle::docs_test
