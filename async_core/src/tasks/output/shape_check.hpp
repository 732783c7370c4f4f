// A look at an object before its members are checked one by one.
#pragma once

#include <boost/json/object.hpp>

namespace valijson::adapters {
class Adapter;
}
namespace valijson::constraints {
struct Constraint;
}

namespace heddle::tasks {

/// What a schema requires of an object without looking below its members: which ones there must be,
/// of which types, and with which values. The library goes through the members in the order of
/// their names, all the way down; where a schema that refers to itself offers kinds to choose from,
/// each level would multiply the work before a tag rules a kind out. `schema` and the schemas in it
/// are as the rewriter leaves them. Empty: it requires nothing of that.
[[nodiscard]] boost::json::object shape_of(const boost::json::object& schema);

/// The constraint for what shape_of() returned. It never reports why: the keywords themselves do.
[[nodiscard]] valijson::constraints::Constraint* make_shape_check(
    const valijson::adapters::Adapter& shape);

} // namespace heddle::tasks
