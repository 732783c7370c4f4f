// What the shared library shows.
#pragma once

/// Attribute of the namespaces in public headers. All code is compiled with hidden visibility, so
/// that a program which embeds heddle sees what these headers declare and nothing else:
/// `namespace HEDDLE_PUBLIC heddle { … }`.
#define HEDDLE_PUBLIC [[gnu::visibility("default")]]
