// Everything that a C++ program needs to run workflows (docs/embedding).
#pragma once

#include <heddle/answer.hpp>
#include <heddle/call_options.hpp>
#include <heddle/convert.hpp>
#include <heddle/failure.hpp>
#include <heddle/file_source.hpp>
#include <heddle/function.hpp>
#include <heddle/job.hpp>
#include <heddle/journal_options.hpp>
#include <heddle/json.hpp>
#include <heddle/memory_source.hpp>
#include <heddle/model_provider.hpp>
#include <heddle/program.hpp>
#include <heddle/runtime.hpp>
#include <heddle/runtime_options.hpp>
#include <heddle/runtime_stats.hpp>
#include <heddle/version.hpp>
