// Printing of values that yields to the loop.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/realm.hpp>

#include <memory>
#include <string>
#include <vector>

namespace heddle::lang {

/// Writes values with spaces between them, strings at the outermost level without quotes. Large
/// values take several turns. Threads: the session's only.
class paced_text {
public:
    paced_text(realm& realm, std::vector<value> parts);
    ~paced_text();
    paced_text(const paced_text&) = delete;
    paced_text& operator=(const paced_text&) = delete;

    /// Runs a turn of about a millisecond. Result: true when it was the last one.
    [[nodiscard]] bool go_on();
    /// Returns the string; to be called once, after the last turn. Errors: errc::limit when the
    /// string does not fit in the memory limit. Values that contain the same parts many times can
    /// exceed it.
    [[nodiscard]] result<std::string> take();

private:
    class job;
    std::unique_ptr<job> job_;
};

} // namespace heddle::lang
