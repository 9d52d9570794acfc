// One session of libipset: the calls that write sets, with failures as values.
//
// A session opens its own netlink socket in the network namespace of the thread that uses it first. Only
// under LibraryMutex().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ipset/library.h"
#include "ipset/types.h"
#include "netlink/status.h"

namespace knp::ipset {

class Session {
 public:
  explicit Session(const Library& library);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False when libipset could not make one, for lack of memory: nothing else may be called then.
  bool open() const { return session_ != nullptr; }

  // Forgets which type each set has. The library remembers it for all sessions, but another process may have
  // created a set anew.
  void ForgetTypes() { library_.call.cache_del(nullptr); }

  // With `tolerate`, a set that exists is not an error if the kernel finds it the same, whatever its family.
  netlink::Status Create(const SetReference& set, const Rest& parameters, bool tolerate);
  // Destroy and flush one set; every set, when there is no name.
  netlink::Status Destroy(const std::optional<std::string>& name);
  netlink::Status Flush(const std::optional<std::string>& name);
  // Exchanges the contents of two sets, or renames the first.
  netlink::Status Swap(const std::string& name, const std::string& other);
  netlink::Status Rename(const std::string& name, const std::string& new_name);

  // Looks up the set in the kernel, once after ForgetTypes(). IPSET_ERR_TYPE_MISMATCH when it is not of the
  // type and family that `set` says.
  netlink::Status FindType(const SetReference& set, const LibraryType** out);

  // Adds (kAdd) or deletes (kDelete) the entries of `count` operations on one set, all in one message or a
  // few. An entry that exists already, or is absent already, is not an error. The kernel stops at the first
  // bad one: `*failed` is its place, or `count` when libipset did not report it. Later ones have to be sent
  // again.
  netlink::Status WriteEntries(Command command, const SetReference& set, const LibraryType* type,
                               const Operation* operations, size_t count, size_t* failed);
  // The same for one entry, but it is an error if the entry exists already, or is absent already.
  netlink::Status WriteEntryStrictly(Command command, const SetReference& set, const LibraryType* type,
                                     const Entry& entry);
  // Whether the set has the entry, or matches it.
  netlink::Status Test(const SetReference& set, const LibraryType* type, const Entry& entry, bool* found);

 private:
  // Clears the data of an earlier call, which libipset would use for this one. With `tolerate`, it is no
  // error if the object exists already (IPSET_ENV_EXIST), or is absent when it is deleted.
  void Begin(bool tolerate);
  void Begin(const std::string& set_name, bool tolerate);
  void Set(int option, const void* value) { library_.call.data_set(data_, option, value); }
  // Sets an entry of a set of this type; an error for an attribute that libipset does not know.
  netlink::Status SetEntry(const SetReference& set, const LibraryType* type, const Entry& entry);
  netlink::Status Run(Command command);
  // Takes libipset's report about the failed `command`; `*line` is 0 when it names none.
  netlink::Status TakeFailure(Command command, uint32_t* line);
  int FindNumber(Command command, const std::string& text);
  std::string TakeReport(uint32_t* line);

  const Library& library_;
  LibrarySession* session_;
  LibraryData* data_ = nullptr;
  std::map<std::pair<Command, std::string>, int> numbers_;  // found by FindNumber()
};

// Ends a session. If another thread has LibraryMutex(), the next thread that gets it ends the session: this
// never waits.
void EndSession(std::unique_ptr<Session> session);
// Ends those that were left. Under LibraryMutex().
void EndLeftSessions();

}  // namespace knp::ipset
