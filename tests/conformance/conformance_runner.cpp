// conformance_runner FILE.jsonl [--expect-missing AREA-OR-ID,…] [--only TEXT]
//                    [--each-step | --moved | --cancelled]
//
// Runs the cases of a file; the format is described in tests/conformance/README.md.
#include "notation.hpp"
#include "stub_harness.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/reader.hpp>

#include <step_watch.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

namespace heddle::conformance {
namespace {

namespace json = boost::json;

[[nodiscard]] std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// What people read of an error: kind, message, trace.
[[nodiscard]] std::string reported(const error& failure) {
    std::string text(lang::error_kind_name(failure));
    text += ": " + failure.message();
    for (const trace_entry& entry : failure.info().trace) text += " / " + entry.what;
    return text;
}

/// How cases are run.
struct manner {
    std::uint32_t slice = 2000;             ///< 1: every call and back-edge ends a slice
    bool moved = false;                     ///< stacks move at every step
    std::optional<std::uint64_t> cancel_at; ///< after that many steps
};

/// One case in a session of its own. `problem` is empty when it holds.
class case_run {
public:
    case_run(const json::object& one, const manner& how)
        : case_(one), wanted_(one.at("expect").as_object()), how_(how), memory_(one) {}

    [[nodiscard]] std::string problem() {
        models_.add(llm_);
        if (auto named = models_.set_default("model"); !named) return reported(named.error());
        host::engine_parts parts;
        parts.operators = [this](host::session& session) {
            tasks::task_system_parts tasks;
            tasks.models = &models_;
            tasks.memory = &memory_;
            auto object =
                std::make_unique<stub_harness>(session, std::move(tasks), llm_, memory_, case_);
            harness_ = object.get();
            return object;
        };
        host::engine engine(loop_, std::move(parts));
        auto session = engine.new_session();
        if (!session) return "no session: " + reported(session.error());
        if (!harness_->trouble.empty()) return "cannot be set up: " + harness_->trouble;
        if (const json::value* env = case_.if_contains("env")) {
            for (const auto& [name, content] : env->as_object()) {
                (*session)->define({name.data(), name.size()},
                                   to_value((*session)->memory(), content));
            }
        }
        (*session)->realm().set_moves_stacks(how_.moved);
        const std::string source = case_.at("source").as_string().c_str();
        const json::value* mode = case_.if_contains("mode");
        result<lang::value> ended = error(errc::internal, "did not end");
        if (mode && *mode == json::value("parse")) {
            auto read = lang::read_one((*session)->memory(), source);
            if (read) ended = read->content;
            else ended = std::move(read).error();
        } else {
            ended = evaluate(**session, source);
        }
        std::string found = leaves_nothing(**session);
        if (how_.cancel_at) {
            if (!found.empty() || (!ended && ended.error().is_cancelled())) return found;
            return compare_outcome(ended);
        }
        if (found.empty()) found = compare_outcome(ended);
        if (found.empty()) found = compare_calls();
        if (found.empty()) found = compare_globals(**session);
        return found;
    }

    [[nodiscard]] const testing::step_watch& watch() const noexcept { return watch_; }

private:
    static coro::task<void> await(coro::task<result<lang::value>> work, result<lang::value>* into) {
        *into = co_await std::move(work);
    }

    [[nodiscard]] result<lang::value> evaluate(host::session& session, const std::string& source) {
        result<lang::value> ended = error(errc::internal, "did not end in time");
        bool done = false;
        host::run_options options;
        options.slice = how_.slice;
        options.observer = &watch_;
        options.cancel = &watch_.cancel;
        coro::spawn(loop_, await(session.evaluate("case", source, options), &ended),
                    [&](std::exception_ptr thrown) {
                        if (thrown) ended = error(errc::internal, "an exception left the run");
                        done = true;
                    });
        const auto give_up = coro::clock::now() + std::chrono::seconds(20);
        while (!done && io_.run_one_until(give_up) != 0) {}
        // What still runs refers to this object.
        if (!done) {
            std::fprintf(stderr, "%s does not end\n", case_.at("id").as_string().c_str());
            std::abort();
        }
        return ended;
    }

