#include "journal/answer_run.hpp"

#include "batch/run_folder/run_store_access.hpp"
#include "batch/steering/opened_run.hpp"
#include "parking/parked_questions.hpp"
#include "report_error.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <utility>

namespace heddle::cli {

namespace {

error no_question(const answer_request& asked, std::size_t count) {
    if (count == 0) {
        return error(errc::not_found, "the row \"" + asked.row + "\" has no open question")
            .with_hint("'heddle runs show' lists the questions");
    }
    return error(errc::not_found, "the row \"" + asked.row + "\" has " + std::to_string(count) +
                                      " open questions, and none is number " +
                                      std::to_string(asked.question));
}

coro::task<result<void>> keep_answer(const answer_request* asked, opened_run* run,
                                     std::string* question) {
    if (run->about.is_single()) {
        co_return error(errc::invalid_argument,
                        "the run in " + run->folder + " is one of 'heddle run', not a batch")
            .with_hint("start its command again on a terminal: it asks there");
    }
    const auto workers = fs::make_worker_pool(*run->loop, 1);
    // For writing: refused while a process works on the run, which would not see the answer.
    auto opened = open_journal(*workers, run->folder, journal_durability::fsync, false);
    if (!opened) co_return std::move(opened).error();
    const std::unique_ptr<store::run_store> journal = *std::move(opened);
    result<store::run_row> row = co_await find_row(run, asked->row);
    if (!row) co_return std::move(row).error();
    result<std::vector<ports::step_record>> records =
        co_await journal->records_of(row->known.row, run->context());
    if (!records) co_return std::move(records).error();
    std::vector<kept_question> open;
    if (row->known.status == ports::row_status::begun) open = open_questions(*records);
    if (open.size() < asked->question) co_return no_question(*asked, open.size());
    const kept_question& which = open[asked->question - 1];
    auto answer = answer_in(which.asked, utf8::replace_invalid(asked->text));
    if (!answer) {
        std::string choices;
        for (const std::string& each : which.asked.choices)
            choices += (choices.empty() ? "" : ", ") + each;
        co_return error(errc::invalid_argument, "the answer is not one of the choices")
            .with_hint("one of: " + choices);
    }
    *question = which.asked.text;
    result<void> kept = co_await journal->append(
        row->known.row, record_of_answer(which, *std::move(answer)), run->context());
    co_return kept;
}

} // namespace

exit_code answer_run(const answer_request& asked, console& output) {
    std::string question;
    const auto kept =
        with_run(asked.run, [&](opened_run& run) { return keep_answer(&asked, &run, &question); });
    if (!kept) return report_error(kept.error(), exit_code::usage, asked.json, output);
    if (asked.json) {
        output.out_data(setup::json_line(boost::json::object{
            {"ok", true}, {"row", utf8::replace_invalid(asked.row)}, {"question", question}}));
        return exit_code::done;
    }
    output.out("answered: " + utf8::printable_line(utf8::shortened(question, 500)) +
               "\nthe command of the batch continues the row\n");
    return exit_code::done;
}

} // namespace heddle::cli
