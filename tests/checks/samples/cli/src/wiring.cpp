#include <CLI/CLI.hpp>
#include <heddle/http/client.hpp>
#include <heddle/lang/reader.hpp>
#include <spdlog/spdlog.h>

int wait_for(task<int> work) { return co_spawn(loop, std::move(work), use_future).get(); }

void print(const value& shown) {
    out(json::serialize(shown) + "\n"); // expect: raw-json
    out(boost::json::serialize(object{{"a", 1}})); // expect: raw-json
    out(json_line(shown));
    keep(json::serialize(shown)); // heddle-check: allow raw-json (a file of ours)
}
