// rtnetlink of one network namespace: sends messages, with the names of links replaced by indexes. Every
// method blocks; call it off the event loop. Any thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/batch.h"
#include "netlink/socket.h"
#include "netlink/status.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

class Client {
 public:
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

  // Sends a message that only reads; with NLM_F_DUMP, repeatedly while its answer is interrupted. `out` has
  // the answer, message by message, each with its nlmsghdr and padded to 4 bytes.
  netlink::Status Read(Encoded message, std::vector<uint8_t>* out);

  // Sends messages that change something, in their order; returns those that failed.
  std::vector<netlink::Failure> Apply(std::vector<Encoded> messages);

 private:
  // The result of a batch's look-up of a name: the index, or the reason why there is none.
  struct Resolved {
    int32_t index = 0;
    netlink::Status status;
  };
  using Names = std::map<std::string, Resolved>;
  // Network namespaces that messages of a batch refer to, by their paths: open until they are sent.
  using Namespaces = std::map<std::string, netlink::Descriptor>;

  netlink::Status FindLink(const std::string& name, Link* out);
  Resolved ResolveNow(const std::string& link);
  const Resolved& Resolve(const std::string& link, netlink::Batch* batch, Names* names);
  static netlink::Status OpenNamespace(const std::string& path, Namespaces* namespaces, int32_t* out);
  netlink::Status ResolveReferences(Encoded* message, netlink::Batch* batch, Names* names,
                                    Namespaces* namespaces);
  void ApplyMessage(uint32_t index, Encoded* message, netlink::Batch* batch, Names* names,
                    Namespaces* namespaces);

  std::mutex mutex_;
  netlink::Socket socket_;
  // The link that was found last. Checked before it is used again: links are renamed, deleted and added.
  std::string found_name_;
  int32_t found_index_ = 0;
};

}  // namespace knp::rtnetlink
