// The model services that the contract suite runs against. A new one is one more entry.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/providers/scripted/engine.hpp>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace heddle::testing {

/// One service with a set of rules behind it, ready to be called.
class adapter_run {
public:
    virtual ~adapter_run() = default;
    [[nodiscard]] virtual ports::llm_port& port() = 0;
    /// Closes everything, and checks that nothing is left open.
    virtual void finish() = 0;

    test_loop on;
    recording_log log;
};

struct adapter {
    std::string name;
    /// `retries` bounds those of the provider.
    std::function<std::unique_ptr<adapter_run>(std::string_view rules, unsigned retries)> start;
};

[[nodiscard]] std::vector<adapter> all_adapters();

inline void PrintTo(const adapter& shown, std::ostream* out) { *out << shown.name; }

} // namespace heddle::testing