    /// No fiber, no coroutine and no timer is left once the case has ended.
    [[nodiscard]] std::string leaves_nothing(const host::session& session) {
        if (session.counters().fibers != 0) return "fibers are left";
        if (io_.stopped()) io_.restart();
        io_.run_for(std::chrono::seconds(5));
        return io_.stopped() ? "" : "something still runs after the end";
    }

    [[nodiscard]] std::string compare_outcome(const result<lang::value>& ended) const {
        if (const json::value* wanted = wanted_.if_contains("error")) {
            const std::string kind = wanted->as_string().c_str();
            std::string text;
            if (!ended) {
                text = reported(ended.error());
                if (!is_kind(kind, ended.error())) return "expected " + kind + ", given " + text;
            } else {
                const std::string reason = failed_reason(*ended);
                if (reason.empty() || kind != "TaskError:" + reason) {
                    return "expected " + kind + ", given " + shown(*ended);
                }
                text = shown(*ended);
            }
            if (const json::value* parts = wanted_.if_contains("message_contains")) {
                for (const json::value& part : parts->as_array()) {
                    const std::string fragment = part.as_string().c_str();
                    if (lower(text).find(lower(fragment)) == std::string::npos) {
                        return "expected '" + fragment + "' in the message, given " + text;
                    }
                }
            }
            return {};
        }
        const json::value* wanted = wanted_.if_contains("value");
        if (!wanted) return {};
        if (!ended)
            return "expected " + json::serialize(*wanted) + ", given " + reported(ended.error());
        if (matches(*wanted, *ended)) return {};
        return "expected " + json::serialize(*wanted) + ", given " + shown(*ended);
    }

    [[nodiscard]] std::string compare_calls() const {
        const json::value* wanted = wanted_.if_contains("calls");
        if (!wanted) return {};
        const auto& result = harness_->record;
        const json::array& calls = wanted->as_array();
        std::string given;
        for (const recorded_call& call : result) {
            given += " (" + call.kind + " " + call.name + " " + shown(call.inputs) + " prompt " +
                     call.prompt + ")";
        }
        const std::string both = "expected calls " + json::serialize(*wanted) + ", given" + given;
        if (result.size() != calls.size()) return both;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (!call_matches(calls[i].as_object(), result[i])) return both;
        }
        return {};
    }

    [[nodiscard]] static bool call_matches(const json::object& wanted, const recorded_call& call) {
        const auto text = [&](const char* key, const std::string& given) {
            const json::value* found = wanted.if_contains(key);
            return !found || found->as_string().c_str() == given;
        };
        const auto passed = [&](const char* key, const lang::value& given) {
            const json::value* found = wanted.if_contains(key);
            return found ? matches(*found, given) : given.is_nil();
        };
        if (!text("kind", call.kind) || !text("name", call.name) || !text("prompt", call.prompt) ||
            !text("system", call.system) || !text("model", call.model)) {
            return false;
        }
        if (!passed("files", call.files) || !passed("context", call.context)) return false;
        const json::value* inputs =
            wanted.if_contains(call.kind == "memory" ? "request" : "inputs");
        return !inputs || inputs_match(*inputs, call.inputs);
    }

    [[nodiscard]] std::string compare_globals(host::session& session) const {
        const json::value* wanted = wanted_.if_contains("env_after");
        if (!wanted) return {};
        for (const auto& [name, content] : wanted->as_object()) {
            const auto found = session.global({name.data(), name.size()});
            if (!found || !matches(content, *found)) {
                return "expected " + std::string(name.data(), name.size()) + " to be " +
                       json::serialize(content) + " afterwards, given " +
                       (found ? shown(*found) : "nothing");
            }
        }
        return {};
    }

