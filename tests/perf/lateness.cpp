// How late a timer fires beside each builtin on large arguments. Called by bench_lateness.sh.
//
//   bench_lateness [SIZE] [NAME…]   SIZE elements, fifty times as many bytes of text

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace heddle;
using milliseconds = std::chrono::duration<double, std::milli>;

struct large_call {
    const char* name;
    const char* call;
};

/// What is large: names for what the calls below are tried on. N: elements, B: bytes.
constexpr const char* large_values = R"program(
(define grown (lambda (part size)
  (let next ((s part)) (if (< (string-length s) size) (next (string-append s s)) s))))
(define ints (map (lambda (i) (modulo (* i 7919) 1000003)) (range N)))
(define ascending (range N))
(define ones (map (lambda (i) 1) (range N)))
(define strings (string-split (string-join ints) " "))
(define table (let next ((i 0) (m (dict)))
  (if (< i N) (next (+ i 1) (put m (nth strings i) i)) m)))
(define other-table (let next ((i 0) (m (dict)))
  (if (< i N) (next (+ i 1) (put m (string-append "k" (nth strings i)) i)) m)))
(define pairs (entries table))
(define nested (chunk ints 4))
(define copy (chunk ints 4))
(define rows (map (lambda (i) (dict "a" 1 "b" i)) (range (quotient N 4))))
(define deep (let next ((i 0) (x (list))) (if (< i 60) (next (+ i 1) (list x x)) x)))
(define ascii (grown "some words, " B))
(define ascii-copy (string-append ascii ""))
(define same (grown "some words, " B))
(define wide (grown "äb" (quotient B 2)))
(define as (grown "aaaaaaaa" B))
(define almost (string-append (substring as 0 (quotient B 16)) "b" (substring as 0 (quotient B 16))))
(define spaces (grown "        " B))
(define digits (grown "12345678" B))
(define json-numbers (json-string ints))
(define json-rows (json-string rows))
(define json-table (json-string table))
(define json-text (json-string ascii))
(define json-escapes (json-string (string-replace ascii " " "\n")))
(define source (string-append "(" (string-join ints) ")"))
(define comments (string-append "#|" ascii "|# ;" ascii "\n 1"))
(define json-ones (string-append "[" (grown "1,2,3,4,5,6," B) "1]"))
(define json-broken (string-append "[" (grown "1,2\n,3,4,5," B) "x"))
(define singles (chunk ascending 1))
(define names (map (lambda (i) (string->symbol (format "name-{}" i))) (range (quotient (* 3 N) 10))))
(define failed-result (dict "status" "FAILED" "content" "" "notes"
  (dict "error" (dict "message" ascii))))
(define caught (dict "kind" "UserError" "message" ascii))
)program";

