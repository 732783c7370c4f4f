// Values as the conformance cases write them (tests/conformance/README.md).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>

#include <boost/json/value.hpp>

#include <string>

namespace heddle::conformance {

/// The value that a notation denotes ({"sym"} and {"map"} included; not {"fn"}, {"result"}).
[[nodiscard]] lang::value to_value(lang::heap& memory, const boost::json::value& notation);

/// True when `given` matches `wanted`: 3 equals 3.0, {"fn": true} is any function, {"result"}
/// any map that has the given fields.
[[nodiscard]] bool matches(const boost::json::value& wanted, const lang::value& given);

/// As matches, for a plain object of inputs against a map: the same keys, their form aside
/// (inheritContext is inherit_context).
[[nodiscard]] bool inputs_match(const boost::json::value& wanted, const lang::value& given);

/// The written form, for reports.
[[nodiscard]] std::string shown(const lang::value& v);

/// True when the error is of the wanted kind ("SexpEvaluationError", "TaskError:llm_error", …).
[[nodiscard]] bool is_kind(const std::string& wanted, const error& failure);

/// The reason of a FAILED TaskResult, or "".
[[nodiscard]] std::string failed_reason(const lang::value& v);

} // namespace heddle::conformance
