#include "batch/run_folder/program_digest.hpp"

#include "batch/request/batch_files.hpp"
#include "batch/run_folder/run_identity.hpp"
#include "sources/digest_text.hpp"

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

std::filesystem::path folder_of(const std::string& workflow) {
    return std::filesystem::path(absolute_path(workflow)).parent_path();
}

/// A file as it is named from the folder of the workflow.
std::string name_beside(const std::string& workflow, const std::string& file) {
    return std::filesystem::path(absolute_path(file))
        .lexically_relative(folder_of(workflow))
        .string();
}

/// Templates by the names of their files.
imported_texts templates_beside(const program_parts& of) {
    imported_texts all;
    for (const setup::template_place& file : templates_of(of.tools)) {
        if (auto text = setup::read_template_file(file))
            all.emplace_back(name_beside(of.asked.file, file.path), *std::move(text));
    }
    return all;
}

} // namespace

imported_texts imports_of(const std::string& workflow, const import_notes& noted) {
    imported_texts all;
    for (const auto& [file, text] : noted.texts())
        all.emplace_back(name_beside(workflow, file), text);
    return all;
}

std::optional<imported_texts> read_imports(const std::string& workflow,
                                           const std::vector<std::string>& names) {
    imported_texts all;
    for (const std::string& each : names) {
        auto text = setup::read_input_file((folder_of(workflow) / each).string());
        if (!text) return std::nullopt;
        all.emplace_back(each, *std::move(text));
    }
    return all;
}

program_digests digests_of(const program_parts& of, run_manifest& manifest) {
    const workflow_options& options = of.asked.options;
    if (const std::string& model = of.tools.models().default_model(); !model.empty())
        manifest.model = model;
    const auto templates = templates_beside(of);
    const auto digest_with = [&](const std::string& reads) {
        digested_text all;
        all.add("workflow", {of.text});
        for (const auto& [name, text] : of.imports) all.add("import", {name, text});
        if (!reads.empty()) all.add("read by the top level", {reads});
        for (const auto& [name, text] : templates) all.add("template", {name, text});
        for (const std::string& each : of.asked.inputs) all.add("input", {each});
        if (!of.asked.where.empty()) all.add("where", {of.asked.where});
        all.add("settings", {of.tools.models().asked_settings()});
        if (options.workspace != ".") all.add("workspace", {options.workspace});
        for (const std::string& each : options.index) all.add("index", {each});
        if (options.match_with_model) all.add("--match-with-model", {});
        all.add("model", {manifest.model});
        return all.digest();
    };
    return {digest_with({}), digest_with(of.notes.digest_of_sources()),
            digest_with(of.notes.digest_of_reads())};
}

} // namespace heddle::cli