constexpr large_call large_calls[] = {
    {"+", "(apply + ints)"},
    {"-", "(apply - ints)"},
    {"*", "(apply * ones)"},
    {"/", "(apply / ones)"},
    {"<", "(apply < ascending)"},
    {"<=", "(apply <= ascending)"},
    {"=", "(apply = ones)"},
    {">", "(apply > (reverse ascending))"},
    {">=", "(apply >= ones)"},
    {"max", "(apply max ints)"},
    {"min", "(apply min ints)"},
    {"string=?", "(string=? ascii same)"},
    {"string<?", "(string<? ascii same)"},
    {"string-append", "(string-append ascii same)"},
    {"string-append", "(apply string-append strings)"},
    {"string-length", "(string-length wide)"},
    {"substring", "(substring wide 10 (quotient B 8))"},
    {"string-upcase", "(string-upcase ascii)"},
    {"string-upcase", "(string-upcase wide)"},
    {"string-downcase", "(string-downcase wide)"},
    {"string-trim", "(string-trim spaces)"},
    {"string-split", "(string-split ascii \", \")"},
    {"string-split", "(string-split ascii)"},
    {"string-split", "(string-split as almost)"},
    {"string-split", "(string-split (substring wide 0 N) \"\")"},
    {"string-join", "(string-join ints)"},
    {"string-join", "(string-join strings \"some words\")"},
    {"string-replace", "(string-replace ascii \"o\" \"00\")"},
    {"string-replace", "(string-replace as almost \"b\")"},
    {"string-contains?", "(string-contains? as almost)"},
    {"string-contains?", "(string-contains? as \"ab\")"},
    {"string-starts-with?", "(string-starts-with? ascii same)"},
    {"string-ends-with?", "(string-ends-with? ascii same)"},
    {"string->number", "(string->number digits)"},
    {"string->number", "(string->number spaces)"},
    {"string->symbol", "(string->symbol ascii)"},
    {"string->symbol", "(map string->symbol strings)"},
    {"format", "(format \"{}\" nested)"},
    {"format", "(format ascii)"},
    {"format", "(format \"{} {}\" ascii table)"},
    {"regex-match", "(regex-match \"x$\" ascii)"},
    {"regex-match", "(regex-match \"(a?){1000}(a){1000}b\" (substring as 0 100000))"},
    {"regex-match", "(regex-match \"(\\\\pL{10}){100}\" ascii)"},
    {"regex-match", "(regex-match ascii ascii)"},
    {"regex-match", "(loop 1000 (regex-match \"(a?){50}(a){50}b\" (substring as 0 1000)))"},
    {"regex-match-all", "(regex-match-all \"[a-z]+\" ascii)"},
    {"regex-match-all", "(regex-match-all \"(a)(.*b)?\" (substring as 0 30000))"},
    {"regex-match-all", "(regex-match-all \"a.*b|a\" (substring as 0 100000))"},
    {"regex-match-all", "(loop 100 (regex-match-all \"[a-z]+\" (substring ascii 0 30000)))"},
    {"regex-replace", "(regex-replace \"[a-z]+\" ascii \"x\")"},
    {"regex-replace", "(regex-replace \"a\" as \"xyz\")"},
    {"list", "(apply list ints)"},
    {"append", "(append ints ascending)"},
    {"append", "(apply append nested)"},
    {"cons", "(cons 1 (rest ints))"},
    {"length", "(length wide)"},
    {"reverse", "(reverse ints)"},
    {"range", "(range (* 5 N))"},
    {"range", "(range 0.0 (* 2.0 N))"},
    {"sort", "(sort ints)"},
    {"sort", "(sort strings)"},
    {"unique", "(unique ints)"},
    {"unique", "(unique strings)"},
    {"unique", "(unique rows)"},
    {"unique", "(unique singles)"},
    {"unique", "(unique (append singles singles))"},
    {"flatten", "(flatten nested)"},
    {"flatten", "(flatten singles)"},
    {"flatten", "(flatten (append singles singles))"},
    {"flatten", "(flatten (list deep))"},
    {"zip", "(zip ints ascending)"},
    {"chunk", "(chunk ints 1)"},
    {"index-of", "(index-of ints -1)"},
    {"index-of", "(index-of nested 1)"},
    {"index-of", "(index-of as almost)"},
    {"contains?", "(contains? ints -1)"},
    {"dict", "(apply dict (flatten pairs))"},
    {"get-field", "(get-field pairs \"none\")"},
    {"require-field", "(try (require-field pairs \"none\") (catch (e) 1))"},
    {"get", "(get pairs \"none\")"},
    {"get-in", "(get-in pairs '(\"none\"))"},
    {"put", "(put table \"none\" 1)"},
    {"put", "(put table (nth strings 0) 1)"},
    {"put", "(put ints 5 1)"},
    {"put",
     "(let ((m (dict)) (i 0)) (while (< i N) (set! m (put m (nth strings i) 1)) "
     "(set! i (+ i 1))))"},
    {"merge", "(merge table other-table)"},
    {"merge", "(apply merge rows)"},
    {"remove-key", "(remove-key table (nth strings 0))"},
    {"keys", "(keys table)"},
    {"values", "(values table)"},
    {"entries", "(entries table)"},
    {"json-parse", "(json-parse json-numbers)"},
    {"json-parse", "(json-parse json-rows)"},
    {"json-parse", "(json-parse json-table)"},
    {"json-parse", "(json-parse json-text)"},
    {"json-parse", "(json-parse json-escapes)"},
    {"json-parse", "(json-parse json-ones)"},
    {"json-parse", "(json-parse json-broken)"},
    {"json-string", "(json-string table)"},
    {"json-string", "(json-string nested)"},
    {"json-string", "(json-string ascii)"},
    {"json-string", "(json-string deep)"},
    {"eq?", "(eq? nested copy)"},
    {"equal?", "(equal? nested copy)"},
    {"equal?", "(if (equal? ascii same) 1 2)"},
    {"equal?", "(equal? table other-table)"},
    {"equal?", "(equal? singles (chunk (range N) 1))"},
    {"has-key?", "(has-key? table ascii)"},
    {"gensym", "(gensym (substring ascii 0 N))"},
    {"content", "(content failed-result)"},
    {"parsed", "(parsed failed-result)"},
    {"error", "(error ascii)"},
    {"error", "(error wide)"},
    {"error", "(try (error ascii) (catch (e) (string-length (get e 'message))))"},
    {"error", "(map-settled (lambda (i) (error ascii)) '(1))"},
    {"raise", "(raise caught)"},
    {"raise", "(try (raise caught) (catch (e) (raise e)))"},
};

