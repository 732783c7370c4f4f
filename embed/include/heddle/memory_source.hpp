// What workflows remember: the source of (get_context …).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

struct memory_question {
    std::string text;
    std::optional<std::size_t> limit{}; ///< maximum number of passages
};

/// Something relevant to a question.
struct memory_passage {
    std::string name;     ///< a path or another name
    std::string text;     ///< what a prompt receives
    double relevance = 0; ///< 0 to 1
};

/// A store that finds what is relevant to a question.
/// Threads: called from each thread of the runtime, maybe at the same time.
class memory_source {
public:
    using completion = std::function<void(result<std::vector<memory_passage>>)>;

    virtual ~memory_source() = default;
    /// Best first. `done` is called once, on any thread; dropping it fails the question.
    virtual void find(memory_question question, call about, completion done) = 0;
};

} // namespace heddle
