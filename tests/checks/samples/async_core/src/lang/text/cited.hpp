// All of this exists: docs/spec/language.md §1, §1.1 and §2; `language.md §2`; reader.cpp,
// lang/reader.hpp, heddle/lang/reader.hpp, docs/adr/0001, async_core/src/lang,
// async_core/src/*/reader.cpp, async_core/<area>/gone.cpp, docs/…/gone.md,
// tests/perf/bench_NAME.sh, https://example.com/docs/gone, /docs/gone.md, a/b, and/or,
// llama.cpp, <service>/gone.hpp, <heddle/lang/reader.hpp>, a->b.
// docs/spec/gone.md expect: dangling-path
// docs/spec/language.md §3 expect: dangling-section
// language.md 1 expect: dangling-section
// docs/spec/language.md §1, §1.2 expect: dangling-section
// async_core/src/gone/*.cpp expect: dangling-path
// (async_core/src/lang/gone.cpp). expect: dangling-path
// see `lang/gone.hpp` expect: dangling-path
// <heddle/lang/gone.hpp> expect: dangling-path
// gone.hpp expect: dangling-path
// adr: docs/adr/0002 expect: dangling-path
const char* help = "docs/guide/gone.md"; // expect: dangling-path
const char* other = "src/gone.cpp";
