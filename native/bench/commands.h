// The cheapest way to run commands: posix_spawn(3) and waitpid(2), one after another. For the benchmark only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cost.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::bench {

// A program, found in PATH, and its arguments.
using Command = std::vector<std::string>;

class PreparedCommands {
 public:
  // Each command reads `input` from its standard input.
  netlink::Status Prepare(std::vector<Command> commands, const std::vector<uint8_t>& input);

  // Runs all of them once. EIO with the command and its standard error if one fails.
  netlink::Status Run(Cost* cost);

 private:
  netlink::Status RunOne(size_t index, Cost* cost);
  netlink::Status Failed(size_t index, int status);

  std::vector<Command> commands_;
  std::vector<std::vector<char*>> arguments_;
  netlink::Descriptor input_;
  netlink::Descriptor output_;
};

}  // namespace knp::bench
