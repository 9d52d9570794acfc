// Failures are values everywhere in native/. No exception is thrown or caught.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace knp::netlink {

enum class FailureKind : uint8_t {
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

// The step that failed, where a hint depends on it.
enum class Step : uint8_t {
  kOther,
  kOpenNamespace,   // Status::path has the path as it was given
  kEnterNamespace,  // setns(2)
  kReply,           // the kernel refused a request, and Status::message has its words (NLMSGERR_ATTR_MSG)
};

struct [[nodiscard]] Status {
  FailureKind kind = FailureKind::kNone;
  int error = 0;        // positive errno, with kErrno only
  std::string message;  // the kernel's words beside the number (NLMSGERR_ATTR_MSG), or our own; may be empty
  Step step = Step::kOther;
  std::string path;  // of a file, with kOpenNamespace only

  bool ok() const { return kind == FailureKind::kNone; }
  bool is_errno(int number) const { return kind == FailureKind::kErrno && error == number; }

  static Status Errno(int number, std::string message = {}) {
    return Status{FailureKind::kErrno, number, std::move(message), Step::kOther, {}};
  }
  static Status Reply(int number, std::string words) {
    const Step step = words.empty() ? Step::kOther : Step::kReply;
    return Status{FailureKind::kErrno, number, std::move(words), step, {}};
  }
  static Status OpenNamespace(int number, const std::string& path) {
    return Status{FailureKind::kErrno, number, "cannot open network namespace " + path, Step::kOpenNamespace,
                  path};
  }
  static Status EnterNamespace(int number) {
    return Status{
        FailureKind::kErrno, number, "cannot enter the network namespace", Step::kEnterNamespace, {}};
  }
  static Status Of(FailureKind kind, std::string message = {}) {
    return Status{kind, 0, std::move(message), Step::kOther, {}};
  }
};

}  // namespace knp::netlink
