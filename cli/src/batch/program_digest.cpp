#include "batch/program_digest.hpp"

#include "batch/batch_files.hpp"
#include "batch/run_identity.hpp"

#include <heddle/rows/row.hpp>
#include <heddle/setup/input_files.hpp>

#include <filesystem>
#include <initializer_list>

namespace heddle::cli {

namespace {

/// Parts of a digest, each with its length: no two lists of parts are the same text.
class digested_text {
public:
    void add(std::string_view name, std::initializer_list<std::string_view> texts) {
        add(name);
        for (const std::string_view each : texts) add(each);
    }
    [[nodiscard]] std::string digest() const { return hex_of(rows::digest_of_content(all_)); }

private:
    void add(std::string_view text) {
        all_ += std::to_string(text.size()) + ':' + std::string(text);
    }
    std::string all_;
};

/// A file as it is named from the folder of the workflow.
std::string name_beside(const std::string& workflow, const std::string& file) {
    const std::filesystem::path folder =
        std::filesystem::path(absolute_path(workflow)).parent_path();
    return std::filesystem::path(absolute_path(file)).lexically_relative(folder).string();
}

} // namespace

std::string program_digest(const program_parts& of, run_manifest& manifest) {
    digested_text all;
    const workflow_options& options = of.asked.options;
    all.add("workflow", {of.text});
    for (const auto& [name, text] : of.tools.imported().texts())
        all.add("import", {name_beside(of.asked.file, name), text});
    of.tools.imported().close();
    if (!of.reads.empty()) all.add("read by the top level", {of.reads});
    for (const std::string& file : of.templates) {
        if (const auto text = setup::read_input_file(file))
            all.add("template", {name_beside(of.asked.file, file), *text});
    }
    for (const std::string& each : of.asked.inputs) all.add("input", {each});
    if (!of.asked.where.empty()) all.add("where", {of.asked.where});
    all.add("settings", {of.tools.models().asked_settings()});
    if (options.workspace != ".") all.add("workspace", {options.workspace});
    for (const std::string& each : options.index) all.add("index", {each});
    if (options.match_with_model) all.add("--match-with-model", {});
    if (const std::string& model = of.tools.models().default_model(); !model.empty())
        manifest.model = model;
    all.add("model", {manifest.model});
    return all.digest();
}

} // namespace heddle::cli
