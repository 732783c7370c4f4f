// What `heddle serve` was asked for.
#pragma once

#include "serve/api_tokens.hpp"

#include <heddle/http/server.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

struct serve_options {
    std::vector<std::string> files;
    std::string listen = "127.0.0.1:8080"; ///< HOST:PORT
    bool is_open = false;                  ///< without tokens on an address that others reach
    std::string token_file;
    std::string tls_certificate;
    std::string tls_key;

    std::uint64_t max_body = 8 * 1024 * 1024; ///< bytes
    std::chrono::milliseconds timeout{300'000};
    std::uint64_t concurrency = 1'000; ///< calls at once
    std::uint64_t queue = 1'000;       ///< calls that wait
    std::uint64_t rate = 0;            ///< requests per minute of each client; 0: no bound
    std::uint64_t client_calls = 0;    ///< calls at once of each client; 0: no bound
    std::chrono::milliseconds grace{30'000};
    std::chrono::milliseconds drain_delay{0}; ///< not ready, but still served
    std::uint64_t threads = 1;
    std::optional<double> budget_usd; ///< of each request

    std::optional<std::string> model;
    std::optional<std::string> base_url;
    std::optional<std::string> config;
    std::vector<std::string> tasks;
    std::string stream_task; ///< its text is sent as it arrives in chat completions; empty: none
    std::string workspace = ".";
    bool json = false;
    int verbosity = 0;
};

/// Bounds and rights of requests.
struct request_rules {
    api_tokens tokens;
    /// Without tokens: only requests that name this machine as their Host, which a page of another
    /// site in a browser on this machine cannot.
    bool local_hosts_only = false;
    std::chrono::milliseconds timeout{300'000};
    std::uint64_t rate = 0;
    std::uint64_t client_calls = 0;
    std::optional<double> budget_usd;
    std::string stream_task;
};

} // namespace heddle::cli
