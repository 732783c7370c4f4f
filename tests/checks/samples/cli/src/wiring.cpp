#include <CLI/CLI.hpp>
#include <heddle/http/client.hpp>
#include <heddle/lang/reader.hpp>
#include <spdlog/spdlog.h>

int wait_for(task<int> work) { return co_spawn(loop, std::move(work), use_future).get(); }
