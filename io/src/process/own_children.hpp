// The children of this process, as /proc has them.
#pragma once

#include <type_traits>

#include <sys/types.h>

namespace heddle::process {

/// Gets the number of one child. To be called with what for_each_child was given beside it.
using child_visitor = void (*)(pid_t child, void* given);

/// Visits each child of this process, which has one thread, once; also those that have ended and
/// were not waited for. While the visitor waits for none of them no number can be another
/// process's. Children that come or end meanwhile may be missed: ask again after SIGCHLD. Result:
/// how many; -1 when the system does not say. Takes no memory and no lock.
int for_each_child(child_visitor visit, void* given) noexcept;
/// The same for what can be called with a number.
template <class What>
int for_each_child(What&& what) noexcept {
    return for_each_child(
        [](pid_t child, void* given) {
            (*static_cast<std::remove_reference_t<What>*>(given))(child);
        },
        &what);
}

/// The two ways of for_each_child: the kernel's list, which some do not have, and a look at the
/// parent of each process.
int for_each_listed_child(child_visitor visit, void* given) noexcept;
int for_each_child_by_parent(child_visitor visit, void* given) noexcept;

/// Whether for_each_child has an answer: there is a /proc.
[[nodiscard]] bool knows_own_children() noexcept;

} // namespace heddle::process
