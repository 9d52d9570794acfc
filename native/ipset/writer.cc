#include "ipset/writer.h"

#include <linux/netfilter/ipset/ip_set.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "ipset/options.h"
#include "ipset/session.h"

namespace knp::ipset {
namespace {

using netlink::Failure;
using netlink::Status;

// Entries that are committed together. Fewer than libipset's buffer of one page holds of most types; where it
// holds less (IPv6 with two addresses) libipset commits in between by itself.
constexpr size_t kLargestCommit = 64;

Status Unnamed() {
  return Status::Errno(EINVAL, "a set without a name");
}

bool IsEntryVerb(Verb verb) {
  return verb == Verb::kAdd || verb == Verb::kDelete;
}

class Writer {
 public:
  Writer(Session* session, const std::vector<Operation>& operations)
      : session_(session), operations_(operations) {
    session_->ForgetTypes();
  }

  Status Test(bool* found) {
    const Operation& operation = operations_.front();
    const LibraryType* type = nullptr;
    Status status = operation.set.name.empty() ? Unnamed() : FindType(operation.set, &type);
    return status.ok() ? session_->Test(operation.set, type, operation.entry, found) : status;
  }

  std::vector<Failure> Run() {
    for (size_t next = 0; next < operations_.size();) {
      const size_t end = EndOfRun(next);
      if (IsEntryVerb(operations_[next].verb)) {
        WriteEntries(next, end);
      } else {
        Record(next, WriteSet(operations_[next]));
      }
      next = end;
    }
    return std::move(failures_);
  }

 private:
  void Record(size_t index, Status status) {
    if (!status.ok()) failures_.push_back(Failure{static_cast<uint32_t>(index), std::move(status)});
  }

  // End of the run of operations, from `first` on, that all add entries to one set, or all delete entries
  // from it; first + 1 for other operations.
  size_t EndOfRun(size_t first) const {
    const Operation& head = operations_[first];
    size_t end = first + 1;
    if (!IsEntryVerb(head.verb)) return end;
    const auto fits = [&head](const Operation& next) {
      return next.verb == head.verb && next.strict == head.strict && next.set == head.set;
    };
    while (end < operations_.size() && fits(operations_[end])) end++;
    return end;
  }

  Status WriteSet(const Operation& operation) {
    if (operation.verb == Verb::kFlushAll) return session_->Flush(std::nullopt);
    if (operation.verb == Verb::kDestroyAll) return session_->Destroy(std::nullopt);
    const std::string& name = operation.set.name;
    // A command without a name means every set.
    if (name.empty()) return Unnamed();
    switch (operation.verb) {
      case Verb::kCreate:
        return Create(operation);
      case Verb::kFlush:
        return session_->Flush(name);
      case Verb::kDestroy:
        return session_->Destroy(name);
      case Verb::kSwap:
      case Verb::kRename: {
        const std::string other = OtherName(operation.entry.rest);
        if (other.empty()) return Unnamed();
        return operation.verb == Verb::kSwap ? session_->Swap(name, other) : session_->Rename(name, other);
      }
      default:
        return Status::Errno(EINVAL, "no such operation");
    }
  }

  // A set that exists with the same parameters is not an error. The kernel compares all of them but the hash
  // size, which may differ, and the family, which may not: that is compared here.
  Status Create(const Operation& operation) {
    const Rest& parameters = operation.entry.rest;
    Status created = session_->Create(operation.set, parameters, false);
    if (!created.is_errno(EEXIST) || operation.strict) return created;
    const LibraryType* type = nullptr;
    Status same = FindType(operation.set, &type);
    if (same.is_errno(IPSET_ERR_TYPE_MISMATCH)) return Status::Errno(EEXIST, same.message);
    if (!same.ok()) return same;
    return session_->Create(operation.set, parameters, true);
  }

  // The record of a set is outdated when another process has created the set anew meanwhile: the session asks
  // again before the failure counts.
  Status FindType(const SetReference& set, const LibraryType** type) {
    Status status = session_->FindType(set, type);
    if (!status.is_errno(IPSET_ERR_TYPE_MISMATCH)) return status;
    session_->ForgetTypes();
    return session_->FindType(set, type);
  }

  void WriteEntries(size_t first, size_t end) {
    const Operation& head = operations_[first];
    const LibraryType* type = nullptr;
    Status status = head.set.name.empty() ? Unnamed() : FindType(head.set, &type);
    if (!status.ok()) {
      for (size_t i = first; i < end; i++) Record(i, status);
      return;
    }
    const Command command = head.verb == Verb::kAdd ? Command::kAdd : Command::kDelete;
    if (head.strict) {
      // One by one: those that are sent again after a failure would exist already.
      for (size_t i = first; i < end; i++) {
        Record(i, session_->WriteEntryStrictly(command, head.set, type, operations_[i].entry));
      }
      return;
    }
    size_t size = kLargestCommit;
    for (size_t next = first; next < end;) {
      const size_t count = std::min(size, end - next);
      size_t failed = 0;
      status = session_->WriteEntries(command, head.set, type, &operations_[next], count, &failed);
      if (status.ok()) {
        next += count;
        size = std::min(size * 2, kLargestCommit);
        continue;
      }
      // Small after a failure: a full set refuses all that follows, and each attempt encodes all of it again.
      size = 1;
      if (failed == count && count > 1) continue;  // libipset has not reported which one: one by one
      const size_t index = next + (failed == count ? 0 : failed);
      Record(index, std::move(status));
      next = index + 1;
    }
  }

  Session* session_;
  const std::vector<Operation>& operations_;
  std::vector<Failure> failures_;
};

}  // namespace

std::vector<Failure> Write(Session* session, const std::vector<Operation>& operations) {
  return Writer(session, operations).Run();
}

Status Test(Session* session, const std::vector<Operation>& operation, bool* found) {
  return Writer(session, operation).Test(found);
}

}  // namespace knp::ipset
