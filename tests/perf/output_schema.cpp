// Output schemas beside valijson alone, without our guards: docs/adr/0015.
//
//   bench_output_schema [FOLDER]   FOLDER: the tests for draft 7 of the JSON Schema test suite
//
// What valijson does alone is tried in a process of its own, which may crash or find no end.
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/output_schema.hpp>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace heddle {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using tasks::output_schema;

constexpr rlim_t seconds_of_a_trial = 2;

std::size_t sink = 0; // so that no work is left out

json::parse_options depth_of_ours() {
    json::parse_options options;
    options.max_depth = 128;
    return options;
}

/// A schema as the manual of valijson has it.
class plain_schema {
public:
    explicit plain_schema(std::string_view text)
        : document_(json::parse({text.data(), text.size()}, {}, depth_of_ours())) {
        valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
        parser.populateSchema(valijson::adapters::BoostJsonAdapter(document_), schema_);
    }
    [[nodiscard]] bool accepts(std::string_view response,
                               valijson::ValidationResults* results = nullptr) const {
        json::monotonic_resource memory;
        const json::value tree =
            json::parse({response.data(), response.size()}, &memory, depth_of_ours());
        valijson::Validator validator(valijson::Validator::kStrongTypes);
        return validator.validate(schema_, valijson::adapters::BoostJsonAdapter(tree), results);
    }

private:
    json::value document_; // the parsed schema keeps parts of it
    valijson::Schema schema_;
};

enum class verdict : int { valid, invalid, schema_refused, response_refused, crash, endless };

const char* name_of(verdict what) {
    switch (what) {
    case verdict::valid: return "valid";
    case verdict::invalid: return "invalid";
    case verdict::schema_refused: return "schema refused";
    case verdict::response_refused: return "not checked";
    case verdict::crash: return "CRASH";
    case verdict::endless: return "NO END";
    }
    return "";
}

verdict by_plain(std::string_view schema, std::string_view response) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit time{seconds_of_a_trial, seconds_of_a_trial + 1};
        ::setrlimit(RLIMIT_CPU, &time);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        std::unique_ptr<plain_schema> object;
        try {
            object = std::make_unique<plain_schema>(schema);
        } catch (const std::exception&) {
            ::_exit(static_cast<int>(verdict::schema_refused));
        }
        try {
            ::_exit(
                static_cast<int>(object->accepts(response) ? verdict::valid : verdict::invalid));
        } catch (const std::exception&) {
            ::_exit(static_cast<int>(verdict::response_refused));
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return static_cast<verdict>(WEXITSTATUS(status));
    return WTERMSIG(status) == SIGXCPU ? verdict::endless : verdict::crash;
}

verdict by_us(lang::realm& harness, std::string_view schema, std::string_view response) {
    const auto code = output_schema::compile(schema);
    if (!code) return verdict::schema_refused;
    const auto content = lang::json_to_value(harness.memory(), response);
    if (!content) return verdict::response_refused;
    const auto wrong = code->check(*content, response);
    if (!wrong) return verdict::valid;
    const bool checked = wrong->message.find("does not match") != std::string::npos;
    return checked ? verdict::invalid : verdict::response_refused;
}

template <class Work>
double best_time(Work work) {
    double best = 1e300;
    const auto end = clock::now() + std::chrono::milliseconds(1000);
    for (int round = 0; round < 3 || clock::now() < end; ++round) {
        const auto begin = clock::now();
        work();
        best =
            std::min(best, std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    }
    return best;
}

struct sample {
    const char* name;
    std::string schema;
    std::string response;
};

std::string repeated(std::size_t count, const std::string& element) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(element);
    return text + "]";
}

std::string numbered(std::size_t count, const std::string& before, const std::string& behind) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i)
        text.append(i == 0 ? "" : ",").append(before).append(std::to_string(i)).append(behind);
    return text + "]";
}

const std::string tree_schema =
    R"({"definitions":{"node":{"type":"object","properties":{"v":{"type":"number"},)"
    R"("next":{"$ref":"#/definitions/node"}}}},"$ref":"#/definitions/node"})";

