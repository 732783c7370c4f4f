#include "starter_template.hpp"

namespace heddle::cli {

std::string starter_template(const std::string& name) {
    constexpr const char* body = R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- docs/reference/templates.md describes every element. Check this file with: heddle tasks check FILE -->
<task name="NAME" type="atomic" subtype="standard">
  <!-- What the task is for: "heddle tasks match" and subtasks find it by these words. -->
  <description>Sums up a text</description>

  <!-- The inputs of a call. Leave <inputs> out to take any. -->
  <inputs>
    <input name="text">The text</input>
    <input name="length" type="string" default='"one sentence"'>How long the summary is to be</input>
  </inputs>

  <!-- The prompt. {{name}}, {{name.field}} and {{name[0]}} stand for inputs. -->
  <instructions>
    Sum up the text in {{length}}.

    {{text}}
  </instructions>
  <system>You write plainly.</system>

  <!-- Without these, what the run is configured for holds.
  <model>openai:gpt-4o-mini</model>
  <temperature>0.2</temperature>
  <max_tokens>500</max_tokens>
  <timeout>60</timeout>
  -->

  <!-- For a response in JSON: a schema, and how often to ask again when the response does not fit.
  <output_format type="json" schema="string[]"/>
  <retries>2</retries>
  -->

  <!-- Files that the model is shown.
  <file_paths><path>docs/style.md</path></file_paths>
  -->
</task>
)";
    std::string text = body;
    text.replace(text.find("NAME"), 4, name);
    return text;
}

} // namespace heddle::cli
