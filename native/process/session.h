// A program that runs for long: it reads its input part by part, and acknowledges each part in its output.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"
#include "process/child.h"
#include "process/command.h"

namespace knp::process {

// The answer to a part of the input.
struct Answer {
  bool acknowledged = false;
  // Bytes of it that were written to the program; it may have read fewer.
  size_t written = 0;
  // Of a program that did not acknowledge it, and has ended: as in End.
  int status = 0;
  Killed killed = Killed::kNot;
  // Standard output and standard error since the last acknowledgement.
  std::string output;
  std::string errors;
};

class Unwritten;

class Session {
 public:
  Session(Command command, Environment environment);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Starts the program if it has not run yet, in the namespaces of the calling thread; writes the input;
  // waits until its output has this text, or until it has ended. A program that exceeds a limit is ended. A
  // Status is a failure to start it, or kClosed if it has ended before: a session has one program.
  netlink::Status Exchange(const Input& input, const std::string& acknowledgement, const Limits& limits,
                           Answer* answer);

  // Closes the input, on which the program should end, and reaps it; ends it with SIGKILL after this time.
  // The session has then ended.
  void Close(std::chrono::milliseconds time);

  // Ends the program in the exchange under way, or in the next one. Any thread may call.
  void Cancel() { cancellation_.Cancel(); }

 private:
  netlink::Status Start();
  Killed Talk(const Input& input, const std::string& acknowledgement, const Limits& limits, Answer* answer);
  // Writes what the program has room for. Returns its size, in bytes.
  size_t Write(Unwritten* input);
  bool Read(Output* output, bool ready, size_t limit);
  netlink::Status End(Killed killed, Answer* answer);

  const Command command_;
  const Environment environment_;
  Cancellation cancellation_;
  std::mutex mutex_;  // one exchange at a time
  // A socket, not a pipe: to write to one whose reader has ended can be done without SIGPIPE.
  netlink::Descriptor input_;
  Output output_;
  Output errors_;
  std::vector<char> buffer_;
  pid_t child_ = 0;  // 0 when there is none to reap
  bool started_ = false;
};

}  // namespace knp::process