/// What the machine itself runs, and what takes no large arguments.
constexpr large_call large_controls[] = {
    {"apply", "(apply list ints)"},
    {"apply", "(apply + 1 ints)"},
    {"apply", "(apply list strings)"},
    {"apply", "(apply (lambda (a &rest more) (length more)) ints)"},
    {"apply", "(apply (lambda (&rest more) (length more)) 1 2 ints)"},
    {"apply", "(apply (lambda (a) a) ints)"},
    {"apply", "(apply log-message ints)"},
    {"apply", "(sandbox () (apply + (range N)))"},
    {"sandbox", "(sandbox () (chunk (range N) 1))"},
    {"eval", "(eval (cons 'progn (map (lambda (name) (list 'define name 1)) names)))"},
    {"eval", "(eval (cons 'progn (map (lambda (name) (list 'if 'nil name)) names)))"},
    {"eval", "(eval (list 'lambda names 1))"},
    {"eval", "(eval 1 table)"},
    {"eval", "(eval (list 'quote names))"},
    {"eval", "(eval (list 'length (list 'quote nested)))"},
    {"eval", "(eval (cons 'list ints))"},
    {"parse", "(parse source)"},
    {"parse", "(parse json-text)"},
    {"parse", "(parse ascii)"},
    {"parse", "(parse digits)"},
    {"read-all", "(read-all comments)"},
    {"read-all", "(read-all source)"},
    {"read-all", "(read-all ascii)"},
    {"macroexpand", "(macroexpand nested)"},
};

[[nodiscard]] std::string with_sizes(std::string text, long size) {
    const auto fill = [&](const std::string& name, long number) {
        for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
            const auto part_of_word = [&](std::size_t k) {
                return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0);
            };
            if (part_of_word(at - 1) || part_of_word(at + name.size())) continue;
            text.replace(at, name.size(), std::to_string(number));
        }
    };
    fill("N", size);
    fill("B", size * 50);
    return text;
}

/// Processor time of the process.
[[nodiscard]] milliseconds processor_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return milliseconds(static_cast<double>(now.tv_sec) * 1e3 +
                        static_cast<double>(now.tv_nsec) * 1e-6);
}

/// A timer that fires every millisecond, and how late it was at worst. What other programs on the
/// machine delay is not counted: no more than the process computed meanwhile.
struct ticker {
    double worst = 0;
    bool over = false;
};

coro::task<void> tick(coro::event_loop* loop, ticker* state) {
    while (!state->over) {
        const auto due = coro::clock::now() + std::chrono::milliseconds(1);
        const milliseconds began = processor_time();
        const result<void> slept =
            co_await coro::sleep_until(coro::call_context{loop, nullptr, {}}, due);
        if (!slept) co_return;
        const milliseconds late = coro::clock::now() - due;
        const milliseconds computed = processor_time() - began;
        state->worst = std::max(state->worst, std::min(late, computed).count());
    }
}

/// Lateness by call.
struct measurements {
    std::multimap<double, std::string, std::greater<>> calls;
    std::map<std::string, double, std::less<>> builtins;

    void add(std::string_view name, const std::string& call, double late, double took) {
        char line[64];
        std::snprintf(line, sizeof line, "%8.2f ms of %9.1f ms  ", late, took);
        calls.emplace(late, line + call);
        double& worst = builtins[std::string(name)];
        worst = std::max(worst, late);
    }
};

coro::task<void> measure(host::session* session, ticker* state, std::string name, std::string call,
                         host::run_options options, measurements* out) {
    state->worst = 0;
    const auto began = coro::clock::now();
    const std::string program = "(try (progn " + call + " nil) (catch (e) nil))";
    const result<lang::value> ended = co_await session->evaluate("lateness", program, options);
    const milliseconds took = coro::clock::now() - began;
    if (!ended) {
        std::fprintf(stderr, "bench_lateness: %s: %s\n", call.c_str(),
                     ended.error().message().c_str());
    }
    out->add(name, call, state->worst, took.count());
}

