// Memory of the host: the source of (get_context …).
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

/// A passage that is relevant to a question.
struct memory_passage {
    std::string name;     ///< a path or another name
    std::string text;     ///< the text that is added to a prompt
    double relevance = 0; ///< 0 to 1
};

/// A store that finds passages relevant to a question.
/// Threads: called on any thread of the runtime, possibly at the same time.
class memory_source {
public:
    using completion = std::function<void(result<std::vector<memory_passage>>)>;

    virtual ~memory_source() = default;
    /// Finds passages, best first. Call `done` once, on any thread; the query fails if it is
    /// destroyed without a call.
    virtual void find(memory_question question, call about, completion done) = 0;
};

} // namespace heddle
