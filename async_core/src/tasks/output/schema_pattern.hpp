// The patterns of a schema.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/work.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace heddle::tasks {

/// Compiles the patterns of one schema, each once, and bounds what they take together: a repetition
/// makes up to a thousand times as much of a few characters. Threads: one; what it returns, any.
class schema_patterns {
public:
    /// `work`: counts the compilation of each pattern. Outlives this.
    explicit schema_patterns(lang::work_meter& work) noexcept : work_(work) {}

    /// Errors: invalid_argument that completes "the schema at … has"; without meaning when the meter
    /// has said to stop.
    [[nodiscard]] result<void> add(std::string_view pattern);
    /// Null: it was not added.
    [[nodiscard]] std::shared_ptr<const re2::RE2> find(std::string_view pattern) const;

private:
    lang::work_meter& work_;
    std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> patterns_;
    std::uint64_t repeated_ = 0; ///< the sum of the squares of repetitions
    std::uint64_t size_ = 0;     ///< of the programs
};

} // namespace heddle::tasks
