// The patterns of a schema.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace heddle::tasks {

/// Compiles the patterns of one schema, each once, and bounds what they take, before it compiles: a
/// repetition makes up to a thousand times as much of a few characters. Threads: one; what it
/// returns, any.
class schema_patterns {
public:
    /// `work`: counts the compilation of each pattern. Outlives this.
    explicit schema_patterns(lang::work_meter& work) noexcept : work_(work) {}

    /// Errors: invalid_argument that completes "the schema at … has"; without meaning when the
    /// meter has stopped it.
    [[nodiscard]] result<void> add(std::string_view pattern);
    /// Null: it was not added.
    [[nodiscard]] std::shared_ptr<const re2::RE2> find(std::string_view pattern) const;

private:
    lang::work_meter& work_;
    std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> patterns_;
    std::size_t length_ = 0; ///< of all
    double units_ = 0;       ///< foreseen for all
};

} // namespace heddle::tasks
