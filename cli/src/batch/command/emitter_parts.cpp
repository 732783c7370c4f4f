#include "batch/command/emitter_parts.hpp"

#include "batch/results/output_mark.hpp"

#include <string>
#include <utility>

namespace heddle::cli {

result_emitter::parts emitter_parts(const batch_request& asked, run_files& files,
                                    ports::worker_port& workers, console& output) {
    store::run_store* const journal = files.journal();
    batch_outputs& outputs = files.outputs();
    result_emitter::parts to{workers, journal, outputs.results(), outputs.letters(), output, {}, {},
                             {},      {}};
    to.holds_status = asked.writes_to_standard_output() && output.traits().out_is_terminal;
    to.is_stream = !asked.has_place_beside_results();
    to.ordered = asked.ordered;
    to.errors_in_output = asked.errors_in_output;
    to.file = outputs.result_file();
    if (!journal) return to;
    to.keep_mark = [journal](std::string mark) {
        return journal->set_manifest({{output_mark_entry, std::move(mark), {}}});
    };
    to.note_writing = [journal, stream = outputs.results().stream()](bool begins) {
        return journal->set_manifest({{open_batch_entry, begins ? stream : std::string(), {}}});
    };
    return to;
}

} // namespace heddle::cli
