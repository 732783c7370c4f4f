// Values as one text, in turns with the loop.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/realm.hpp>

#include <memory>
#include <string>
#include <vector>

namespace heddle::lang {

/// Writes values with a space between them, strings at the outermost level without quotes. Large ones
/// take several turns. Threads: the session's only.
class paced_text {
public:
    paced_text(realm& world, std::vector<value> parts);
    ~paced_text();
    paced_text(const paced_text&) = delete;
    paced_text& operator=(const paced_text&) = delete;

    /// A turn of about a millisecond. True when it was the last one.
    [[nodiscard]] bool go_on();
    /// Once, after the last turn. Errors: errc::limit when the text does not fit in the memory limit,
    /// as values that hold the same parts many times may not.
    [[nodiscard]] result<std::string> take();

private:
    class job;
    std::unique_ptr<job> job_;
};

} // namespace heddle::lang
