// Runs commands at the least cost: posix_spawn(3) and waitpid(2), one after another. For the benchmark only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/native/cost.h"
#include "netlink/network_namespace.h"
#include "netlink/status.h"
#include "process/command.h"

namespace knp::bench {

class PreparedCommands {
 public:
  // Programs, found in PATH, with their arguments. Each reads `input` from its standard input.
  netlink::Status Prepare(std::vector<std::vector<std::string>> commands, const std::vector<uint8_t>& input);

  // Runs all of them once. EIO with the command and its standard error if one fails.
  netlink::Status Run(Cost* cost);

 private:
  netlink::Status RunOne(const process::Command& command, Cost* cost);
  netlink::Status Failed(const process::Command& command, int status);

  std::vector<process::Command> commands_;
  process::Environment environment_ = process::Environment::OfThisProcess();
  netlink::Descriptor input_;
  netlink::Descriptor output_;
};

}  // namespace knp::bench
