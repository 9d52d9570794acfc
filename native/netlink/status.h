// Failures are values everywhere in native/. No exception is thrown or caught.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace knp::netlink {

enum class Fault : uint8_t {
  kNone,
  kErrno,           // an errno of the kernel or a system call, in Status::error
  kTimeout,         // no reply within the limit
  kUnknownOutcome,  // replies were lost after the kernel may have applied the request
  kMalformedReply,  // a reply that breaks the protocol
  kTruncated,       // a reply was longer than the buffer, which is larger now; it never leaves this folder
  kInterrupted,     // a listing kept changing (NLM_F_DUMP_INTR), or its replies were lost, at every attempt
  kClosed,          // the client was closed
  kLibrary,         // libipset is missing or unusable
  kIpset,           // libipset refused, with a message for which no number is known
};

struct [[nodiscard]] Status {
  Fault fault = Fault::kNone;
  int error = 0;        // positive errno, with kErrno only
  std::string message;  // the kernel's words beside the number (NLMSGERR_ATTR_MSG), or our own; may be empty

  bool ok() const { return fault == Fault::kNone; }
  bool is_errno(int number) const { return fault == Fault::kErrno && error == number; }

  static Status Errno(int number, std::string message = {}) {
    return Status{Fault::kErrno, number, std::move(message)};
  }
  static Status Of(Fault fault, std::string message = {}) { return Status{fault, 0, std::move(message)}; }
};

}  // namespace knp::netlink
