// Where the schemas of a tuple are after they were renamed.
#pragma once

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// The value that a token of a JSON pointer leads to; null when there is none.
[[nodiscard]] const boost::json::value* value_behind(const boost::json::value& from,
                                                     const std::string& token);

/// The rewriter renames `prefixItems` and the `items` next to it to those of draft 7, `items` and
/// `additionalItems`. References use the names as they were written, and so do messages.
class tuple_pointers {
public:
    /// Keeps a copy of `schema` if it has tuples.
    void remember(const boost::json::value& schema);
    /// A pointer into the schema as it was written, for the rewritten one.
    [[nodiscard]] std::string rewritten(std::string_view pointer) const;
    /// The other way round.
    [[nodiscard]] std::string written(std::string_view pointer) const;

private:
    [[nodiscard]] std::string translated(std::string_view pointer, bool back) const;

    std::optional<boost::json::value> schema_;
};

} // namespace heddle::tasks