struct plan {
    std::vector<std::pair<std::string, std::string>> calls; ///< builtin, call
    bool complete = true;
};

/// Every builtin of the language on every kind of large value, whatever it makes of it.
void add_tries(plan& result, const lang::builtin& row) {
    for (const std::string first : {"ints", "table", "ascii", "wide", "pairs"}) {
        for (const std::string rest : {"", " 5", " \"e\"", " same", " 5 7", " \"e\" \"x\""}) {
            const auto count =
                1 + static_cast<std::size_t>(std::count(rest.begin(), rest.end(), ' '));
            if (count < row.min_arguments || count > row.max_arguments) continue;
            result.calls.emplace_back(row.name,
                                      "(" + std::string(row.name) + " " + first + rest + ")");
        }
    }
}

[[nodiscard]] plan every_builtin(long size, const std::set<std::string>& chosen) {
    plan result;
    std::set<std::string_view> known;
    const auto add = [&](const large_call& each) {
        known.insert(each.name);
        result.calls.emplace_back(each.name, with_sizes(each.call, size));
    };
    for (const large_call& each : large_calls) add(each);
    for (const large_call& each : large_controls) add(each);
    for (const auto family : lang::builtin_families()) {
        for (const lang::builtin& row : family) {
            if (row.name.starts_with('%') || row.how == lang::builtin_kind::effect) continue;
            add_tries(result, row);
            if (row.how != lang::builtin_kind::pure || row.constant_time ||
                known.contains(row.name))
                continue;
            result.complete = false;
            std::fprintf(stderr, "bench_lateness: '%s' is new: add calls of it to large_calls\n",
                         std::string(row.name).c_str());
        }
    }
    if (!chosen.empty())
        std::erase_if(result.calls, [&](const auto& each) { return !chosen.contains(each.first); });
    return result;
}

coro::task<void> measure_all(coro::event_loop* loop, host::session* session, const plan* calls,
                             long size, measurements* out) {
    ticker state;
    coro::spawn(*loop, tick(loop, &state), [](std::exception_ptr thrown) {
        if (thrown) std::abort();
    });
    host::run_options options;
    options.memory_limit = std::size_t{16} << 30;
    const result<lang::value> ready =
        co_await session->evaluate("values", with_sizes(large_values, size), options);
    if (!ready) {
        std::fprintf(stderr, "bench_lateness: %s\n", ready.error().message().c_str());
        std::exit(1);
    }
    std::printf("%8.2f ms while the values were made\n", state.worst);
    for (const auto& [name, call] : calls->calls) {
        std::string one = name;
        std::string text = call;
        co_await measure(session, &state, std::move(one), std::move(text), options, out);
    }
    state.over = true;
}

} // namespace

int main(int count, char** arguments) {
    const long size = count > 1 ? std::atol(arguments[1]) : 1'000'000;
    if (size < 1000) {
        std::fprintf(stderr, "usage: bench_lateness [SIZE] [NAME…]\n");
        return 2;
    }
    const plan calls = every_builtin(size, {arguments + std::min(count, 2), arguments + count});
    if (!calls.complete) return 1;
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    host::engine engine(loop, host::engine_parts{});
    auto session = engine.new_session();
    if (!session) return 1;
    measurements result;
    coro::spawn(loop, measure_all(&loop, session->get(), &calls, size, &result),
                [](std::exception_ptr thrown) {
                    if (thrown) std::abort();
                });
    io.run();
    constexpr double most = 10; // ms
    std::size_t over = 0;
    for (const auto& [late, line] : result.calls) {
        over += late > most ? 1 : 0;
        if (late > most / 2) std::printf("%s\n", line.c_str());
    }
    const auto latest =
        std::max_element(result.builtins.begin(), result.builtins.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::printf("%zu calls of %zu builtins: latest %.2f ms (%s), %zu over %.0f ms\n",
                result.calls.size(), result.builtins.size(),
                latest == result.builtins.end() ? 0 : latest->second,
                latest == result.builtins.end() ? "" : latest->first.c_str(), over, most);
    return over == 0 ? 0 : 1;
}
