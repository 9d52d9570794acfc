// The cost of a piece of work: time, CPU time, and numbers of calls. For the benchmark only.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace knp::bench {

struct Cost {
  // In ns. `user` and `system` are of all threads of this process, `children` of the children that ended.
  uint64_t wall = 0;
  uint64_t user = 0;
  uint64_t system = 0;
  uint64_t children = 0;
  uint64_t system_calls = 0;  // of this process
  uint64_t messages = 0;      // sent by netlink
  uint64_t processes = 0;
};

// Measures from its construction to Stop().
class Meter {
 public:
  Meter();
  // Adds the times since the construction.
  void Stop(Cost* cost) const;

 private:
  uint64_t wall_;
  rusage self_{};
  rusage children_{};
};

}  // namespace knp::bench
