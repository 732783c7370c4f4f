// Room for passes that recurse over the nesting of code.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

namespace heddle::lang {

constexpr std::size_t comfortable_depth = 150; ///< of nested code: fits in any thread's stack

/// The error when too many compilations wait for each other: a macro may compile, what it compiles
/// may expand macros, and each level has native frames, perhaps a stack.
[[nodiscard]] std::optional<error> nested_too_deep(const realm::compile_level& level);

/// Calls `work` with how deep code may nest while it works on `forms`: what they do, and room for
/// what macros make of them. Rare, deep code gets a stack of its own size, in a thread for which
/// this one waits, so nothing is touched from two threads at once. What `work` throws goes on here.
/// Errors: errc::limit, and `work` was not called.
[[nodiscard]] result<void> on_deep_stack(realm& realm, std::span<const datum> forms,
                                         const std::function<void(std::size_t)>& work);

} // namespace heddle::lang
