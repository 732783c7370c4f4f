// The index of files beside SQLite's FTS5, on the same terms: docs/adr/0013.
//
//   bench_text_index [FILES] [WORDS]
//
// Both get the terms of our tokens, so that they rank the same text. FTS5 gets them joined by
// spaces, in one transaction, without a copy of the content (content='').
#include "generated_words.hpp"

#include "memory/index/inverted_index.hpp"
#include "memory/index/term_counts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// heddle-check: allow single-file: FTS5 itself is measured
#include <sqlite3.h>

namespace heddle {
namespace {

using clock = std::chrono::steady_clock;

double milliseconds_since(clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

struct document {
    std::string path;
    std::string text;
};

class database {
public:
    database() { check(sqlite3_open(":memory:", &handle_)); }
    ~database() { sqlite3_close(handle_); }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void run(const char* sql) { check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)); }
    sqlite3_stmt* prepare(const char* sql) {
        sqlite3_stmt* stmt = nullptr;
        check(sqlite3_prepare_v2(handle_, sql, -1, &stmt, nullptr));
        return stmt;
    }
    void check(int code) const {
        if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle_));
    }
    [[nodiscard]] double megabytes() {
        sqlite3_stmt* asked =
            prepare("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()");
        sqlite3_step(asked);
        const double bytes = sqlite3_column_double(asked, 0);
        sqlite3_finalize(asked);
        return bytes / 1e6;
    }

private:
    sqlite3* handle_ = nullptr;
};

std::string terms_of(std::string_view text) {
    memory::token_list tokens;
    memory::append_tokens(text, tokens);
    std::string joined;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        joined += tokens[i];
        joined += ' ';
    }
    return joined;
}

void fill(database& fts, const std::vector<document>& documents) {
    fts.run(
        "CREATE VIRTUAL TABLE files USING fts5(text, content='', "
        "tokenize=\"unicode61 tokenchars '_-'\")");
    fts.run("BEGIN");
    sqlite3_stmt* insert = fts.prepare("INSERT INTO files(rowid, text) VALUES (?, ?)");
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::string terms = terms_of(documents[i].text);
        sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(i));
        sqlite3_bind_text(insert, 2, terms.data(), static_cast<int>(terms.size()), SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) throw std::runtime_error("insert");
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    fts.run("COMMIT");
}

std::vector<std::size_t> best_of(database& fts, const std::vector<std::string>& words) {
    std::string any;
    for (const std::string& word : words) any += (any.empty() ? "\"" : " OR \"") + word + "\"";
    sqlite3_stmt* asked =
        fts.prepare("SELECT rowid FROM files WHERE files MATCH ? ORDER BY rank LIMIT 20");
    sqlite3_bind_text(asked, 1, any.data(), static_cast<int>(any.size()), SQLITE_STATIC);
    std::vector<std::size_t> found;
    while (sqlite3_step(asked) == SQLITE_ROW)
        found.push_back(static_cast<std::size_t>(sqlite3_column_int64(asked, 0)));
    sqlite3_finalize(asked);
    return found;
}

std::vector<std::string> terms_of_query(std::string_view text) {
    memory::token_list tokens;
    memory::append_tokens(text, tokens);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < tokens.size(); ++i) words.emplace_back(tokens[i]);
    return words;
}

void compare(int files, int words) {
    vocabulary source;
    std::vector<document> documents;
    double bytes = 0;
    for (int i = 0; i < files; ++i) {
        document one{"/r/f" + std::to_string(i), {}};
        for (int k = 0; k < words; ++k) one.text += source.next() + (k % 8 == 7 ? "\n" : " ");
        bytes += static_cast<double>(one.text.size());
        documents.push_back(std::move(one));
    }
    std::printf("%d files of %d words, %.1f MB\n", files, words, bytes / 1e6);

    memory::inverted_index ours;
    auto begin = clock::now();
    for (const document& each : documents) {
        memory::prepared_file file;
        file.path = each.path;
        file.content_terms = memory::count_terms(each.text, memory::max_tokens);
        ours.put(std::move(file));
    }
    const double our_time = milliseconds_since(begin);
    std::string saved;
    ours.save(saved);

    database fts;
    begin = clock::now();
    fill(fts, documents);
    const double fts_time = milliseconds_since(begin);
    std::printf(
        "index:  ours %8.0f ms %7.1f MB in memory %7.1f MB saved;  FTS5 %8.0f ms %7.1f MB\n",
        our_time, static_cast<double>(ours.memory_bytes()) / 1e6,
        static_cast<double>(saved.size()) / 1e6, fts_time, fts.megabytes());

    std::vector<double> our_times;
    std::vector<double> fts_times;
    std::size_t same = 0;
    std::size_t of = 0;
    for (unsigned round = 0; round < 200; ++round) {
        std::string query;
        for (unsigned k = 0; k < 3; ++k)
            query += vocabulary::word((round * 37 + k * 1009) % 5000) + " ";
        const std::vector<std::string> asked = terms_of_query(query);
        memory::index_query wanted;
        for (const std::string& word : asked) wanted.terms.push_back({word, 1.0});
        begin = clock::now();
        const auto found = ours.query(wanted);
        our_times.push_back(milliseconds_since(begin));
        begin = clock::now();
        const auto others = best_of(fts, asked);
        fts_times.push_back(milliseconds_since(begin));
        std::set<std::string> top;
        for (const auto& each : found) top.insert(ours.file(each.file).path);
        for (const std::size_t each : others) same += top.count(documents[each].path);
        of += others.size();
    }
    std::sort(our_times.begin(), our_times.end());
    std::sort(fts_times.begin(), fts_times.end());
    std::printf("query:  ours %8.3f ms median %8.3f ms p99;  FTS5 %8.3f ms median %8.3f ms p99\n",
                our_times[100], our_times[197], fts_times[100], fts_times[197]);
    std::printf(
        "of the files that FTS5 puts among its first 20, ours has %.0f %%\n",
        100.0 * static_cast<double>(same) / static_cast<double>(std::max<std::size_t>(of, 1)));
}

} // namespace
} // namespace heddle

int main(int argc, char** argv) {
    const int files = argc > 1 ? std::atoi(argv[1]) : 10'000;
    const int words = argc > 2 ? std::atoi(argv[2]) : 500;
    heddle::compare(files, words);
}
