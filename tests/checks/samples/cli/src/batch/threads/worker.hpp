#include "batch/run.hpp"
