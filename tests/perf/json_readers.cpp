// Our reader of JSON and Boost.JSON on the same texts: docs/adr/0014.
//
//   bench_json_readers [FOLDER]   FOLDER: test_parsing of the JSON test suite of N. Seriot
//
// Boost.JSON is measured to its own tree, and on to values of the language, which is what would
// take the place of our reader. Each figure is the best of several rounds and includes the release.
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <boost/json/memory_resource.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace heddle {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using lang::value;

std::size_t sink = 0; // so that no work is left out

constexpr std::size_t max_depth = 512; // of both

json::parse_options tree_options() {
    json::parse_options options;
    options.max_depth = max_depth;
    return options;
}

/// What is read, and where reading failed.
struct tree_result {
    json::value tree;
    boost::system::error_code failed;
    std::size_t at = 0;
};

tree_result read_tree(std::string_view text, json::storage_ptr memory) {
    tree_result result;
    json::stream_parser parser({}, tree_options());
    parser.reset(memory);
    result.at = parser.write_some(text.data(), text.size(), result.failed);
    if (!result.failed && text.find_first_not_of(" \t\r\n", result.at) != std::string_view::npos)
        result.failed = json::error::extra_data;
    if (!result.failed) parser.finish(result.failed);
    if (!result.failed) {
        json::value read = parser.release();
        // The tree has the memory of the parser, so that nothing is copied.
        std::destroy_at(&result.tree);
        std::construct_at(&result.tree, std::move(read));
    }
    return result;
}

/// From a tree to values, with the same small table of keys that our reader has.
class tree_conversion {
public:
    explicit tree_conversion(lang::heap& memory) : memory_(memory) {}

    [[nodiscard]] value of(const json::value& tree) {
        switch (tree.kind()) {
        case json::kind::null: return {};
        case json::kind::bool_: return value::boolean(tree.get_bool());
        case json::kind::int64: return value::integer(tree.get_int64());
        case json::kind::uint64: return value::real(static_cast<double>(tree.get_uint64()));
        case json::kind::double_: return value::real(tree.get_double());
        case json::kind::string: return lang::make_valid_string(memory_, tree.get_string());
        case json::kind::array: {
            std::vector<value> items;
            items.reserve(tree.get_array().size());
            for (const json::value& each : tree.get_array()) items.push_back(of(each));
            return lang::make_list(memory_, items);
        }
        case json::kind::object: {
            value result = lang::make_map_with_capacity(memory_, tree.get_object().size());
            for (const auto& [name, each] : tree.get_object())
                result = lang::map_put(memory_, std::move(result), key_of(name), of(each));
            return result;
        }
        }
        return {};
    }

private:
    [[nodiscard]] value key_of(std::string_view text) {
        value& slot = keys_[hash_text(memory_.hash_seed(), text) % keys_.size()];
        if (!slot.is(lang::kind::string) || lang::string_bytes(slot) != text)
            slot = lang::make_valid_string(memory_, text);
        return slot;
    }

    lang::heap& memory_;
    std::array<value, 64> keys_;
};

result<value> read_ours(lang::heap& memory, std::string_view text) {
    lang::json_read_options options;
    options.max_depth = max_depth;
    return lang::json_to_value(memory, text, options);
}

/// Counts what a tree takes.
class counted_memory final : public json::memory_resource {
public:
    std::size_t bytes = 0;

private:
    void* do_allocate(std::size_t size, std::size_t) override {
        bytes += size;
        return ::operator new(size);
    }
    void do_deallocate(void* block, std::size_t size, std::size_t) override {
        bytes -= size;
        ::operator delete(block);
    }
    bool do_is_equal(const json::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

template <class Work>
double best_time(Work work) {
    double best = 1e300;
    const auto end = clock::now() + std::chrono::milliseconds(1500);
    for (int round = 0; round < 3 || clock::now() < end; ++round) {
        const auto begin = clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(clock::now() - begin).count());
    }
    return best;
}

struct sample {
    const char* name;
    std::string text;
};

std::string records(std::size_t bytes) {
    std::string text = "[";
    for (int i = 0; text.size() < bytes; ++i) {
        const std::string number = std::to_string(i);
        text += (i == 0 ? "" : ",\n ") + (R"({"id":)" + number) + R"(,"name":"customer )" + number +
                R"(","price":)" + std::to_string(i % 1000) + ".25" +
                R"(,"active":true,"parent":null,"tags":["a","long tag \"b\""],)" +
                R"("address":{"street":"Hauptstraße )" + number + R"(","zip":"10115"}})";
    }
    return text + "]";
}

