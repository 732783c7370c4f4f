// Programs that a workflow runs.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
