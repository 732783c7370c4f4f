// The functions of the files that are served.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/program.hpp>
#include <heddle/runtime.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// A function under the name that requests use.
struct served_function {
    std::string name;
    heddle::program program;
    function_signature signature;
};

/// Finds functions by name. Threads: immutable.
class served_functions {
public:
    /// Loads the files. Functions whose names begin with % or - are not served, nor are those that
    /// the files import. A name that several files define is served as "STEM/NAME", with the name
    /// of its file without the extension.
    /// Errors: as runtime::load; invalid_argument if two files with clashing names have one stem,
    /// or there is no function.
    [[nodiscard]] static result<served_functions> load(runtime& in,
                                                       const std::vector<std::string>& files);

    [[nodiscard]] const std::vector<served_function>& all() const noexcept { return all_; }
    /// Null: there is none.
    [[nodiscard]] const served_function* find(std::string_view name) const noexcept;
    /// Errors: not_found if no file has a task of this name; the hint names those there are.
    [[nodiscard]] result<void> check_task(const std::string& name) const;

private:
    std::vector<served_function> all_; ///< by name
    std::set<std::string> tasks_;
};

} // namespace heddle::cli
