// The model services that the contract suite runs against. A new one is one more entry.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/scripted/engine.hpp>

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

/// What a service's format cannot say.
struct adapter_traits {
    bool gives_ids = true;          ///< responses have an id
    bool reports_quota = true;      ///< a limit that does not pass differs from one that does
    bool reports_refusals = true;   ///< a refusal is distinguished from a response
    bool filter_is_refusal = false; ///< a filter's end reads as a refusal
    bool refusal_is_filter = false; ///< and the other way round
    bool keeps_everything = true;   ///< nothing that the rules say is lost on the way
};

struct adapter {
    std::string name;
    /// `retries` bounds those of the provider.
    std::function<std::unique_ptr<adapter_run>(std::string_view rules, unsigned retries)> start;
    adapter_traits traits{};
};

[[nodiscard]] std::vector<adapter> all_adapters();

inline void PrintTo(const adapter& shown, std::ostream* out) { *out << shown.name; }

} // namespace heddle::testing
