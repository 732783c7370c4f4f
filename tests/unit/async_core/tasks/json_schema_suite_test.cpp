// The draft 7 cases of the JSON Schema test suite (Debian: json-schema-test-suite), as far as it is
// there.
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/output_schema.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

const fs::path suite = "/usr/share/json-schema-test-suite/tests/draft7";

/// Why a schema may be refused, and how the message words it (output_schema.hpp). Every other
/// schema has to be taken, and every case of it has to come out as the suite has it.
struct reason {
    std::string_view said;
    std::string_view why;
};
constexpr reason reasons[] = {
    {"uses patternProperties", "the work of a pattern for each member cannot be bounded"},
    {"$ref that does not begin with \"#/\"",
     "other documents are not fetched, $id is not an address"},
    {"is referred to but does not exist", "a place that no keyword leads to holds no schema"},
    {"unknown schema", "true and false alone describe no answer"},
};

std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string member(const json::value& object, const char* name) {
    return std::string(object.as_object().at(name).as_string());
}

/// Runs all cases and notes where the answer is another one.
class suite_run {
public:
    void run(const fs::path& file) {
        const std::string stem = file.stem().string();
        const json::value groups = json::parse(text_of(file));
        for (const json::value& group : groups.as_array()) {
            run_group(stem + ": " + member(group, "description"), group.as_object());
        }
    }

    std::size_t held = 0;
    std::map<std::string, std::string> refused; ///< schemas, with the message
    std::map<std::string, std::string> otherwise;

private:
    void run_group(const std::string& name, const json::object& group) {
        json::value said = group.at("schema");
        if (json::object* object = said.if_object())
            object->emplace("$schema", "http://json-schema.org/draft-07/schema#");
        const auto schema = output_schema::compile(json::serialize(said));
        if (!schema) {
            refused.emplace(name, schema.error().message());
            return;
        }
        for (const json::value& test : group.at("tests").as_array()) {
            const std::string data = json::serialize(test.as_object().at("data"));
            const auto content = lang::json_to_value(harness_.memory(), data);
            ASSERT_TRUE(content) << name;
            const bool valid = !schema->check(*content, data);
            const std::string title = name + ": " + member(test, "description");
            if (valid == test.as_object().at("valid").as_bool()) ++held;
            else otherwise.emplace(title, valid ? "taken as valid" : "taken as wrong");
        }
    }

    lang::realm harness_;
};

TEST(json_schema_suite, holds_for_draft_7) {
    if (!fs::is_directory(suite)) GTEST_SKIP() << "json-schema-test-suite is not installed";
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(suite)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    suite_run all;
    for (const fs::path& file : files) all.run(file);
    for (const auto& [name, message] : all.refused) {
        const bool known = std::any_of(std::begin(reasons), std::end(reasons),
                                       [&message = message](const reason& each) {
                                           return message.find(each.said) != std::string::npos;
                                       });
        EXPECT_TRUE(known) << name << " is refused: " << message;
    }
    for (const auto& [name, what] : all.otherwise) ADD_FAILURE() << name << ": " << what;
    std::printf("draft 7: %zu cases hold, %zu differ, %zu schemas are refused\n", all.held,
                all.otherwise.size(), all.refused.size());
    EXPECT_GT(all.held, 300U);
}

} // namespace
} // namespace heddle::tasks
