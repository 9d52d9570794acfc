#include "ipset/session.h"

#include <linux/netfilter/ipset/ip_set.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <vector>

#include "ipset/options.h"

namespace knp::ipset {
namespace {

using netlink::FailureKind;
using netlink::Status;

// libipset prints listings only, and is asked for none. Called from C: no object here has a destructor.
int Discard(LibrarySession* /*session*/, void* /*context*/, const char* /*format*/, ...) {
  return 0;
}

// The numbers that kernels answer to ipset's commands: errno, ipset's own, those of the set types.
struct Range {
  int first;
  int last;
};
constexpr Range kNumbers[] = {
    {1, 133},
    {IPSET_ERR_PRIVATE + 1, IPSET_ERR_PRIVATE + 31},
    {IPSET_ERR_TYPE_SPECIFIC, IPSET_ERR_TYPE_SPECIFIC + 15},
};

const char* FamilyName(uint8_t family) {
  if (family == AF_INET) return " inet";
  return family == AF_INET6 ? " inet6" : "";
}

std::mutex& LeftMutex() {
  static std::mutex mutex;
  return mutex;
}

// Sessions that are no longer used. Guarded by LeftMutex(), which nobody holds for long.
std::vector<std::unique_ptr<Session>>& LeftSessions() {
  static std::vector<std::unique_ptr<Session>> sessions;
  return sessions;
}

}  // namespace

void EndSession(std::unique_ptr<Session> session) {
  if (!session) return;
  const std::unique_lock<std::mutex> lock(LibraryMutex(), std::try_to_lock);
  if (lock.owns_lock()) {
    session.reset();
    return;
  }
  const std::lock_guard<std::mutex> left(LeftMutex());
  LeftSessions().push_back(std::move(session));
}

void EndLeftSessions() {
  const std::lock_guard<std::mutex> left(LeftMutex());
  LeftSessions().clear();
}

Session::Session(const Library& library)
    : library_(library), session_(library.call.session_init(Discard, nullptr)) {
  if (session_ != nullptr) data_ = library_.call.session_data(session_);
}

Session::~Session() {
  if (session_ != nullptr) library_.call.session_fini(session_);
}

void Session::Begin(bool tolerate) {
  if (tolerate) {
    library_.call.envopt_set(session_, kEnvironmentExist);
  } else {
    library_.call.envopt_unset(session_, kEnvironmentExist);
  }
  library_.call.data_reset(data_);
  library_.call.session_report_reset(session_);
}

void Session::Begin(const std::string& set_name, bool tolerate) {
  Begin(tolerate);
  Set(library_.option.set_name, set_name.c_str());
}

Status Session::Create(const SetReference& set, const Rest& parameters, bool tolerate) {
  Begin(set.name, tolerate);
  const LibraryOptions& option = library_.option;
  Set(option.type_name, TypeName(set.type));
  const LibraryType* type = library_.call.type_get(session_, static_cast<int>(Command::kCreate));
  uint32_t line = 0;
  if (type == nullptr) return TakeFailure(Command::kCreate, &line);
  Set(option.type, type);
  if (set.family != AF_UNSPEC) Set(option.family, &set.family);
  Status status = CheckRevision(set.type, *type, Verb::kCreate, parameters);
  if (status.ok()) status = SetParameters(parameters, library_, data_);
  return status.ok() ? Run(Command::kCreate) : status;
}

Status Session::Destroy(const std::optional<std::string>& name) {
  Begin(false);
  if (name) Set(library_.option.set_name, name->c_str());
  return Run(Command::kDestroy);
}

Status Session::Flush(const std::optional<std::string>& name) {
  Begin(false);
  if (name) Set(library_.option.set_name, name->c_str());
  return Run(Command::kFlush);
}

Status Session::Swap(const std::string& name, const std::string& other) {
  Begin(name, false);
  Set(library_.option.set_name2, other.c_str());
  return Run(Command::kSwap);
}

Status Session::Rename(const std::string& name, const std::string& new_name) {
  Begin(name, false);
  Set(library_.option.set_name2, new_name.c_str());
  return Run(Command::kRename);
}

Status Session::FindType(const SetReference& set, const LibraryType** out) {
  Begin(set.name, false);
  uint32_t line = 0;
  *out = library_.call.type_get(session_, static_cast<int>(Command::kAdd));
  if (*out == nullptr) return TakeFailure(Command::kAdd, &line);
  const auto* family = static_cast<const uint8_t*>(library_.call.data_get(data_, library_.option.family));
  const uint8_t actual = family == nullptr ? set.family : *family;
  if (std::string_view(TypeName(set.type)) == (*out)->name && actual == set.family) return {};
  return Status::Errno(IPSET_ERR_TYPE_MISMATCH,
                       std::string("the set is of type ") + (*out)->name + FamilyName(actual));
}

Status Session::WriteEntries(Command command, const SetReference& set, const LibraryType* type,
                             const Operation* operations, size_t count, size_t* failed) {
  bool ok = true;
  Status status;
  size_t sent = 0;
  for (; sent < count && ok; sent++) {
    Begin(set.name, true);
    status = SetEntry(set, type, operations[sent].entry);
    if (!status.ok()) break;
    // With a line number other than 0 libipset gathers entries. The kernel names a bad entry by this number.
    ok = library_.call.cmd(session_, static_cast<int>(command), static_cast<uint32_t>(sent + 1)) == 0;
  }
  uint32_t line = status.ok() ? 0 : static_cast<uint32_t>(sent + 1);
  if (!ok) status = TakeFailure(command, &line);
  // After a failure too, so that libipset's buffer is empty. If this fails, the cause is an earlier entry.
  if (library_.call.commit(session_) != 0) status = TakeFailure(command, &line);
  *failed = line >= 1 && line <= count ? line - 1 : count;
  return status;
}

Status Session::WriteEntryStrictly(Command command, const SetReference& set, const LibraryType* type,
                                   const Entry& entry) {
  Begin(set.name, false);
  Status status = SetEntry(set, type, entry);
  return status.ok() ? Run(command) : status;
}

// libipset reports a missing entry as a notice, and every other failure as an error.
Status Session::Test(const SetReference& set, const LibraryType* type, const Entry& entry, bool* found) {
  Begin(set.name, false);
  Status status = SetEntry(set, type, entry);
  if (!status.ok()) return status;
  *found = library_.call.cmd(session_, static_cast<int>(Command::kTest), 0) == 0;
  if (*found || library_.call.session_report_type(session_) == kReportNotice) return {};
  uint32_t line = 0;
  return TakeFailure(Command::kTest, &line);
}

Status Session::SetEntry(const SetReference& set, const LibraryType* type, const Entry& entry) {
  const LibraryOptions& option = library_.option;
  // libipset reads as many bytes of an address as the family has: it must be set before.
  if (set.family != AF_UNSPEC) Set(option.family, &set.family);
  Set(option.type, type);
  if (set.family != AF_UNSPEC && (entry.fields & kAddress) != 0) Set(option.ip, entry.address.data());
  if ((entry.fields & kPrefix) != 0) Set(option.cidr, &entry.prefix);
  if ((entry.fields & kProtocol) != 0) Set(option.protocol, &entry.protocol);
  if ((entry.fields & kPort) != 0) Set(option.port, &entry.port);
  if (set.family != AF_UNSPEC && (entry.fields & kAddress2) != 0) Set(option.ip2, entry.address2.data());
  if ((entry.fields & kPrefix2) != 0) Set(option.cidr2, &entry.prefix2);
  if (entry.rest.empty()) return {};
  Status status = CheckRevision(set.type, *type, Verb::kAdd, entry.rest);
  return status.ok() ? SetExtensions(entry.rest, library_, data_) : status;
}

Status Session::Run(Command command) {
  uint32_t line = 0;
  if (library_.call.cmd(session_, static_cast<int>(command), 0) == 0) return {};
  return TakeFailure(command, &line);
}

Status Session::TakeFailure(Command command, uint32_t* line) {
  const std::string text = TakeReport(line);
  const auto known = numbers_.find({command, text});
  const int number = known != numbers_.end() ? known->second : FindNumber(command, text);
  numbers_.emplace(std::make_pair(command, text), number);
  return number != 0 ? Status::Errno(number, text) : Status::Of(FailureKind::kIpset, text);
}

// libipset has no errno getter, and its messages change from version to version. But it makes the message for
// a given number, which depends on the command and on the type of the set: the numbers are tried one by one.
int Session::FindNumber(Command command, const std::string& text) {
  for (const Range& range : kNumbers) {
    for (int number = range.first; number <= range.last; number++) {
      library_.call.errcode(session_, static_cast<int>(command), number);
      uint32_t line = 0;
      if (TakeReport(&line) == text) return number;
    }
  }
  return 0;
}

// `Error in line 17: Hash is full, cannot add more elements\n` → 17 and the sentence.
std::string Session::TakeReport(uint32_t* line) {
  const char* report = library_.call.session_report_msg(session_);
  std::string text = report == nullptr ? "" : report;
  library_.call.session_report_reset(session_);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  int prefix = 0;
  *line = 0;
  if (std::sscanf(text.c_str(), "Error in line %u: %n", line, &prefix) == 1 && prefix > 0) {
    text.erase(0, static_cast<size_t>(prefix));
  }
  return text;
}

}  // namespace knp::ipset
