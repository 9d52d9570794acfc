// A program whose output is read piece by piece. While nobody reads, it waits as soon as the pipe is full.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/status.h"
#include "process/child.h"
#include "process/command.h"

namespace knp::process {

// A piece of the output. After the last one the program has ended, and is reaped.
struct Piece {
  std::string bytes;
  bool last = false;
  // Of the last piece, as in End.
  int status = 0;
  Killed killed = Killed::kNot;
  std::string errors;
};

class Reading {
 public:
  Reading(Command command, Environment environment);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // Starts the program if it has not run yet, in the namespaces of the calling thread. Waits for more than
  // `size` bytes of its output, or for its end; a piece has at most kPipe bytes more than that. The limits
  // are those of this call, and of standard error as a whole: a program that exceeds one is ended. A Status
  // is a failure to start it, or kClosed after the last piece.
  netlink::Status Read(size_t size, const Limits& limits, Piece* piece);

  // Ends the program with SIGKILL if it has not ended, and reaps it.
  void Close();

  // Ends the program in the call of Read() under way, or in the next one. Any thread may call.
  void Cancel() { cancellation_.Cancel(); }

 private:
  netlink::Status Start();
  // Reads until there are more than `size` bytes, or the output and the program have ended (`ended`).
  Killed ReadSome(size_t size, const Limits& limits, bool* ended);
  netlink::Status End(Killed killed, int* status);

  const Command command_;
  const Environment environment_;
  Cancellation cancellation_;
  std::mutex mutex_;  // one call at a time
  Output output_;
  Output errors_;
  std::vector<char> buffer_;
  pid_t child_ = 0;  // 0 when there is none to reap
  bool started_ = false;
};

}  // namespace knp::process
