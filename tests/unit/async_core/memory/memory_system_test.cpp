#include "memory_testing.hpp"

#include "memory/snapshot.hpp"

#include <gmock/gmock.h>

namespace heddle::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class memory_look_up : public testing::memory_test {
protected:
    result<void> describe(std::vector<described_file> files) {
        return test.run(memory->update_index(std::move(files), test.context()));
    }
    /// The first look-up indexes the root.
    memory_options lazily() {
        memory_options options;
        options.roots = {here()};
        options.refresh_after = std::chrono::hours(1);
        return options;
    }
};

TEST_F(memory_look_up, in_descriptions_that_were_given) {
    open();
    ASSERT_TRUE(describe({{"/p/auth.py", "checks passwords"}, {"/p/../q/net.py", "sockets"}}));
    ports::memory_request request;
    request.query = "password checks passwords";
    request.strategy = ports::matching_strategy::metadata;
    const auto response = ask(request);
    ASSERT_TRUE(response);
    ASSERT_THAT(response->matches, SizeIs(1));
    EXPECT_EQ(response->matches[0].path, "/p/auth.py");
    EXPECT_EQ(response->matches[0].metadata, "checks passwords");
    request.query = "sockets";
    EXPECT_EQ(ask(request)->matches.at(0).path, "/q/net.py");
    ASSERT_TRUE(describe({{"/p/auth.py", "logs in"}}));
    request.query = "checks";
    const auto none = ask(request);
    EXPECT_THAT(none->matches, IsEmpty());
    EXPECT_EQ(none->context_summary, "none of 2 indexed files matches");
    EXPECT_EQ(*test.run(memory->size(test.context())), 2U);
}