std::vector<sample> samples() {
    const std::string review =
        R"({"type":"object","required":["success","issues"],"additionalProperties":false,)"
        R"("properties":{"success":{"type":"boolean"},"score":{"type":"integer","minimum":0,)"
        R"("maximum":10},"issues":{"type":"array","items":{"type":"object","required":["file"],)"
        R"("properties":{"file":{"type":"string","minLength":1},"line":{"type":"integer"},)"
        R"("severity":{"enum":["error","warning","note"]}}}}}})";
    const std::string rows =
        R"({"type":"array","items":{"type":"object","required":["id","tags"],)"
        R"("additionalProperties":false,"properties":{"id":{"type":"integer","minimum":0},)"
        R"("name":{"type":"string","pattern":"^[a-z ]+$"},)"
        R"("tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true}}}})";
    std::string tree = "{}";
    for (int i = 0; i < 100; ++i) tree = R"({"v":1,"next":)" + tree + "}";
    return {
        {"review, 8 issues", review,
         R"({"success":false,"score":3,"issues":)" +
             repeated(8, R"({"file":"src/main.cpp","line":12,"severity":"warning"})") + "}"},
        {"15,000 rows, 1 MB", rows,
         repeated(15'000, R"({"id":12345,"name":"a name of some words","tags":["a","b"]})")},
        {"enum of 5,000, 500 values", R"({"items":{"enum":)" + numbered(5'000, "\"c", "\"") + "}}",
         numbered(500, "\"c", "\"")},
        {"unique among 5,000", R"({"uniqueItems":true})", numbered(5'000, "", "")},
        {"tree of 100 levels", tree_schema, tree},
    };
}

void measure(lang::realm& harness, const sample& one) {
    const auto ours = output_schema::compile(one.schema);
    const plain_schema plain(one.schema);
    const lang::value content = *lang::json_to_value(harness.memory(), one.response);
    if (!ours || ours->check(content, one.response) || !plain.accepts(one.response)) {
        std::printf("%-28s is not accepted\n", one.name);
        return;
    }
    const double our_schema =
        best_time([&] { sink += output_schema::compile(one.schema)->accepts_all(); });
    const double plain_time = best_time([&] { sink += plain_schema(one.schema).accepts("1"); });
    const double our_check =
        best_time([&] { sink += ours->check(content, one.response).has_value() ? 0 : 1; });
    const double plain_check = best_time([&] { sink += plain.accepts(one.response); });
    const double parsing = best_time([&] {
        json::monotonic_resource memory;
        sink += json::parse(one.response, &memory, depth_of_ours()).is_structured();
    });
    std::printf("%-28s %9.1f %9.1f %11.1f %11.1f %11.1f\n", one.name, our_schema, plain_time,
                our_check, plain_check, parsing);
}

struct trial {
    const char* name;
    std::string schema;
    std::string response;
    verdict expected; ///< by the draft
};

/// What needs more time than there is: each level tries both branches.
std::string branching_schema() {
    return R"({"$defs":{"e":{"anyOf":[{"type":"number"},{"type":"object","properties":{"n":)"
           R"({"$ref":"#/$defs/e"}},"required":["n"]},{"type":"object","properties":{"n":)"
           R"({"$ref":"#/$defs/e"},"p":{}}}]}},"$ref":"#/$defs/e"})";
}

std::vector<trial> trials() {
    using enum verdict;
    std::string branches = "\"x\"";
    for (int i = 0; i < 60; ++i) branches = R"({"n":)" + branches + "}";
    return {
        {"19.99 is a multiple of 0.01", R"({"multipleOf":0.01})", "19.99", valid},
        {"19.995 is none", R"({"multipleOf":0.01})", "19.995", invalid},
        {"2.5 is not a multiple of 2", R"({"multipleOf":2})", "2.5", invalid},
        {"a multiple of 0", R"({"multipleOf":0})", "5", schema_refused},
        {"5.0 is an integer", R"({"type":"integer"})", "5.0", valid},
        {"2^64-1 is above 10", R"({"maximum":10})", "18446744073709551615", invalid},
        {"a bound above 2^63", R"({"maximum":9300000000000000000})", "9400000000000000000",
         invalid},
        {"const 1 and 1.0", R"({"const":1})", "1.0", valid},
        {"const above 2^63", R"({"const":9300000000000000000})", "9300000000000000000", valid},
        {"unique: 1 and 1.0", R"({"uniqueItems":true})", "[1,1.0]", invalid},
        {"unique: close numbers", R"({"uniqueItems":true})", "[0.1234561,0.1234562]", valid},
        {"const and a NUL", R"({"const":"a"})", R"("a\u0000; rm -rf /")", invalid},
        {"pattern and a NUL", R"({"pattern":"^[a-z]+$"})", R"("a\u0000; rm -rf /")", invalid},
        {"maxLength and a NUL", R"({"maxLength":3})", R"("a\u0000; rm -rf /")", invalid},
        {"length counts characters", R"({"maxLength":2})", "\"日本\"", valid},
        {"pattern (a+)+$, 40 letters", R"({"pattern":"^(a+)+$"})",
         "\"" + std::string(40, 'a') + "b\"", invalid},
        {"pattern, 200,000 letters", R"({"pattern":"^(a|b)*$"})",
         "\"" + std::string(200'000, 'a') + "\"", valid},
        {"pattern with look-ahead", R"x({"pattern":"^(?=a)"})x", "\"abc\"", valid},
        {"pattern of Unicode \\p{L}", R"({"pattern":"^\\p{L}+$"})", "\"żółw\"", valid},
        {"pattern . and one character", R"({"pattern":"^.$"})", "\"日\"", valid},
        {"unique among 100,000", R"({"uniqueItems":true})", numbered(100'000, "", ""), valid},
        {"$ref to itself", R"({"$ref":"#"})", "1", schema_refused},
        {"allOf with itself", R"({"allOf":[{"$ref":"#"}]})", "1", schema_refused},
        {"dependency on itself", R"({"dependencies":{"a":{"$ref":"#"}}})", R"({"a":1})",
         schema_refused},
        {"$ref to nowhere", R"({"$ref":"#/nowhere"})", "1", schema_refused},
        {"$ref to another document", R"({"$ref":"http://127.0.0.1/x"})", "1", schema_refused},
        {"two branches, 60 levels", branching_schema(), branches, invalid},
        {"beside $ref, 2019-09",
         R"({"$defs":{"s":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/s","minLength":3}}})",
         R"({"x":"s"})", invalid},
        {"beside $ref, draft 7",
         R"({"definitions":{"s":{"type":"string"}},)"
         R"("properties":{"x":{"$ref":"#/definitions/s","minLength":3}}})",
         R"({"x":"s"})", valid},
        {"patternProperties", R"({"patternProperties":{"^x":{"type":"number"}}})", R"({"x":"a"})",
         invalid},
        {"prefixItems, 2020-12",
         R"({"$schema":"https://json-schema.org/draft/2020-12/schema",)"
         R"("prefixItems":[{"type":"number"}]})",
         R"(["a"])", invalid},
        {"unevaluatedProperties",
         R"({"$schema":"https://json-schema.org/draft/2020-12/schema",)"
         R"("unevaluatedProperties":false})",
         R"({"a":1})", invalid},
        {"an unknown type", R"({"type":"frog"})", "1", schema_refused},
        {"properties that are none", R"({"properties":[]})", "{}", schema_refused},
        {"format is an annotation", R"({"format":"date"})", "\"no date\"", valid},
        {"a member named twice", R"({"properties":{"a":{"type":"number"}}})", R"({"a":"x","a":1})",
         valid},
    };
}

void compare(lang::realm& harness) {
    std::printf("\n%-30s %-16s %-16s %-16s\n", "", "by the draft", "ours", "valijson alone");
    for (const trial& each : trials()) {
        const verdict ours = by_us(harness, each.schema, each.response);
        const verdict plain = by_plain(each.schema, each.response);
        std::printf("%-30s %-16s %-16s %-16s%s\n", each.name, name_of(each.expected), name_of(ours),
                    name_of(plain), plain == each.expected && ours == each.expected ? "" : "  *");
    }
}

void run_suite(lang::realm& harness, const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder)) {
        if (each.is_regular_file()) files.push_back(each.path());
    }
    std::sort(files.begin(), files.end());
    int cases = 0;
    int ours_right = 0;
    int ours_refused = 0;
    int plain_right = 0;
    std::printf("\nThe test suite, where valijson alone is wrong or the schema is refused:\n");
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        const json::value groups = json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
        for (const json::value& group : groups.as_array()) {
            const std::string schema = json::serialize(group.at("schema"));
            for (const json::value& test : group.at("tests").as_array()) {
                const std::string response = json::serialize(test.at("data"));
                const verdict wanted =
                    test.at("valid").as_bool() ? verdict::valid : verdict::invalid;
                const verdict ours = by_us(harness, schema, response);
                const verdict plain = by_plain(schema, response);
                ++cases;
                ours_right += ours == wanted;
                ours_refused += ours == verdict::schema_refused;
                plain_right += plain == wanted;
                if (plain == wanted && ours == wanted) continue;
                std::printf("  %s: %s: %s: %s; ours %s, alone %s\n", file.stem().c_str(),
                            group.at("description").as_string().c_str(),
                            test.at("description").as_string().c_str(), name_of(wanted),
                            name_of(ours), name_of(plain));
            }
        }
    }
    std::printf(
        "of %d cases ours has %d right and refuses the schemas of %d; valijson alone has %d "
        "right\n",
        cases, ours_right, ours_refused, plain_right);
}

} // namespace
} // namespace heddle

int main(int argc, char** argv) {
    using namespace heddle;
    lang::realm harness;
    std::printf("%-28s %9s %9s %11s %11s %11s\n", "microseconds", "compile", "alone", "check",
                "alone", "reading");
    for (const sample& each : samples()) measure(harness, each);
    compare(harness);
    if (argc > 1) run_suite(harness, argv[1]);
    return sink == 0 ? 1 : 0;
}
