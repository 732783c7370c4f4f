#include "batch/threads/worker.hpp"