TEST_F(memory_look_up, refuses_relative_paths_and_bad_text_as_a_whole) {
    open();
    const auto refusal = [&](described_file one) {
        const auto done = describe({{"/good", "fine"}, std::move(one)});
        return done ? std::string() : done.error().message();
    };
    EXPECT_THAT(refusal({"relative.py", "x"}),
                HasSubstr("absolute paths only, not \"relative.py\""));
    EXPECT_THAT(refusal({"", "x"}), HasSubstr("absolute"));
    EXPECT_THAT(refusal({"/bad\xFF", "x"}), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal({"/a", "\xFF"}), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal({std::string("/a\0b", 4), ""}), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal({"/a", std::string(70'000, 'x')}), HasSubstr("longer than"));
    EXPECT_EQ(*test.run(memory->size(test.context())), 0U);
}

TEST_F(memory_look_up, other_parts_of_a_request_sharpen_it) {
    open();
    ASSERT_TRUE(describe({{"/a", "parser of http"}, {"/b", "parser of json"}, {"/c", "table"}}));
    const auto first = [&](const ports::memory_request& request) {
        const auto response = ask(request);
        return response->matches.empty() ? std::string() : response->matches[0].path;
    };
    ports::memory_request request;
    request.query = "parser";
    request.inputs.emplace().push_back({"format", "json"});
    EXPECT_EQ(first(request), "/b");
    request.inputs.reset();
    request.template_description = "reads http";
    EXPECT_EQ(first(request), "/a");
    request.template_description.reset();
    for (const auto field :
         {&ports::memory_request::history, &ports::memory_request::inherited_context,
          &ports::memory_request::previous_outputs}) {
        ports::memory_request one;
        one.query = "parser";
        one.*field = "it was about json";
        EXPECT_EQ(first(one), "/b");
        // The query itself weighs more.
        one.query = "http";
        EXPECT_EQ(first(one), "/a");
    }
}

TEST_F(memory_look_up, indexes_its_roots_the_first_time) {
    put("a.txt", "treadle");
    open(lazily());
    EXPECT_EQ(log.count("indexing"), 0);
    EXPECT_THAT(names("treadle"), ElementsAre("a.txt"));
    EXPECT_EQ(log.count("indexing " + root.string()), 1);
    put("b.txt", "treadle");
    EXPECT_THAT(names("treadle"), ElementsAre("a.txt")); // not yet time to look again
    EXPECT_EQ(log.count("indexed"), 1);

    memory_options eager = lazily();
    eager.refresh_after = std::chrono::milliseconds(0);
    open(eager);
    EXPECT_THAT(names("treadle"), UnorderedElementsAre("a.txt", "b.txt"));
    stdfs::remove(root / "a.txt");
    EXPECT_THAT(names("treadle"), ElementsAre("b.txt"));
}

TEST_F(memory_look_up, concurrent_first_ones_index_once) {
    for (int i = 0; i < 100; ++i) put(std::to_string(i) + ".txt", "treadle");
    open(lazily());
    coro::nursery all(test.context());
    std::size_t found = 0;
    const auto one = [](memory_look_up* me, std::size_t* sum) -> coro::task<result<void>> {
        ports::memory_request request;
        request.query = "treadle";
        request.limit = 1000;
        const auto response = co_await me->memory->relevant_files(request, me->test.context());
        if (!response) co_return response.error();
        *sum += response->matches.size();
        co_return result<void>();
    };
    for (int i = 0; i < 8; ++i) all.start(one(this, &found));
    ASSERT_TRUE(test.run(all.join()));
    EXPECT_EQ(found, 800U);
    EXPECT_EQ(log.count("100 added"), 1);
}

TEST_F(memory_look_up, a_root_that_is_not_there_is_an_error_each_time) {
    memory_options options = lazily();
    options.roots[0].root += "/absent";
    open(options);
    for (int i = 0; i < 2; ++i) {
        const auto response = ask({});
        ASSERT_FALSE(response);
        EXPECT_THAT(response.error().message(), HasSubstr("absent"));
    }
    stdfs::create_directories(root / "absent");
    put("absent/a.txt", "treadle");
    EXPECT_THAT(names("treadle"), ElementsAre("absent/a.txt"));
}

TEST_F(memory_look_up, ends_with_its_deadline_during_the_first_indexing) {
    for (int i = 0; i < 40; ++i) put(std::to_string(i) + ".txt", std::string(500'000, 'x'));
    open(lazily());
    ports::memory_request request;
    request.query = "x";
    const auto response = test.run(memory->relevant_files(
        request, test.context(nullptr, test.in(std::chrono::milliseconds(2)))));
    ASSERT_FALSE(response);
    EXPECT_TRUE(response.error().is_cancelled());
    EXPECT_EQ(log.count("indexing"), 1);
    EXPECT_EQ(log.count("indexed"), 0) << "it waited for the end of the indexing";
}

TEST_F(memory_look_up, the_index_is_kept_between_runs) {
    put("a.txt", "treadle");
    put("b.txt", "treadle");
    memory_options options = lazily();
    options.index_file = (base / "kept.index").string();
    open(options);
    EXPECT_THAT(names("treadle"), SizeIs(2));
    EXPECT_EQ(log.count("2 added"), 1);

    put("c.txt", "treadle");
    open(options);
    EXPECT_THAT(names("treadle"), SizeIs(3));
    EXPECT_EQ(log.count("1 added, 2 unchanged"), 1);

    std::ofstream(base / "kept.index", std::ios::binary) << "heddle index\nrubbish";
    open(options);
    EXPECT_THAT(names("treadle"), SizeIs(3));
    EXPECT_EQ(log.count("warn: "), 1);
    EXPECT_EQ(log.count("a new one is created"), 1);
    open(options);
    EXPECT_THAT(names("treadle"), SizeIs(3));
    EXPECT_EQ(log.count("a new one is created"), 1);
    // No temporary file is left behind.
    std::size_t entries = 0;
    for (const auto& entry : stdfs::directory_iterator(base)) entries += !entry.path().empty();
    EXPECT_EQ(entries, 2U);
}

TEST_F(memory_look_up, an_index_file_brings_no_files_of_other_directories) {
    put("one/a.txt", "treadle");
    put("one-more/b.txt", "treadle");
    put("two/c.txt", "treadle");
    const auto open_on = [&](const std::vector<std::string>& folders) {
        memory_options options;
        for (const std::string& folder : folders) {
            options.roots.emplace_back().root = (root / folder).string();
        }
        options.index_file = (base / "kept.index").string();
        open(options);
    };
    open_on({"one", "one-more", "two"});
    EXPECT_THAT(names("treadle"), SizeIs(3));
    // With a directory whose name begins with that of another, and through a link to it.
    stdfs::create_directory_symlink(root / "one", root / "link");
    open_on({"link"});
    EXPECT_THAT(names("treadle"), ElementsAre("one/a.txt"));
    EXPECT_EQ(log.count("one: 1 unchanged"), 1) << "what belongs to the directory is kept";
    EXPECT_EQ(log.count("2 files of other directories"), 1);
    stdfs::remove(root / "two/c.txt");
    open_on({"one-more"});
    EXPECT_THAT(names("treadle"), ElementsAre("one-more/b.txt"));
    // The file itself keeps nothing of them either.
    open();
    ASSERT_TRUE(test.run(memory->load((base / "kept.index").string(), test.context())));
    EXPECT_THAT(names("treadle"), ElementsAre("one-more/b.txt"));
}

TEST_F(memory_look_up, an_index_file_names_no_files_by_a_detour) {
    std::ofstream(base / "secret.txt") << "treadle";
    inverted_index forged;
    forged.set_metadata(root.string() + "/../secret.txt", "treadle");
    forged.set_metadata(root.string() + "/./b.txt", "treadle");
    forged.set_metadata(root.string() + "/described.png", "treadle");
    std::ofstream(base / "kept.index", std::ios::binary) << write_snapshot(forged);
    memory_options options = lazily();
    options.index_file = (base / "kept.index").string();
    open(options);
    EXPECT_THAT(names("treadle"), ElementsAre("described.png"));
}

TEST_F(memory_look_up, saved_and_loaded_by_hand) {
    open();
    ASSERT_TRUE(describe({{"/p/a.py", "looms"}}));
    const std::string file = (base / "x.index").string();
    ASSERT_TRUE(test.run(memory->save(file, test.context())));
    open();
    ASSERT_TRUE(test.run(memory->load(file, test.context())));
    ports::memory_request request;
    request.query = "looms";
    EXPECT_EQ(ask(request)->matches.at(0).path, "/p/a.py");
    std::string bytes;
    {
        std::ifstream in(file, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(file, std::ios::binary) << bytes;
    const auto damaged = test.run(memory->load(file, test.context()));
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().message(), HasSubstr("damaged"));
    EXPECT_EQ(ask(request)->matches.size(), 1U); // nothing has changed
    EXPECT_FALSE(test.run(memory->load((base / "none").string(), test.context())));
    EXPECT_FALSE(test.run(memory->save((base / "no" / "dir").string(), test.context())));
}

TEST_F(memory_look_up, a_file_that_is_no_index_is_never_replaced) {
    open();
    ASSERT_TRUE(describe({{"/p/a.py", "looms"}}));
    const std::string file = (base / "thesis.txt").string();
    const std::string precious(3'000'000, 'x');
    std::ofstream(file, std::ios::binary) << precious;
    const auto kept = [&] {
        std::ifstream in(file, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {}) == precious;
    };
    for (const auto& refused : {test.run(memory->save(file, test.context())),
                                test.run(memory->load(file, test.context()))}) {
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message(),
                    HasSubstr("thesis.txt\" exists and is not an index"));
    }
    EXPECT_TRUE(kept());
    memory_options options;
    options.roots.emplace_back().root = root.string();
    options.index_file = file;
    open(options);
    ports::memory_request request;
    request.query = "looms";
    const auto response = ask(request);
    ASSERT_FALSE(response);
    EXPECT_THAT(response.error().message(), HasSubstr("is not an index"));
    EXPECT_TRUE(kept());
    // A pipe that nobody writes to is neither waited for nor replaced.
    const std::string pipe = (base / "pipe").string();
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_FALSE(test.run(memory->save(pipe, test.context())));
    EXPECT_TRUE(stdfs::is_fifo(pipe));
    // A link may lead to a file of somebody else.
    const std::string link = (base / "link").string();
    stdfs::create_symlink(file, link);
    for (const auto& refused : {test.run(memory->save(link, test.context())),
                                test.run(memory->load(link, test.context()))}) {
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message(), HasSubstr("link\" is a symbolic link"));
        EXPECT_THAT(refused.error().info().hint, HasSubstr("name the file itself"));
    }
    EXPECT_TRUE(stdfs::is_symlink(link));
    // An empty file is nobody's.
    const std::string empty = (base / "empty").string();
    { const std::ofstream result(empty); }
    EXPECT_TRUE(test.run(memory->save(empty, test.context())));
}

} // namespace
} // namespace heddle::memory
