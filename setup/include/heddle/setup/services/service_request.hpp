// The services requested for a run, overriding heddle.toml.
#pragma once

#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace heddle::setup {

class request_watch;

/// The services of a run that take batches, by their names in requests.
using batch_services =
    std::map<std::string, std::unique_ptr<providers::batch_endpoint>, std::less<>>;

/// Creates what parks requests to `inner` until a batch of its service is submitted. Both outlive
/// the result.
using batch_parking = std::function<std::unique_ptr<ports::llm_port>(
    ports::llm_port& inner, providers::batch_endpoint& batches)>;

/// Takes precedence over variables and heddle.toml; what is absent is as they have it.
struct service_request {
    std::optional<std::string> model;    ///< PROVIDER:MODEL, of tasks that name none
    std::optional<std::string> base_url; ///< of a server in the format of OpenAI
    std::optional<bool> cache;           ///< use a cache of responses
    std::optional<std::string> cache_file;
    std::optional<std::string> record; ///< a file for the calls of the run
    std::optional<std::string> replay; ///< a file with recorded calls, in place of services
    bool replay_leniently = false;     ///< models and settings of recorded calls may differ
    std::uint64_t seed = 0;            ///< of the delays between retries
    request_watch* watch = nullptr;    ///< observes requests before the cache; may be null
    bool without_keys = false;         ///< nothing is sent, so no key is needed
    bool from_records = false; ///< responses are in a journal: files of rules may be missing
    batch_parking park;        ///< for services that take batches; empty: nothing is parked
    /// Why not, for the warning where a task asks for it; empty: there is no run with a journal.
    std::string why_not_parked{};
};

} // namespace heddle::setup
