// Questions to a run.
#pragma once

#include "store/run_file.hpp"

#include <heddle/store/run_store.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle::store {

/// Reads what was committed, over a connection of its own, which the first question opens. Every
/// call blocks. Errors: io_error that names the file. Threads: any; one question at a time.
class run_reader {
public:
    explicit run_reader(std::string folder) : folder_(std::move(folder)) {}

    [[nodiscard]] result<run_sums> sums();
    [[nodiscard]] result<std::vector<ports::known_row>> known_rows();
    [[nodiscard]] result<std::vector<ports::known_row>> rows_before(std::int64_t at,
                                                                    std::size_t count);
    [[nodiscard]] result<std::vector<ports::step_record>> records_of(std::uint64_t row);
    [[nodiscard]] result<ports::row_work> work_of(std::uint64_t row);
    [[nodiscard]] result<std::vector<row_failure>> failures(std::uint64_t first, std::size_t count,
                                                            ports::row_status status);
    [[nodiscard]] result<std::vector<end_place>> last_ends(std::size_t count);
    [[nodiscard]] result<std::vector<end_place>> ends_after(std::uint64_t number,
                                                            std::size_t count);
    [[nodiscard]] result<std::vector<row_records>> rows_with_open_requests(std::uint64_t first,
                                                                           std::size_t count);
    [[nodiscard]] result<std::vector<std::uint64_t>> begun_rows_with(const std::string& name,
                                                                     std::uint64_t first,
                                                                     std::size_t count);
    [[nodiscard]] result<std::vector<ports::row_end>> ends_to_emit(std::uint64_t first,
                                                                   std::size_t count);
    [[nodiscard]] result<std::vector<manifest_entry>> manifest();
    /// With texts, values and errors when `whole`.
    [[nodiscard]] result<std::vector<run_row>> rows(std::uint64_t first, std::size_t count,
                                                    std::optional<ports::row_status> status,
                                                    bool whole);
    [[nodiscard]] result<std::vector<content_record>> records_with(ports::digest128 content);
    [[nodiscard]] result<row_sample> sample_rows();

private:
    /// Asks with the connection open, and names the file in what fails.
    template <class Answer, class Question>
    [[nodiscard]] result<Answer> ask(Question&& question);

    std::string folder_;
    std::mutex lock_;
    std::optional<sqlite_database> database_;
};

} // namespace heddle::store
