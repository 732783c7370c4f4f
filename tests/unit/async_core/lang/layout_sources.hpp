// Texts to lay out: what the repository holds, and what a generator makes up.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

using named_source = std::pair<std::string, std::string>;

/// Every .heddle and .sexp file of the repository, builds apart.
[[nodiscard]] std::vector<named_source> repository_sources();

/// The source of every case in tests/data/conformance/*.jsonl.
[[nodiscard]] std::vector<named_source> conformance_sources();

/// A readable text with forms, data, comments and odd white space; the same for the same seed.
[[nodiscard]] std::string generated_source(std::uint32_t seed);

} // namespace heddle::lang