std::vector<sample> samples() {
    std::vector<sample> list;
    std::string response = R"({"summary":")";
    for (int i = 0; i < 12; ++i)
        response += R"(The function \"parse\" copies its argument – see line 12.\nThen it waits. )";
    response += R"(","findings":[)";
    for (int i = 0; i < 8; ++i)
        response += std::string(i == 0 ? "" : ",") + R"({"file":"src/main.cpp","line":)" +
                    std::to_string(100 + i) +
                    R"(,"severity":"warning","confidence":0.85,"text":"The result is not used."})";
    list.push_back({"response of a model", response + R"(],"verdict":"fail","score":3})"});
    list.push_back({"records, 5 MB", records(5'000'000)});
    std::string deep = "[";
    for (int i = 0; i < 1000; ++i) {
        deep += i == 0 ? "" : ",";
        for (int level = 0; level < 500; ++level) deep += level % 2 == 0 ? "[" : R"({"a":)";
        deep += "1";
        for (int level = 499; level >= 0; --level) deep += level % 2 == 0 ? "]" : "}";
    }
    list.push_back({"500 levels, 1000 times", deep + "]"});
    std::string words = "[";
    for (int i = 0; i < 500'000; ++i) words += (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + "\"";
    list.push_back({"500,000 small strings", words + "]"});
    std::mt19937_64 random(5);
    std::string numbers = "[0";
    for (int i = 0; i < 200'000; ++i) {
        char digits[32];
        const double number = std::ldexp(static_cast<double>(random() >> 11), -53) * 1000;
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        numbers.append(",").append(digits, end);
    }
    list.push_back({"200,000 numbers of 16 digits", numbers + "]"});
    std::string prose = "\"";
    while (prose.size() < 1'000'000) prose += "A sentence of a longer text – with a dash.\\n";
    list.push_back({"one string of 1 MB", prose + "\""});
    return list;
}

/// How long others would wait at most: the longest time between two calls.
class watched_work final : public lang::work_meter {
public:
    watched_work() noexcept : work_meter(units_of_a_turn), last_(clock::now()) {}
    [[nodiscard]] double longest() const noexcept { return longest_; }
    void look() noexcept {
        const auto now = clock::now();
        longest_ = std::max(longest_, std::chrono::duration<double>(now - last_).count());
        last_ = now;
    }

private:
    bool pass() override {
        look();
        until_ = done_ + units_of_a_turn;
        return true;
    }
    bool foresee(std::uint64_t) override { return true; }

    clock::time_point last_;
    double longest_ = 0;
};

void measure(lang::realm& harness, const sample& one) {
    const double megabytes = static_cast<double>(one.text.size()) / 1e6;
    lang::heap& memory = harness.memory();
    const double ours = best_time([&] { sink += read_ours(memory, one.text)->is_object(); });
    const double plain = best_time([&] { sink += read_tree(one.text, {}).tree.is_structured(); });
    const double tree = best_time([&] {
        json::monotonic_resource block;
        sink += read_tree(one.text, &block).tree.is_structured();
    });
    const double both = best_time([&] {
        json::monotonic_resource block;
        const tree_result read = read_tree(one.text, &block);
        sink += tree_conversion(memory).of(read.tree).is_object();
    });
    counted_memory counted;
    const tree_result read = read_tree(one.text, &counted);
    const std::size_t before = memory.used();
    const value kept = *read_ours(memory, one.text);
    const double values = static_cast<double>(memory.used() - before) / 1e6;
    watched_work work;
    lang::json_read_options options;
    options.max_depth = max_depth;
    options.work = &work;
    work.look();
    sink += lang::json_to_value(memory, one.text, options)->is_object();
    work.look();
    std::printf("%-28s %7.3f %6.0f %10.0f %10.0f %10.0f %9.2f %9.2f %8.2f\n", one.name, megabytes,
                megabytes / ours, megabytes / plain, megabytes / tree, megabytes / both, values,
                static_cast<double>(counted.bytes) / 1e6, work.longest() * 1e3);
}

std::string shown(std::string text) {
    for (char& c : text) {
        if (c == '\n' || c == '\0') c = ' ';
    }
    return text.size() > 76 ? text.substr(0, 73) + "..." : text;
}

