#include "bench/native/entries.h"

#include <sys/socket.h>

#include <cerrno>

#include "ipset/library.h"

namespace knp::bench {
namespace {

using ipset::Library;
using ipset::LibrarySession;
using netlink::Status;

// Entries that are sent together: as many as a buffer of libipset holds, with room to spare.
constexpr uint32_t kEntriesPerCommit = 64;

int PrintNothing(LibrarySession* /*session*/, void* /*context*/, const char* /*format*/, ...) {
  return 0;
}

Status Failed(const Library& library, LibrarySession* session) {
  const char* report = library.call.session_report_msg(session);
  return Status::Of(netlink::FailureKind::kIpset,
                    report == nullptr ? "libipset failed without a message" : report);
}

Status AddAll(const Library& library, LibrarySession* session, const std::string& set,
              const std::vector<PreparedEntry>& entries) {
  const ipset::LibraryOptions& option = library.option;
  const int add = static_cast<int>(ipset::Command::kAdd);
  ipset::LibraryData* data = library.call.session_data(session);
  library.call.envopt_set(session, ipset::kEnvironmentExist);
  library.call.data_set(data, option.set_name, set.c_str());
  const ipset::LibraryType* type = library.call.type_get(session, add);
  if (type == nullptr) return Failed(library, session);
  const uint8_t family = AF_INET;
  uint32_t line = 0;
  for (const PreparedEntry& entry : entries) {
    // A commit clears the data.
    library.call.data_set(data, option.set_name, set.c_str());
    library.call.data_set(data, option.family, &family);
    library.call.data_set(data, option.type, type);
    library.call.data_set(data, option.ip, entry.address.data());
    if (entry.protocol != 0) {
      library.call.data_set(data, option.protocol, &entry.protocol);
      library.call.data_set(data, option.port, &entry.port);
    }
    if (library.call.cmd(session, add, ++line) != 0) return Failed(library, session);
    if (line % kEntriesPerCommit == 0 && library.call.commit(session) != 0) return Failed(library, session);
  }
  return library.call.commit(session) == 0 ? Status{} : Failed(library, session);
}

}  // namespace

Status AddEntries(const std::string& set, const std::vector<PreparedEntry>& entries, Cost* cost) {
  const std::lock_guard<std::mutex> lock(ipset::LibraryMutex());
  const Library* library = nullptr;
  Status status = ipset::LoadLibrary(&library);
  if (!status.ok()) return status;
  const Meter meter;
  LibrarySession* session = library->call.session_init(PrintNothing, nullptr);
  if (session == nullptr) return Status::Errno(ENOMEM, "libipset has no session");
  status = AddAll(*library, session, set, entries);
  library->call.session_fini(session);
  meter.Stop(cost);
  return status;
}

}  // namespace knp::bench