    const json::object& case_;
    const json::object& wanted_;
    const manner how_;
    testing::step_watch watch_{how_.cancel_at};
    boost::asio::io_context io_{1};
    coro::event_loop loop_{io_};
    stub_llm llm_;
    stub_memory memory_;
    tasks::model_registry models_;
    stub_harness* harness_ = nullptr;
};

/// Counts of one area or case that is expected to fail.
struct tally {
    int passed = 0;
    int failed = 0;
};

/// Runs a case, and where that is asked for again and again, cancelled at steps all over its run.
std::string problem_of(const json::object& one, const manner& how, bool cancelled) {
    case_run whole(one, how);
    std::string problem = whole.problem();
    if (!cancelled || !problem.empty()) return problem;
    constexpr std::uint64_t samples = 8;
    std::uint64_t last = UINT64_MAX;
    for (std::uint64_t i = 0; i <= samples; ++i) {
        manner ends = how;
        ends.cancel_at = whole.watch().place(i, samples);
        if (std::exchange(last, *ends.cancel_at) == *ends.cancel_at) continue;
        problem = case_run(one, ends).problem();
        if (!problem.empty())
            return "cancelled after " + std::to_string(*ends.cancel_at) + " steps: " + problem;
    }
    return {};
}

int run(const std::string& file, const std::set<std::string>& missing, const std::string& only,
        const manner& how, bool cancelled) {
    std::ifstream in(file);
    if (!in) {
        std::fprintf(stderr, "conformance_runner: cannot read %s\n", file.c_str());
        return 2;
    }
    int passed = 0;
    int failed = 0;
    int unexpected = 0;
    std::map<std::string, tally> expected;
    std::string line;
    while (std::getline(in, line)) {
        if (line.empty()) continue;
        json::parse_options options;
        options.max_depth = 2000; // one case is about depth
        const json::value one = json::parse(line, {}, options);
        const std::string id = one.at("id").as_string().c_str();
        const std::string area = one.at("area").as_string().c_str();
        if (id.find(only) == std::string::npos) continue;
        const std::string problem = problem_of(one.as_object(), how, cancelled);
        const std::string& excuse = missing.contains(id) ? id : area;
        const bool excused = missing.contains(excuse);
        if (excused) ++(problem.empty() ? expected[excuse].passed : expected[excuse].failed);
        if (problem.empty()) {
            ++passed;
            continue;
        }
        ++failed;
        if (!excused) ++unexpected;
        std::printf("%s%s: %s\n    %s\n", id.c_str(), excused ? " (expected)" : "", problem.c_str(),
                    one.at("source").as_string().c_str());
    }
    for (const std::string& name : missing) {
        if (only.empty() && expected[name].failed == 0) {
            ++unexpected;
            std::printf("%s: expected to be missing, but all of it passes\n", name.c_str());
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return unexpected == 0 ? 0 : 1;
}

} // namespace
} // namespace heddle::conformance

int main(int count, char** arguments) {
    std::string file;
    std::string only;
    std::set<std::string> missing;
    heddle::conformance::manner how;
    bool cancelled = false;
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        if (argument == "--expect-missing" && i + 1 < count) {
            std::istringstream names(arguments[++i]);
            for (std::string name; std::getline(names, name, ',');) missing.insert(name);
        } else if (argument == "--only" && i + 1 < count) only = arguments[++i];
        else if (argument == "--each-step") how.slice = 1;
        else if (argument == "--moved") {
            // Longer than a step: the machine loads its registers anew at the end of a slice.
            how.slice = 7;
            how.moved = true;
        } else if (argument == "--cancelled") {
            how.slice = 1;
            cancelled = true;
        } else if (file.empty() && !argument.starts_with("--")) file = argument;
        else file.clear(), i = count;
    }
    if (file.empty()) {
        std::fprintf(stderr,
                     "usage: conformance_runner FILE.jsonl [--expect-missing AREA-OR-ID,…] "
                     "[--only TEXT] [--each-step | --moved | --cancelled]\n");
        return 2;
    }
    return heddle::conformance::run(file, missing, only, how, cancelled);
}