std::string by_us(lang::realm& harness, std::string_view text) {
    const auto read = read_ours(harness.memory(), text);
    if (!read) return "error: " + read.error().message();
    const auto written = lang::value_to_json(*read);
    return written ? *written : "a value that cannot be written";
}

std::string by_boost(std::string_view text) {
    const tree_result read = read_tree(text, {});
    if (read.failed)
        return "error: " + read.failed.message() + " (byte " + std::to_string(read.at) + ")";
    return json::serialize(read.tree);
}

void compare(lang::realm& harness) {
    using namespace std::string_literals;
    const std::string texts[] = {"9223372036854775807",
                                 "9223372036854775808",
                                 "18446744073709551616",
                                 "-0",
                                 "1.0",
                                 "1e2",
                                 "0.1",
                                 "1e400",
                                 "-1e-400",
                                 "100000000000000000000000.5",
                                 R"({"a":1,"b":2,"a":3})",
                                 R"("\ud800")",
                                 "\xEF\xBB\xBF"
                                 "1",
                                 R"("a\u0000b")",
                                 "[1,]",
                                 "[1 2]",
                                 "{\"a\" 1}",
                                 "nul",
                                 "01",
                                 "\"a\x01\"",
                                 "\"\xFF\"",
                                 "\"\xED\xA0\x80\"",
                                 "[1,\n 2,\n oops]",
                                 "[1,2",
                                 "\"abc",
                                 std::string(513, '[') + std::string(513, ']'),
                                 std::string(512, '[') + std::string(512, ']'),
                                 "",
                                 "1 2"};
    for (const std::string& text : texts) {
        std::printf("%-24s ours:  %s\n%-24s Boost: %s\n", shown(text).substr(0, 24).c_str(),
                    shown(by_us(harness, text)).c_str(), "", shown(by_boost(text)).c_str());
    }
}

/// How many numbers come out as another one than the nearest.
void compare_numbers(lang::realm& harness) {
    std::mt19937_64 random(11);
    constexpr int count = 200'000;
    int ours = 0;
    int boost = 0;
    std::uint64_t worst = 0;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        double number;
        std::memcpy(&number, &bits, sizeof number);
        if (!(number == number) || number - number != 0) continue; // no number
        char digits[40];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        const std::string_view text(digits, static_cast<std::size_t>(end - digits));
        const auto read = read_ours(harness.memory(), text);
        const double mine =
            read->is_integer() ? static_cast<double>(read->as_integer()) : read->as_real();
        const double theirs = read_tree(text, {}).tree.to_number<double>();
        if (mine != number) ++ours;
        if (theirs == number) continue;
        ++boost;
        std::uint64_t other;
        std::memcpy(&other, &theirs, sizeof other);
        worst = std::max(worst, other > bits ? other - bits : bits - other);
    }
    std::printf(
        "of %d random doubles in their shortest form another one is read: ours %d, "
        "Boost %d (at most %llu units in the last place)\n",
        count, ours, boost, static_cast<unsigned long long>(worst));
}

/// y_ must be read, n_ must not, i_ may be either.
void run_suite(lang::realm& harness, const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder)) files.push_back(each.path());
    std::sort(files.begin(), files.end());
    int wrong_ours = 0;
    int wrong_boost = 0;
    for (const fs::path& file : files) {
        std::ifstream in(file, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const std::string name = file.filename().string();
        const bool ours = read_ours(harness.memory(), text).has_value();
        const bool boost = !read_tree(text, {}).failed;
        const bool free = name.starts_with("i_");
        const bool must = name.starts_with("y_");
        wrong_ours += !free && ours != must;
        wrong_boost += !free && boost != must;
        if (ours == boost && (free || ours == must)) continue;
        std::printf("  %-56s ours %s, Boost %s\n", name.c_str(), ours ? "reads" : "refuses",
                    boost ? "reads" : "refuses");
    }
    std::printf("of %zu files are judged wrongly: ours %d, Boost %d\n", files.size(), wrong_ours,
                wrong_boost);
}

} // namespace
} // namespace heddle

int main(int argc, char** argv) {
    using namespace heddle;
    lang::realm harness;
    std::printf("%-28s %7s %6s %10s %10s %10s %9s %9s %8s\n", "MB/s", "MB", "ours", "Boost tree",
                "monotonic", "to values", "values MB", "tree MB", "turn ms");
    for (const sample& each : samples()) measure(harness, each);
    compare_numbers(harness);
    compare(harness);
    if (argc > 1) run_suite(harness, argv[1]);
    return sink == 0 ? 1 : 0;
}
